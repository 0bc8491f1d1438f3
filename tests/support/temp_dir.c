#include "temp_dir.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[64];

const char *temp_dir(void) {
    return directory;
}

const char *temp_path(const char *name) {
    static char paths[8][512];
    static unsigned turn;
    char *out = paths[turn++ % 8];
    snprintf(out, sizeof paths[0], "%s/%s", directory, name);
    return out;
}

unsigned temp_dir_count(void) {
    DIR *d = opendir(directory);
    if (!d) return 0;
    unsigned n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

int temp_dir_make(void **state) {
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/cuzk-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where) {
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

int temp_dir_remove(void **state) {
    (void)state;
    return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
