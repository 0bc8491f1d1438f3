/* What the files config*.c share. */
#ifndef CUZK_SERVER_CONFIG_PARTS_H
#define CUZK_SERVER_CONFIG_PARTS_H

#include "server/config.h"
#include "server/toml.h"

struct config_origin {
    config_source source;
    bool automatic; /* "auto" was asked for */
    char *place;    /* NULL for a default */
};

/* A value of any type before it goes into its place. Owns its strings. */
typedef struct config_value {
    bool automatic;
    bool flag;
    uint64_t number;
    char *text;
    config_list list;
} config_value;

void config_value_free(config_value *v);

/* Read what a variable, a flag or the table says, or an item of the file. On failure *v is empty and the
 * error has a message alone. */
cuzk_code config_value_read(config_value *v, const config_key *key, const char *text, cuzk_error *err);
cuzk_code config_value_take(config_value *v, const config_key *key, const toml_item *item, cuzk_error *err);
/* The value as TOML; NULL when there is no memory. */
char *config_value_write(const config_value *v, const config_key *key);

/* A number, size or duration without quotes, in the largest unit that leaves it whole. */
char *config_write_number(uint64_t value, config_type type);

/* The member of c that a CONFIG_USED key fills, as a value that borrows from c, and the other way round
 * (frees what was there, empties *v). */
config_value config_member(const config *c, const config_key *key);
void config_set_member(config *c, const config_key *key, config_value *v);

const config_key *config_find_variable(const char *name, size_t length);

/* asprintf that gives NULL when there is no memory. */
char *config_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
cuzk_code config_list_add(config_list *list, char *item, cuzk_error *err); /* takes item; NULL = no memory */

/* The candidate nearest to `wanted`, if it is near enough to be meant; NULL when none is. */
const char *config_nearest(const char *wanted, const char *const *candidates, size_t n);

#endif
