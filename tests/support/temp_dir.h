/* A directory for the files a test program writes; removed with everything in it at the end. Include after
 * cmocka.h and pass temp_dir_make and temp_dir_remove as the group's setup and teardown. */
#ifndef CUZK_TEST_TEMP_DIR_H
#define CUZK_TEST_TEMP_DIR_H

/* The path of `name` in the directory; good until the eighth call after this one. */
const char *temp_path(const char *name);
const char *temp_dir(void);
/* Files there whose name does not start with a dot. */
unsigned temp_dir_count(void);

int temp_dir_make(void **state);
int temp_dir_remove(void **state);

#endif
