/* Bad C1s: every kind of damage ends in one error with the exact place and message. The bad texts are made by
 * editing good ones. Where an error must be is found by json_edit's own reader, which only skips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "base/mem.h"
#include "c1_synthetic.h"
#include "filecoin/c1.h"
#include "filecoin/c1_write.h"
#include "fixture.h"
#include "json_edit.h"

static char *to_wrapper(const char *bare, const char *format) {
    size_t size = strlen(bare);
    char *base64 = malloc(size / 3 * 4 + 5);
    EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)bare, (int)size);
    char *out = malloc(strlen(base64) + strlen(format) + 1);
    sprintf(out, format, base64);
    free(base64);
    return out;
}
#define WRAPPER "{\"Phase1Out\":\"%s\",\"SectorNum\":1,\"SectorSize\":2048}"

/* ---- Checking ---- */

static void assert_rejected(const char *text, size_t size, const char *path, uint64_t offset,
                            const char *message) {
    c1 *c = (c1 *)&c;
    cuzk_error err = {0};
    uint64_t memory = mem_in_use();
    char *copy = malloc(size + 1); /* not longer than needed, for the sanitizers */
    memcpy(copy, text, size);
    copy = realloc(copy, size ? size : 1);
    cuzk_code code = c1_parse(&c, copy, size, "memory", &err);
    free(copy);
    assert_int_equal(code, CUZK_ERR_INPUT);
    assert_int_equal(err.code, CUZK_ERR_INPUT);
    assert_null(c);
    assert_string_equal(err.message, message);
    assert_string_equal(err.path, path);
    assert_int_equal(err.offset, offset);
    assert_int_equal(mem_in_use(), memory);
}

/* The same text bare and in the wrapper, where the place is in the decoded text. */
static void assert_bare_rejected(const char *bare, uint64_t offset, const char *message) {
    assert_rejected(bare, strlen(bare), "memory", offset, message);
    char *wrapper = to_wrapper(bare, WRAPPER);
    assert_rejected(wrapper, strlen(wrapper), "memory, decoded Phase1Out", offset, message);
    free(wrapper);
}

/* Where the error is: at a value, at its key, or at the bracket that closes it. */
typedef enum place { VALUE, KEY, END } place;

typedef struct bad_case {
    json_operation operation;
    const char *path, *with;
    place place;
    const char *where; /* NULL: the path; a path in the edited text */
    const char *message;
} bad_case;

static void check_cases(const char *good, const bad_case *cases, size_t count, bool in_wrapper_too) {
    for (size_t i = 0; i < count; i++) {
        const bad_case *b = &cases[i];
        const char *where = b->where ? b->where : b->path;
        char *text = json_edit(good, b->operation, b->path, b->with);
        size_t offset = json_offset_of(text, where, b->place == KEY);
        if (b->place == END) offset = (size_t)(json_skip(text + offset) - 1 - text);
        if (in_wrapper_too)
            assert_bare_rejected(text, offset, b->message);
        else
            assert_rejected(text, strlen(text), "memory", offset, b->message);
        free(text);
    }
}
#define CHECK_CASES(good, cases) check_cases(good, cases, sizeof cases / sizeof *cases, true)

static char *good_text(void) {
    size_t size;
    return fixture_read("c1/2k-v1_1/c1.inner.json", &size);
}

/* ---- Paths ---- */

#define V      "vanilla_proofs.StackedDrg2KiBV1"
#define FIRST  V "[0][0]"
#define SECOND V "[0][1]"
#define R_LAST SECOND ".comm_r_last_proof.data.Single"
#define COLUMN SECOND ".replica_column_proofs.drg_parents[3]"
#define HASH   R_LAST ".path.path[1].hashes[3]"
#define BYTE   " expected an integer from 0 to 255"
#define IS     ": found "
#define SEVENS "[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7]"
#define MODULUS                                                                                              \
    "[1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,216,57,51,72,125,157,41,83,167,237," \
    "115]"
#define MODULUS_HEX "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"
#define NOT_BELOW                                                                                            \
    MODULUS_HEX ", expected a field element, below the scalar modulus " MODULUS_HEX " (little-endian)"
#define ZEROS      "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"
#define SEVENS_HEX "0707070707070707070707070707070707070707070707070707070707070707"
#define NAMES                                                                                                \
    ", expected StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}"                                                    \
    "{V1,V1_1,V1_1_Feat_SyntheticPoRep,V1_2_Feat_NonInteractivePoRep}"

