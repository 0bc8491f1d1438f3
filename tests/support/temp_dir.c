#include "temp_dir.h"

#include <dirent.h>
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

int temp_dir_remove(void **state) {
    (void)state;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(temp_path(e->d_name));
    if (d) closedir(d);
    return rmdir(directory);
}
