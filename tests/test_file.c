/* base/file: maps and all-or-nothing writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "temp_dir.h"

static void expect_content(const char *path, const char *text) {
    cuzk_error err;
    file_map m;
    assert_int_equal(file_map_open(&m, path, CUZK_ERR_INPUT, &err), CUZK_OK);
    assert_int_equal(m.size, strlen(text));
    if (m.size) assert_memory_equal(m.data, text, m.size);
    assert_int_equal(file_map_check(&m, &err), CUZK_OK);
    file_map_close(&m);
    file_map_close(&m);
}

static void writes_and_replaces(void **state) {
    (void)state;
    cuzk_error err;
    const char *path = temp_path("a");
    assert_int_equal(file_write_all(path, "first", 5, &err), CUZK_OK);
    expect_content(path, "first");
    assert_int_equal(file_write_all(path, "", 0, &err), CUZK_OK);
    expect_content(path, "");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0600, 0600);

    /* A reader that mapped the old file keeps it. */
    assert_int_equal(file_write_all(path, "old", 3, &err), CUZK_OK);
    file_map old;
    assert_int_equal(file_map_open(&old, path, CUZK_ERR_INPUT, &err), CUZK_OK);
    file_writer w;
    assert_int_equal(file_write_begin(&w, path, 0, &err), CUZK_OK);
    assert_int_equal(file_write(&w, "new ", 4, &err), CUZK_OK);
    expect_content(path, "old");
    assert_int_equal(file_write(&w, "one", 3, &err), CUZK_OK);
    assert_int_equal(file_write_commit(&w, &err), CUZK_OK);
    file_write_abort(&w);
    expect_content(path, "new one");
    assert_memory_equal(old.data, "old", 3);
    file_map_close(&old);
    assert_int_equal(temp_dir_count(), 1);

    /* Less than was announced: the reserved rest is cut off. */
    assert_int_equal(file_write_begin(&w, path, 100000, &err), CUZK_OK);
    assert_int_equal(file_write(&w, "short", 5, &err), CUZK_OK);
    assert_int_equal(file_write_commit(&w, &err), CUZK_OK);
    expect_content(path, "short");
}

static void abort_leaves_nothing(void **state) {
    (void)state;
    cuzk_error err;
    unsigned before = temp_dir_count();
    file_writer w;
    assert_int_equal(file_write_begin(&w, temp_path("never"), 1 << 20, &err), CUZK_OK);
    assert_int_equal(file_write(&w, "x", 1, &err), CUZK_OK);
    assert_int_equal(temp_dir_count(), before + 1);
    file_write_abort(&w);
    assert_int_equal(temp_dir_count(), before);
    file_write_abort(&w);
}

static void bad_targets(void **state) {
    (void)state;
    cuzk_error err;
    file_writer w;
    unsigned before = temp_dir_count();
    assert_int_equal(file_write_begin(&w, temp_dir(), 0, &err), CUZK_ERR_USAGE);
    assert_string_equal(err.path, temp_dir());
    assert_int_equal(file_write_begin(&w, temp_path("no/such"), 0, &err), CUZK_ERR_USAGE);
    assert_int_equal(file_write_begin(&w, "", 0, &err), CUZK_ERR_USAGE);
    /* Space for a file that no disk holds. */
    assert_int_equal(file_write_begin(&w, temp_path("huge"), (uint64_t)1 << 60, &err), CUZK_ERR_RESOURCES);
    assert_non_null(strstr(err.message, "1152921504606846976 bytes to write, 0 written"));
    assert_int_equal(temp_dir_count(), before);
    /* A full device, written directly. */
    assert_int_equal(file_write_begin(&w, "/dev/full", 0, &err), CUZK_OK);
    assert_int_equal(file_write(&w, "x", 1, &err), CUZK_ERR_RESOURCES);
    assert_string_equal(err.path, "/dev/full");
    file_write_abort(&w);
    assert_int_equal(file_write_all("/dev/null", "x", 1, &err), CUZK_OK);
}

static void bad_maps(void **state) {
    (void)state;
    cuzk_error err;
    file_map m;
    assert_int_equal(file_map_open(&m, temp_path("absent"), CUZK_ERR_PARAMS, &err), CUZK_ERR_PARAMS);
    assert_string_equal(err.path, temp_path("absent"));
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(file_map_open(&m, temp_dir(), CUZK_ERR_INPUT, &err), CUZK_ERR_INPUT);
    assert_int_equal(file_map_open(&m, "/dev/null", CUZK_ERR_INPUT, NULL), CUZK_ERR_INPUT);
    file_map_close(&m);

    const char *path = temp_path("shrinks");
    assert_int_equal(file_write_all(path, "0123456789", 10, &err), CUZK_OK);
    assert_int_equal(file_map_open(&m, path, CUZK_ERR_INPUT, &err), CUZK_OK);
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(file_map_check(&m, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.message, "4 bytes now, 10 when"));
    file_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_replaces),
        cmocka_unit_test(abort_leaves_nothing),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(bad_maps),
    };
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