static void test_numbers(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_SET, HASH "[17]", "256", VALUE, NULL, HASH "[17]" IS "256," BYTE},
        {JSON_SET, HASH "[17]", "1000", VALUE, NULL, HASH "[17]" IS "1000," BYTE},
        {JSON_SET, HASH "[17]", "-1", VALUE, NULL, HASH "[17]" IS "-1," BYTE},
        {JSON_SET, HASH "[17]", "-0", VALUE, NULL, HASH "[17]" IS "-0," BYTE},
        {JSON_SET, HASH "[0]", "1.0", VALUE, NULL, HASH "[0]" IS "1.0," BYTE},
        {JSON_SET, HASH "[31]", "1e1", VALUE, NULL, HASH "[31]" IS "1e1," BYTE},
        {JSON_SET, HASH "[31]", "1E0", VALUE, NULL, HASH "[31]" IS "1E0," BYTE},
        {JSON_SET, HASH "[17]", "\"12\"", VALUE, NULL, HASH "[17]" IS "\"12\"," BYTE},
        {JSON_SET, HASH "[17]", "null", VALUE, NULL, HASH "[17]" IS "null," BYTE},
        {JSON_SET, HASH "[17]", "true", VALUE, NULL, HASH "[17]" IS "true," BYTE},
        {JSON_SET, HASH "[17]", "[1]", VALUE, NULL, HASH "[17]" IS "an array," BYTE},
        {JSON_SET, HASH "[17]", "{}", VALUE, NULL, HASH "[17]" IS "an object," BYTE},
        {JSON_SET, "ticket[5]", "12345678901234567890123456789012345678901234567890", VALUE, NULL,
         "ticket[5]" IS "1234567890123456789012345678901234567890...," BYTE},
        {JSON_SET, R_LAST ".path.path[0].index", "8", VALUE, NULL,
         R_LAST ".path.path[0].index" IS "8, expected an integer from 0 to 7"},
        {JSON_SET, FIRST ".comm_d_proofs.data.Single.path.path[5].index", "2", VALUE, NULL,
         FIRST ".comm_d_proofs.data.Single.path.path[5].index" IS "2, expected an integer from 0 to 1"},
        {JSON_SET, COLUMN ".column.index", "64", VALUE, NULL,
         COLUMN ".column.index" IS "64, expected an integer from 0 to 63"},
        {JSON_SET, COLUMN ".column.index", "4294967296", VALUE, NULL,
         COLUMN ".column.index" IS "4294967296, expected an integer from 0 to 63"},
        {JSON_SET, SECOND ".encoding_proof.node", "18446744073709551616", VALUE, NULL,
         SECOND ".encoding_proof.node" IS "18446744073709551616, expected an integer from 0 to 63"},
        {JSON_SET, SECOND ".labeling_proofs[1].layer_index", "0", VALUE, NULL,
         SECOND ".labeling_proofs[1].layer_index" IS "0, expected an integer from 1 to 2"},
        {JSON_SET, SECOND ".labeling_proofs[1].layer_index", "3", VALUE, NULL,
         SECOND ".labeling_proofs[1].layer_index" IS "3, expected an integer from 1 to 2"},
    };
    char *good = good_text();
    CHECK_CASES(good, cases);
    free(good);
}

static void test_lengths(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_DROP, HASH "[31]", NULL, END, HASH, HASH IS "31 bytes, expected 32"},
        {JSON_DOUBLE, HASH "[31]", NULL, VALUE, HASH "[32]", HASH "[32]" IS "more bytes, expected 32"},
        {JSON_SET, HASH, "[]", END, NULL, HASH IS "0 bytes, expected 32"},
        {JSON_DROP, "seed[0]", NULL, END, "seed", "seed" IS "31 bytes, expected 32"},
        {JSON_DROP, HASH, NULL, END, R_LAST ".path.path[1].hashes",
         R_LAST ".path.path[1].hashes" IS "6 hashes, expected 7"},
        {JSON_DOUBLE, HASH, NULL, VALUE, R_LAST ".path.path[1].hashes[7]",
         R_LAST ".path.path[1].hashes[7]" IS "more hashes, expected 7"},
        {JSON_DROP, R_LAST ".path.path[1]", NULL, END, R_LAST ".path.path",
         R_LAST ".path.path" IS "1 levels, expected 2"},
        {JSON_DOUBLE, R_LAST ".path.path[1]", NULL, VALUE, R_LAST ".path.path[2]",
         R_LAST ".path.path[2]" IS "more levels, expected 2"},
        {JSON_DROP, FIRST ".comm_d_proofs.data.Single.path.path[0]", NULL, END,
         FIRST ".comm_d_proofs.data.Single.path.path",
         FIRST ".comm_d_proofs.data.Single.path.path" IS "5 levels, expected 6"},
        {JSON_DROP, COLUMN ".column.rows[1]", NULL, END, COLUMN ".column.rows",
         COLUMN ".column.rows" IS "1 rows, expected 2"},
        {JSON_DOUBLE, COLUMN ".column.rows[0]", NULL, VALUE, COLUMN ".column.rows[2]",
         COLUMN ".column.rows[2]" IS "more rows, expected 2"},
        {JSON_DROP, COLUMN, NULL, END, SECOND ".replica_column_proofs.drg_parents",
         SECOND ".replica_column_proofs.drg_parents" IS "5 columns, expected 6"},
        {JSON_DOUBLE, COLUMN, NULL, VALUE, SECOND ".replica_column_proofs.drg_parents[6]",
         SECOND ".replica_column_proofs.drg_parents[6]" IS "more columns, expected 6"},
        {JSON_DROP, FIRST ".replica_column_proofs.exp_parents[7]", NULL, END,
         FIRST ".replica_column_proofs.exp_parents",
         FIRST ".replica_column_proofs.exp_parents" IS "7 columns, expected 8"},
        {JSON_DROP, FIRST ".labeling_proofs[0]", NULL, END, FIRST ".labeling_proofs",
         FIRST ".labeling_proofs" IS "1 layers, expected 2"},
        {JSON_DOUBLE, FIRST ".labeling_proofs[1]", NULL, VALUE, FIRST ".labeling_proofs[2]",
         FIRST ".labeling_proofs[2]" IS "more layers, expected 2"},
        {JSON_DROP, FIRST ".encoding_proof.parents[36]", NULL, END, FIRST ".encoding_proof.parents",
         FIRST ".encoding_proof.parents" IS "36 labels, expected 37"},
        {JSON_DOUBLE, FIRST ".encoding_proof.parents[36]", NULL, VALUE, FIRST ".encoding_proof.parents[37]",
         FIRST ".encoding_proof.parents[37]" IS "more labels, expected 37"},
        {JSON_DROP, SECOND, NULL, END, V "[0]", V "[0]" IS "1 challenges, expected 2"},
        {JSON_DOUBLE, SECOND, NULL, VALUE, V "[0][2]", V "[0][2]" IS "more challenges, expected 2"},
        {JSON_DROP, V "[0]", NULL, END, V, V IS "0 partitions, expected 1"},
        {JSON_DOUBLE, V "[0]", NULL, VALUE, V "[1]", V "[1]" IS "more partitions, expected 1"},
        {JSON_SET, V "[0]", "[]", END, NULL, V "[0]" IS "0 challenges, expected 2"},
    };
    char *good = good_text();
    CHECK_CASES(good, cases);
    free(good);
}

static void test_values(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_SET, HASH, MODULUS, VALUE, NULL, HASH IS NOT_BELOW},
        {JSON_SET, COLUMN ".column.rows[1]", MODULUS, VALUE, NULL, COLUMN ".column.rows[1]" IS NOT_BELOW},
        {JSON_SET, R_LAST ".root", MODULUS, VALUE, NULL, R_LAST ".root" IS NOT_BELOW},
        {JSON_SET, R_LAST ".leaf", MODULUS, VALUE, NULL, R_LAST ".leaf" IS NOT_BELOW},
        {JSON_SET, FIRST ".comm_d_proofs.data.Single.leaf", MODULUS, VALUE, NULL,
         FIRST ".comm_d_proofs.data.Single.leaf" IS NOT_BELOW},
        {JSON_SET, FIRST ".labeling_proofs[1].parents[9]", MODULUS, VALUE, NULL,
         FIRST ".labeling_proofs[1].parents[9]" IS NOT_BELOW},
        {JSON_SET, FIRST ".encoding_proof.parents[9]", MODULUS, VALUE, NULL,
         FIRST ".encoding_proof.parents[9]" IS NOT_BELOW},
        {JSON_SET, "comm_r", MODULUS, VALUE, NULL, "comm_r" IS NOT_BELOW},
        {JSON_SET, "comm_d", MODULUS, VALUE, NULL, "comm_d" IS NOT_BELOW},
        {JSON_SET, "replica_id", MODULUS, VALUE, NULL, "replica_id" IS NOT_BELOW},
        {JSON_SET, "comm_r", ZEROS, VALUE, NULL, "comm_r" IS "32 zero bytes, which phase 2 refuses"},
        {JSON_SET, "comm_d", ZEROS, VALUE, NULL, "comm_d" IS "32 zero bytes, which phase 2 refuses"},
        {JSON_SET, "seed", ZEROS, VALUE, NULL, "seed" IS "32 zero bytes, which phase 2 refuses"},
    };
    char *good = good_text();
    CHECK_CASES(good, cases);

    /* Any bytes will do for ticket and seed; a replica id of zero is as good as any. */
    static const char *const fine[][2] = {
        {"ticket", MODULUS}, {"ticket", ZEROS}, {"seed", MODULUS}, {"replica_id", ZEROS}};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char *text = json_edit(good, JSON_SET, fine[i][0], fine[i][1]);
        c1 *c;
        assert_int_equal(c1_parse(&c, text, strlen(text), "memory", NULL), CUZK_OK);
        c1_free(c);
        free(text);
    }
    free(good);
}

static void test_roots(void **state) {
    (void)state;
    char *good = good_text(), *text, message[512], hex[2][65];
    c1 *c;
    assert_int_equal(c1_parse(&c, good, strlen(good), "memory", NULL), CUZK_OK);
    static const struct {
        const char *path, *why;
        size_t expected; /* the offset of the root in c1 */
    } cases[] = {
        {SECOND ".comm_r_last_proof.data.Single.root", "the root of the proofs before",
         offsetof(c1, comm_r_last)},
        {COLUMN ".inclusion_proof.data.Single.root", "the root of the proofs before", offsetof(c1, comm_c)},
        {FIRST ".replica_column_proofs.exp_parents[7].inclusion_proof.data.Single.root",
         "the root of the proofs before", offsetof(c1, comm_c)},
        {SECOND ".comm_d_proofs.data.Single.root", "comm_d or the root of the comm_d_proofs before",
         offsetof(c1, comm_d)},
        {"comm_d", "the root of the comm_d_proofs", offsetof(c1, comm_d)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hex_encode(hex[0], (const uint8_t *)c + cases[i].expected, 32);
        snprintf(message, sizeof message, "%s: found %s, expected %s, %s", cases[i].path, SEVENS_HEX, hex[0],
                 cases[i].why);
        text = json_edit(good, JSON_SET, cases[i].path, SEVENS);
        assert_bare_rejected(text, json_offset_of(text, cases[i].path, false), message);
        free(text);
    }
    /* The same with comm_d before the proofs. */
    char *moved = json_edit(good, JSON_DROP, "comm_d", NULL);
    text = json_splice(moved, 1, 0, "\"comm_d\":" SEVENS ",");
    hex_encode(hex[1], c1_bytes(&c->comm_d), 32);
    snprintf(message, sizeof message,
             FIRST ".comm_d_proofs.data.Single.root: found %s, expected %s, comm_d or the root of the "
                   "comm_d_proofs before",
             hex[1], SEVENS_HEX);
    assert_bare_rejected(text, json_offset_of(text, FIRST ".comm_d_proofs.data.Single.root", false), message);
    free(moved);
    free(text);
    free(good);
    c1_free(c);
}

static void test_keys(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_DROP, "registered_proof", NULL, END, "", "missing key registered_proof"},
        {JSON_DROP, "vanilla_proofs", NULL, END, "", "missing key vanilla_proofs"},
        {JSON_DROP, "comm_r", NULL, END, "", "missing key comm_r"},
        {JSON_DROP, "comm_d", NULL, END, "", "missing key comm_d"},
        {JSON_DROP, "replica_id", NULL, END, "", "missing key replica_id"},
        {JSON_DROP, "seed", NULL, END, "", "missing key seed"},
        {JSON_DROP, "ticket", NULL, END, "", "missing key ticket"},
        {JSON_DROP, FIRST ".comm_d_proofs", NULL, END, FIRST, FIRST ": missing key comm_d_proofs"},
        {JSON_DROP, FIRST ".encoding_proof", NULL, END, FIRST, FIRST ": missing key encoding_proof"},
        {JSON_DROP, FIRST ".encoding_proof.node", NULL, END, FIRST ".encoding_proof",
         FIRST ".encoding_proof: missing key node"},
        {JSON_DROP, COLUMN ".column", NULL, END, COLUMN, COLUMN ": missing key column"},
        {JSON_DROP, COLUMN ".inclusion_proof.data", NULL, END, COLUMN ".inclusion_proof",
         COLUMN ".inclusion_proof: missing key data"},
        {JSON_DROP, R_LAST ".leaf", NULL, END, R_LAST, R_LAST ": missing key leaf"},
        {JSON_DROP, R_LAST ".path.path", NULL, END, R_LAST ".path", R_LAST ".path: missing key path"},
        {JSON_DROP, R_LAST ".path.path[1].index", NULL, END, R_LAST ".path.path[1]",
         R_LAST ".path.path[1]: missing key index"},
        {JSON_RENAME, "seed", "\"Seed\":", END, "", "missing key seed"},
        {JSON_DROP, SECOND ".comm_r_last_proof.data.Single", NULL, END, SECOND ".comm_r_last_proof.data",
         SECOND ".comm_r_last_proof.data" IS "no key, expected one"},
        {JSON_DROP, V, NULL, END, "vanilla_proofs", "vanilla_proofs" IS "no key, expected one"},
    };
    char *good = good_text(), *text;
    CHECK_CASES(good, cases);

    text = json_edit(good, JSON_BEFORE, R_LAST ".leaf", SEVENS ",\"leaf\":");
    size_t first = json_offset_of(text, R_LAST ".leaf", false);
    assert_bare_rejected(text, first + strlen(SEVENS ","), R_LAST ".leaf: repeated key");
    free(text);
    text = json_edit(good, JSON_BEFORE, "vanilla_proofs", "{\"StackedDrg2KiBV1\":[]},\"vanilla_proofs\":");
    assert_bare_rejected(text, json_offset_of(text, V, false) + 1, V IS "0 partitions, expected 1");
    free(text);
    text = json_edit(good, JSON_DOUBLE, "vanilla_proofs", NULL);
    size_t second = (size_t)(json_skip(json_find(text, "vanilla_proofs", false)) + 1 - text);
    assert_bare_rejected(text, second, "vanilla_proofs: repeated key");
    free(text);
    text = json_edit(good, JSON_DOUBLE, "registered_proof", NULL);
    second = (size_t)(json_skip(json_find(text, "registered_proof", false)) + 1 - text);
    assert_bare_rejected(text, second, "registered_proof: repeated key");
    free(text);
    free(good);
}

static void test_types(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_SET, HASH, "\"0707\"", VALUE, NULL, HASH IS "\"0707\", expected an array of 32 bytes"},
        {JSON_SET, HASH, "{}", VALUE, NULL, HASH IS "an object, expected an array of 32 bytes"},
        {JSON_SET, HASH, "12", VALUE, NULL, HASH IS "12, expected an array of 32 bytes"},
        {JSON_SET, "comm_r", "null", VALUE, NULL, "comm_r" IS "null, expected an array of 32 bytes"},
        {JSON_SET, R_LAST ".path.path", "{}", VALUE, NULL,
         R_LAST ".path.path" IS "an object, expected an array of levels"},
        {JSON_SET, R_LAST ".path", "[]", VALUE, NULL, R_LAST ".path" IS "an array, expected an object"},
        {JSON_SET, R_LAST ".path", "false", VALUE, NULL, R_LAST ".path" IS "false, expected an object"},
        {JSON_SET, FIRST, "3", VALUE, NULL, FIRST IS "3, expected an object"},
        {JSON_SET, COLUMN ".column._h", "0", VALUE, NULL, COLUMN ".column._h" IS "0, expected null"},
        {JSON_SET, COLUMN ".column._h", "true", VALUE, NULL, COLUMN ".column._h" IS "true, expected null"},
        {JSON_SET, COLUMN ".column._h", "{}", VALUE, NULL, COLUMN ".column._h" IS "an object, expected null"},
        {JSON_SET, SECOND ".comm_r_last_proof.data", "\"Single\"", VALUE, NULL,
         SECOND ".comm_r_last_proof.data" IS "\"Single\", expected an object"},
        {JSON_SET, "registered_proof", "8", VALUE, NULL,
         "registered_proof" IS "8, expected a string, the name of a registered proof"},
        {JSON_SET, "vanilla_proofs", "[[]]", VALUE, NULL,
         "vanilla_proofs" IS
         "an array, the low-level form without registered_proof; expected an object such as "
         "{\"StackedDrg32GiBV1\": [...]}"},
        {JSON_SET, "vanilla_proofs", "\"\"", VALUE, NULL, "vanilla_proofs" IS "\"\", expected an object"},
        {JSON_SET, V, "{}", VALUE, NULL, V IS "an object, expected an array of partitions"},
        {JSON_SET, V "[0]", "{}", VALUE, NULL, V "[0]" IS "an object, expected an array of challenges"},
    };
    char *good = good_text();
    CHECK_CASES(good, cases);
    free(good);
}

static void test_proofs_and_tags(void **state) {
    (void)state;
    static const bad_case cases[] = {
        {JSON_SET, "registered_proof", "\"StackedDrg2KiBV2\"", VALUE, NULL,
         "registered_proof" IS "\"StackedDrg2KiBV2\"" NAMES},
        {JSON_SET, "registered_proof", "\"StackedDrg32KiBV1\"", VALUE, NULL,
         "registered_proof" IS "\"StackedDrg32KiBV1\"" NAMES},
        {JSON_SET, "registered_proof", "\"StackedDrg2KiBV1_\"", VALUE, NULL,
         "registered_proof" IS "\"StackedDrg2KiBV1_\"" NAMES},
        {JSON_SET, "registered_proof", "\"\"", VALUE, NULL, "registered_proof" IS "\"\"" NAMES},
        {JSON_SET, "registered_proof",
         "\"0123456789012345678901234567890123456789012345678901234567890123456789\"", VALUE, NULL,
         "registered_proof" IS "\"012345678901234567890123456789012345678901234567890123...\"" NAMES},
        {JSON_SET, "registered_proof", "\"StackedDrg8MiBV1_1\"", KEY, V,
         "vanilla_proofs" IS "the key StackedDrg2KiBV1, expected StackedDrg8MiBV1 for StackedDrg8MiBV1_1"},
        {JSON_SET, "registered_proof", "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"", END, V,
         V IS "1 partitions, expected 13"},
        {JSON_RENAME, V, "\"StackedDrg2KiBV1_1\":", KEY, "vanilla_proofs.StackedDrg2KiBV1_1",
         "vanilla_proofs" IS "the key \"StackedDrg2KiBV1_1\", expected "
         "StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}V1"},
        {JSON_RENAME, V, "\"\":", KEY, "vanilla_proofs.",
         "vanilla_proofs" IS "the key \"\", expected StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}V1"},
        {JSON_RENAME, R_LAST, "\"Sub\":", KEY, SECOND ".comm_r_last_proof.data.Sub",
         SECOND ".comm_r_last_proof.data" IS
                "the key \"Sub\", expected Single, the kind of tree StackedDrg2KiBV1"},
        {JSON_RENAME, FIRST ".comm_d_proofs.data.Single", "\"Top\":", KEY, FIRST ".comm_d_proofs.data.Top",
         FIRST ".comm_d_proofs.data" IS
               "the key \"Top\", expected Single, the kind of tree StackedDrg2KiBV1"},
        {JSON_RENAME, R_LAST, "\"single\":", KEY, SECOND ".comm_r_last_proof.data.single",
         SECOND ".comm_r_last_proof.data" IS
                "the key \"single\", expected Single, the kind of tree StackedDrg2KiBV1"},
    };
    char *good = good_text(), *text;
    CHECK_CASES(good, cases);
    text = json_edit(good, JSON_DOUBLE, V, NULL);
    assert_bare_rejected(text, (size_t)(json_skip(json_find(text, V, false)) + 1 - text),
                         "vanilla_proofs" IS "another key \"StackedDrg2KiBV1\", expected one");
    free(text);
    text = json_edit(good, JSON_DOUBLE, R_LAST, NULL);
    assert_bare_rejected(text, (size_t)(json_skip(json_find(text, R_LAST, false)) + 1 - text),
                         SECOND ".comm_r_last_proof.data" IS "another key \"Single\", expected one");
    free(text);

    /* The registered proof after the proofs. */
    static const bad_case late[] = {
        {JSON_SET, "registered_proof", "\"StackedDrg8MiBV1\"", VALUE, NULL,
         "registered_proof" IS
         "StackedDrg8MiBV1, expected a proof for the vanilla proofs' key StackedDrg2KiBV1"},
        {JSON_SET, "registered_proof", "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"", VALUE, NULL,
         "registered_proof" IS "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep, which has 13 partitions, but 1 "
         "partitions of proofs"},
        {JSON_DROP, V "[0]", NULL, END, V, V IS "0 partitions, expected 13"},
    };
    char *without = json_edit(good, JSON_DROP, "registered_proof", NULL);
    char *moved = json_splice(without, json_offset_of(without, "seed", true), 0,
                              "\"registered_proof\":\"StackedDrg2KiBV1\",");
    CHECK_CASES(moved, late);
    free(moved);
    free(without);
    free(good);
}

/* Trees with sub and top levels, and partitions of interactive and non-interactive proofs. */
static void check_big(const char *proof, const bad_case *cases, size_t count) {
    c1 *made = c1_synthetic(proof, 1);
    char *text;
    size_t size;
    assert_int_equal(c1_write(&text, &size, made, C1_BARE, NULL), CUZK_OK);
    /* These errors come early: one challenge of the first partition will do. */
    c1_free(made);
    size_t keep = (size_t)(json_skip(strstr(text, "V1\":[[") + 6) - text);
    text[keep] = 0;
    char *cut = json_splice(text, keep, 0, "]]}}");
    check_cases(cut, cases, count, true);
    free(cut);
    free(text);
}

static void test_tree_kinds(void **state) {
    (void)state;
#define V32 "vanilla_proofs.StackedDrg32GiBV1[0][0]"
#define V64 "vanilla_proofs.StackedDrg64GiBV1[0][0]"
    static const bad_case sub[] = {
        {JSON_RENAME, V32 ".comm_r_last_proof.data.Sub", "\"Single\":", KEY,
         V32 ".comm_r_last_proof.data.Single",
         V32 ".comm_r_last_proof.data" IS
             "the key \"Single\", expected Sub, the kind of tree StackedDrg32GiBV1"},
        {JSON_RENAME, V32 ".comm_r_last_proof.data.Sub", "\"Top\":", KEY, V32 ".comm_r_last_proof.data.Top",
         V32 ".comm_r_last_proof.data" IS
             "the key \"Top\", expected Sub, the kind of tree StackedDrg32GiBV1"},
        {JSON_RENAME, V32 ".comm_d_proofs.data.Single", "\"Sub\":", KEY, V32 ".comm_d_proofs.data.Sub",
         V32 ".comm_d_proofs.data" IS "the key \"Sub\", expected Single, the kind of tree StackedDrg32GiBV1"},
        {JSON_DROP, V32 ".comm_r_last_proof.data.Sub.sub_proof", NULL, END, V32 ".comm_r_last_proof.data.Sub",
         V32 ".comm_r_last_proof.data.Sub: missing key sub_proof"},
        {JSON_DROP, V32 ".comm_r_last_proof.data.Sub.base_proof.path[8]", NULL, END,
         V32 ".comm_r_last_proof.data.Sub.base_proof.path",
         V32 ".comm_r_last_proof.data.Sub.base_proof.path" IS "8 levels, expected 9"},
        {JSON_DOUBLE, V32 ".comm_r_last_proof.data.Sub.base_proof.path[8]", NULL, VALUE,
         V32 ".comm_r_last_proof.data.Sub.base_proof.path[9]",
         V32 ".comm_r_last_proof.data.Sub.base_proof.path[9]" IS "more levels, expected 9"},
        {JSON_DROP, V32 ".comm_r_last_proof.data.Sub.sub_proof.path[0]", NULL, END,
         V32 ".comm_r_last_proof.data.Sub.sub_proof.path",
         V32 ".comm_r_last_proof.data.Sub.sub_proof.path" IS "0 levels, expected 1"},
        {JSON_DROP, V32 ".comm_r_last_proof.data.Sub.sub_proof.path[0].hashes[0]", NULL, END,
         V32 ".comm_r_last_proof.data.Sub.sub_proof.path[0].hashes",
         V32 ".comm_r_last_proof.data.Sub.sub_proof.path[0].hashes" IS "6 hashes, expected 7"},
        {JSON_DROP, V32 ".replica_column_proofs.c_x.column.rows[10]", NULL, END,
         V32 ".replica_column_proofs.c_x.column.rows",
         V32 ".replica_column_proofs.c_x.column.rows" IS "10 rows, expected 11"},
        {JSON_SET, V32 ".replica_column_proofs.c_x.column.index", "1073741824", VALUE, NULL,
         V32 ".replica_column_proofs.c_x.column.index" IS
             "1073741824, expected an integer from 0 to 1073741823"},
        /* Nothing wrong but what was cut off. */
        {JSON_SET, V32 ".encoding_proof.layer_index", "11", END, "vanilla_proofs.StackedDrg32GiBV1[0]",
         "vanilla_proofs.StackedDrg32GiBV1[0]" IS "1 challenges, expected 18"},
    };
    static const bad_case both[] = {
        {JSON_RENAME, V64 ".comm_r_last_proof.data.Top", "\"Sub\":", KEY, V64 ".comm_r_last_proof.data.Sub",
         V64 ".comm_r_last_proof.data" IS
             "the key \"Sub\", expected Top, the kind of tree StackedDrg64GiBV1"},
        {JSON_DROP, V64 ".comm_r_last_proof.data.Top.top_proof", NULL, END, V64 ".comm_r_last_proof.data.Top",
         V64 ".comm_r_last_proof.data.Top: missing key top_proof"},
        {JSON_DOUBLE, V64 ".comm_r_last_proof.data.Top.top_proof.path[0]", NULL, VALUE,
         V64 ".comm_r_last_proof.data.Top.top_proof.path[1]",
         V64 ".comm_r_last_proof.data.Top.top_proof.path[1]" IS "more levels, expected 1"},
        {JSON_DOUBLE, V64 ".comm_r_last_proof.data.Top.top_proof.path[0].hashes[0]", NULL, VALUE,
         V64 ".comm_r_last_proof.data.Top.top_proof.path[0].hashes[1]",
         V64 ".comm_r_last_proof.data.Top.top_proof.path[0].hashes[1]" IS "more hashes, expected 1"},
        {JSON_SET, V64 ".comm_r_last_proof.data.Top.top_proof.path[0].index", "2", VALUE, NULL,
         V64 ".comm_r_last_proof.data.Top.top_proof.path[0].index" IS "2, expected an integer from 0 to 1"},
        {JSON_SET, V64 ".comm_r_last_proof.data.Top.sub_proof.path[0].index", "8", VALUE, NULL,
         V64 ".comm_r_last_proof.data.Top.sub_proof.path[0].index" IS "8, expected an integer from 0 to 7"},
    };
    check_big("StackedDrg32GiBV1_1", sub, sizeof sub / sizeof *sub);
    check_big("StackedDrg64GiBV1_1", both, sizeof both / sizeof *both);
}

static void test_partitions(void **state) {
    (void)state;
    c1 *made = c1_synthetic("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 2);
    char *good;
    size_t size;
    assert_int_equal(c1_write(&good, &size, made, C1_BARE, NULL), CUZK_OK);
    c1_free(made);
    static const bad_case cases[] = {
        {JSON_DROP, V "[12]", NULL, END, V, V IS "12 partitions, expected 13"},
        {JSON_DOUBLE, V "[12]", NULL, VALUE, V "[13]", V "[13]" IS "more partitions, expected 13"},
        {JSON_DROP, V "[12][0]", NULL, END, V "[12]", V "[12]" IS "1 challenges, expected 2"},
        {JSON_SET, "registered_proof", "\"StackedDrg2KiBV1_1\"", VALUE, V "[1]",
         V "[1]" IS "more partitions, expected 1"},
    };
    CHECK_CASES(good, cases);
    free(good);
}

/* ---- Texts ---- */

static void test_syntax(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
        const char *message;
    } cases[] = {
        {"", 0, "empty, expected JSON"},
        {" \n", 2, "no JSON value"},
        {"{", 1, "truncated JSON: the text ends here"},
        {"{\"registered_proof\":\"Stack", 26, "registered_proof: truncated JSON: the text ends here"},
        {"[]", 0, "found an array, expected an object"},
        {"\"x\"", 0, "found \"x\", expected an object"},
        {"null", 0, "found null, expected an object"},
        {"17", 0, "found 17, expected an object"},
        {"{}", 1,
         "found neither registered_proof (bare form) nor Phase1Out (wrapper), expected a phase-1 output"},
        {"{\"SectorNum\":1}", 14,
         "found neither registered_proof (bare form) nor Phase1Out (wrapper), expected a phase-1 output"},
        {"{'a':1}", 1, "not valid JSON: invalid char in json text."},
        {"\xef\xbb\xbf{}", 0, "not valid JSON: invalid char in json text."},
        {"{\"a\":1 \"b\":2}", 8, "not valid JSON: after key and value, inside map, I expect ',' or '}'"},
        {"{\"a\":[1}}", 7, "not valid JSON: after array element, I expect ',' or ']'"},
        {"{\"a\":01}", 5, "not valid JSON: after key and value, inside map, I expect ',' or '}'"},
        {"{\"a\":1.}", 6, "not valid JSON: malformed number, a digit is required after the decimal point."},
        {"{\"a\":NaN}", 5, "not valid JSON: invalid char in json text."},
        {"{\"a\":1,}", 7, "not valid JSON: invalid object key (must be a string)"},
        {"{\"a\":\"\xff\"}", 6, "not valid JSON: invalid bytes in UTF8 string."},
        {"{\"a\":\"\xc3(\"}", 7, "not valid JSON: invalid bytes in UTF8 string."},
        {"{\"a\xc0\x80\":1}", 1, "not valid JSON: invalid UTF-8 in a string"},
        {"{\"a\":\"\xe0\x80\x80\"}", 5, "not valid JSON: invalid UTF-8 in a string"},
        {"{\"a\":[\"\xed\xa0\x80\"]}", 6, "not valid JSON: invalid UTF-8 in a string"},
        {"{\"a\":{\"\xf4\x90\x80\x80\":1}}", 6, "not valid JSON: invalid UTF-8 in a string"},
        {"{\"a\":\"\xf5\x80\x80\x80\"}", 5, "not valid JSON: invalid UTF-8 in a string"},
        {"{\"a\":\"b\tc\"}", 6, "not valid JSON: invalid character inside string."},
        {"{\"registered_proof\":\"a\\u0000b\\u001f\\u007f\"}", 20,
         "registered_proof" IS "\"a\\x00b\\x1f\\x7f\"" NAMES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_rejected(cases[i].text, strlen(cases[i].text), "memory", cases[i].offset, cases[i].message);

    char *good = good_text();
    size_t size = strlen(good);
    char *text = json_splice(good, size, 0, " {}");
    assert_rejected(text, size + 3, "memory", size + 1, "not valid JSON: trailing garbage");
    free(text);
    text = json_splice(good, size, 0, "\n");
    text[size] = 0; /* a NUL after the end is text too */
    assert_rejected(text, size + 1, "memory", size, "not valid JSON: trailing garbage");
    free(text);
    free(good);
}

/* Cut anywhere, a text is truncated, and the error says where. */
static void test_truncation(void **state) {
    (void)state;
    char *good = good_text(), *wrapper = to_wrapper(good, WRAPPER);
    size_t size = strlen(good), wrapper_size = strlen(wrapper);
    for (size_t cut = 1; cut < size; cut += cut < 300 || cut > size - 300 ? 1 : 977) {
        c1 *c;
        cuzk_error err;
        assert_int_equal(c1_parse(&c, good, cut, "memory", &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.message, "truncated JSON: the text ends here"));
        assert_int_equal(err.offset, cut);
    }
    for (size_t cut = 1; cut < wrapper_size; cut += cut < 300 || cut > wrapper_size - 300 ? 1 : 977) {
        c1 *c;
        cuzk_error err;
        assert_int_equal(c1_parse(&c, wrapper, cut, "memory", &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.message, "truncated JSON: the text ends here"));
        assert_int_equal(err.offset, cut);
    }
    /* Cut before it was encoded. */
    char *cut = json_splice(good, size - 9, 9, ""), *cut_wrapper = to_wrapper(cut, WRAPPER);
    assert_rejected(cut_wrapper, strlen(cut_wrapper), "memory, decoded Phase1Out", size - 9,
                    "ticket[28]: truncated JSON: the text ends here");
    free(cut);
    free(cut_wrapper);
    free(good);
    free(wrapper);
}

static void test_nesting(void **state) {
    (void)state;
    char text[512] = "{\"a\":";
    for (int i = 5; i < 200; i++) text[i] = '[';
    assert_rejected(text, 200, "memory", 4 + 64, "nested deeper than 64 values, expected at most 16");
    for (int i = 5; i < 395; i += 5) memcpy(text + i, "{\"b\":", 5);
    assert_rejected(text, 400, "memory", 5 * 64, "nested deeper than 64 values, expected at most 16");
    /* As deep as allowed is ignored like any unknown value. */
    strcpy(text, "{\"a\":");
    for (int i = 0; i < 63; i++) text[5 + i] = '[', text[68 + i] = ']';
    strcpy(text + 131, "}");
    assert_rejected(text, 132, "memory", 131,
                    "found neither registered_proof (bare form) nor Phase1Out (wrapper), expected a phase-1 "
                    "output");
}

static void test_wrapper(void **state) {
    (void)state;
    static const struct {
        const char *format;
        const char *where; /* the error is at this text */
        int delta;
        const char *message;
    } cases[] = {
        {"{\"Phase1Out\":\"%s\",\"SectorNum\":1}", "}", 0, "missing key SectorSize"},
        {"{\"Phase1Out\":\"%s\",\"SectorSize\":2048}", "}", 0, "missing key SectorNum"},
        {"{\"Phase1Out\":\"%s\",\"SectorNum\":1,\"SectorSize\":8388608}", "8388608", 0,
         "SectorSize: found 8388608, expected 2048 for StackedDrg2KiBV1_1"},
        {"{\"SectorSize\":34359738368,\"SectorNum\":1,\"Phase1Out\":\"%s\"}", "34359738368", 0,
         "SectorSize: found 34359738368, expected 2048 for StackedDrg2KiBV1_1"},
        {"{\"SectorNum\":-1,\"Phase1Out\":\"%s\",\"SectorSize\":2048}", "-1", 0,
         "SectorNum: found -1, expected an integer from 0 to 18446744073709551615"},
        {"{\"SectorNum\":18446744073709551616,\"Phase1Out\":\"%s\",\"SectorSize\":2048}",
         "18446744073709551616", 0,
         "SectorNum: found 18446744073709551616, expected an integer from 0 to 18446744073709551615"},
        {"{\"SectorNum\":\"1\",\"Phase1Out\":\"%s\",\"SectorSize\":2048}", "\"1\"", 0,
         "SectorNum: found \"1\", expected an integer from 0 to 18446744073709551615"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"%s\",\"SectorNum\":1,\"SectorSize\":2048}",
         "\"SectorNum\":1,\"SectorS", 0, "SectorNum: repeated key"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"%s\",\"Phase1Out\":\"\",\"SectorSize\":2048}",
         "\"Phase1Out\":\"\"", 0, "Phase1Out: repeated key"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"%s\",\"comm_r\":[],\"SectorSize\":2048}", "\"comm_r\"", 0,
         "found the key comm_r in a wrapper, expected one form or the other"},
        {"{\"ticket\":" SEVENS ",\"SectorNum\":1,\"Phase1Out\":\"%s\",\"SectorSize\":2048}", "\"Phase1Out\"",
         0, "found the key Phase1Out in a bare phase-1 output, expected one form or the other"},
        {"{\"SectorNum\":1,\"Phase1Out\":[\"%s\"],\"SectorSize\":2048}", "[", 0,
         "Phase1Out: found an array, expected a string, the phase-1 output in base64"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"%s=\",\"SectorSize\":2048}", "=\"", 1, NULL},
    };
    char *good = good_text(), message[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = to_wrapper(good, cases[i].format);
        /* Later matches, not ones in what the base64 happens to spell, which has no quotes or brackets. */
        const char *where = strstr(text, cases[i].where);
        assert_non_null(where);
        if (cases[i].message) {
            assert_rejected(text, strlen(text), "memory", (uint64_t)(where - text) + (uint64_t)cases[i].delta,
                            cases[i].message);
        } else {
            size_t size = (strlen(good) + 2) / 3 * 4 + 1;
            snprintf(message, sizeof message,
                     "Phase1Out: found %zu characters, expected a multiple of 4 (base64 with padding)", size);
            assert_rejected(text, strlen(text), "memory", (uint64_t)(where - text) + 1, message);
        }
        free(text);
    }
    free(good);
}

static void test_base64(void **state) {
    (void)state;
    char *good = good_text(), *wrapper = to_wrapper(good, WRAPPER), message[256];
    size_t start = strlen("{\"Phase1Out\":\""), chars = (strlen(good) + 2) / 3 * 4;
    static const struct {
        size_t at;
        char c;
        const char *shown;
    } bad[] = {{0, '*', "*"},     {1, '-', "-"},     {2, '_', "_"},    {70000, ' ', " "},
               {65536, '=', "="}, {65535, '=', "="}, {65537, '.', "."}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = strdup(wrapper);
        text[start + bad[i].at] = bad[i].c;
        snprintf(message, sizeof message, "Phase1Out: found \"%s\" at character %zu, expected base64",
                 bad[i].shown, bad[i].at);
        assert_rejected(text, strlen(text), "memory", start + bad[i].at, message);
        free(text);
    }
    /* A line break is an escape in JSON, so its place in the file is not known. */
    char *text = json_splice(wrapper, start + 76, 0, "\\n");
    assert_rejected(text, strlen(text), "memory", CUZK_NO_OFFSET,
                    "Phase1Out: found \"\\x0a\" at character 76, expected base64");
    free(text);
    /* Padding away. */
    text = json_splice(wrapper, start + chars - 1, 1, "");
    snprintf(message, sizeof message,
             "Phase1Out: found %zu characters, expected a multiple of 4 (base64 with padding)", chars - 1);
    assert_rejected(text, strlen(text), "memory", start + chars - 1, message);
    free(text);
    assert_rejected("{\"Phase1Out\":\"\"}", 16, "memory, decoded Phase1Out", 0, "no JSON value");
    assert_rejected("{\"Phase1Out\":\"====\"}", 20, "memory", 14,
                    "Phase1Out: found \"=\" at character 0, expected base64");
    assert_rejected("{\"Phase1Out\":\"e30=\"}", 20, "memory, decoded Phase1Out", 1,
                    "missing key registered_proof");
    free(good);
    free(wrapper);
}

/* ---- Files ---- */

static void assert_file_rejected(const char *path, uint64_t offset, const char *message) {
    c1 *c;
    cuzk_error err = {0};
    assert_int_equal(c1_read(&c, path, &err), CUZK_ERR_INPUT);
    assert_null(c);
    assert_string_equal(err.path, path);
    assert_int_equal(err.offset, offset);
    assert_string_equal(err.message, message);
}

static void test_files(void **state) {
    (void)state;
    char directory[] = "/tmp/cuzk-test-c1-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/c1.json", directory);
    assert_file_rejected(path, CUZK_NO_OFFSET, "cannot open: No such file or directory");
    assert_file_rejected("", CUZK_NO_OFFSET, "cannot open: No such file or directory");
    assert_file_rejected(directory, CUZK_NO_OFFSET, "found a directory, expected a file of JSON");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_file_rejected(path, CUZK_NO_OFFSET, "found a special file, expected a file of JSON");
    unlink(path);

    FILE *file = fopen(path, "w");
    fclose(file);
    assert_file_rejected(path, 0, "empty, expected JSON");
    file = fopen(path, "w");
    fputs("{\"comm_r\":1}", file);
    fclose(file);
    assert_file_rejected(path, 10, "comm_r: found 1, expected an array of 32 bytes");
    assert_int_equal(truncate(path, (off_t)1 << 32), 0); /* sparse */
    assert_file_rejected(path, CUZK_NO_OFFSET, "found 4294967296 bytes, expected at most 2147483648");

    char *wrapper = to_wrapper("{\"comm_r\":1}", WRAPPER);
    file = fopen(path, "w");
    fputs(wrapper, file);
    fclose(file);
    c1 *c;
    cuzk_error err;
    assert_int_equal(c1_read(&c, path, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.path, "/c1.json, decoded Phase1Out"));
    assert_int_equal(err.offset, 10);
    free(wrapper);
    unlink(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_proofs_and_tags),
        cmocka_unit_test(test_tree_kinds),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_wrapper),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
