/*
 * A stack of frames follows the open arrays and objects; the schema says what the next value must be and
 * where it goes, so each value is checked and stored when it comes and nothing of the text is kept. The tag
 * inside vanilla_proofs gives the sector's shape before anything that depends on it; registered_proof may
 * come before or after. The wrapper's Phase1Out is decoded in pieces and fed to a second parser of the same
 * kind.
 */
#include "filecoin/c1_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tomcrypt.h>

#include "filecoin/c1_json.h"
#include "filecoin/c1_schema.h"
#include "filecoin/c1_store.h"

#define MAX_NESTING   64u /* of JSON values, ignored ones included; C1 itself has 16 */
#define MAX_FRAMES    20u
#define MESSAGE_BYTES sizeof(((cuzk_error *)0)->message)
#define PIECE_CHARS   65536u /* of base64, decoded and parsed at a time */

typedef struct frame {
    const value_type *type; /* an array, digest or object */
    char *at;               /* arrays and digests: the first element; objects: the place */
    uint64_t offset;        /* where the value begins in the text */
    uint32_t index, count;  /* elements done and in all */
    uint32_t seen;          /* objects: a bit per member */
    const member *member;   /* objects: whose value is next or open; NULL to ignore it */
} frame;

typedef struct parser {
    json_stream stream;
    c1 *c;
    cuzk_error *err;
    cuzk_code code;
    unsigned nesting;
    unsigned ignored; /* open values inside an ignored one, itself included */
    member tagged;    /* the one member of vanilla_proofs */
    tree tree;        /* that the last Merkle proof begun belongs to */
    bool has_root[TREES];
    fr_repr root[TREES];
    bool has_sector_size;
    uint64_t sector_size, sector_size_offset;
    value_type document; /* an array whose one element is the document: the type of frame 0 */
    unsigned depth;      /* frames in use */
    frame frames[MAX_FRAMES];
} parser;

static frame *top(parser *p) {
    return &p->frames[p->depth - 1];
}

/* ---- Errors ---- */

/* Append the path of fields to what the first `depth` frames are reading. */
static void describe_path(char *out, size_t size, const parser *p, unsigned depth) {
    size_t used = 0;
    out[0] = 0;
    for (unsigned i = 1; i < depth && used < size; i++) {
        const frame *f = &p->frames[i];
        int n;
        if (f->type->kind == VALUE_ARRAY || f->type->kind == VALUE_DIGEST)
            n = snprintf(out + used, size - used, "[%" PRIu32 "]", f->index);
        else if (f->member)
            n = snprintf(out + used, size - used, "%s%s", used ? "." : "", f->member->key);
        else
            break;
        used += (size_t)n;
    }
}

/* Stop with an error about what the first `depth` frames are reading. Always 0, yajl's word for stop. */
static int __attribute__((format(printf, 4, 5)))
fail_at(parser *p, unsigned depth, uint64_t offset, const char *format, ...) {
    char path[256], message[MESSAGE_BYTES];
    describe_path(path, sizeof path, p, depth);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->code = error_set(p->err, CUZK_ERR_INPUT, p->stream.name, offset, "%s%s%s", path, path[0] ? ": " : "",
                        message);
    return 0;
}

/* About the value being read now; about the array or object that is open, as a whole. */
#define fail_value(p, ...) fail_at(p, (p)->depth, __VA_ARGS__)
#define fail_open(p, ...)  fail_at(p, (p)->depth - 1, __VA_ARGS__)

#define QUOTE_BYTES 64u
/* A string of the text, shortened and printable. */
static const char *quote(char out[QUOTE_BYTES], const char *text, size_t size) {
    size_t used = 0, i = 0;
    out[used++] = '"';
    for (; i < size && used < QUOTE_BYTES - 9; i++) {
        unsigned char c = (unsigned char)text[i];
        used += (size_t)snprintf(out + used, QUOTE_BYTES - used, c < 0x20 || c >= 0x7f ? "\\x%02x" : "%c", c);
    }
    snprintf(out + used, QUOTE_BYTES - used, i < size ? "...\"" : "\"");
    return out;
}

static const char *digest_hex(char out[65], const void *digest) {
    const uint8_t *bytes = digest;
    for (int i = 0; i < 32; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

static uint64_t number_min(const value_type *type) {
    return type->role == NUMBER_LAYER ? 1 : 0;
}

static uint64_t number_max(const parser *p, const value_type *type, const char *at) {
    switch (type->role) {
    case NUMBER_BYTE:
        return 255;
    case NUMBER_POSITION:
        return ((const c1_level *)(at - offsetof(c1_level, index)))->arity - 1;
    case NUMBER_NODE32:
    case NUMBER_NODE64:
        return p->c->sector->nodes - 1;
    case NUMBER_LAYER:
        return p->c->sector->layers;
    default:
        return UINT64_MAX;
    }
}

static int fail_type(parser *p, const value_type *type, const char *at, uint64_t offset, const char *found) {
    const char *expected = "";
    switch (type->kind) {
    case VALUE_OBJECT:
    case VALUE_VARIANT:
    case VALUE_ROOT:
        expected = "an object";
        break;
    case VALUE_TAGGED:
        if (strcmp(found, "an array") == 0)
            return fail_value(p, offset,
                              "found an array, the low-level form without registered_proof; expected an "
                              "object such as {\"StackedDrg32GiBV1\": [...]}");
        expected = "an object";
        break;
    case VALUE_ARRAY:
        return fail_value(p, offset, "found %s, expected an array of %s", found, type->noun);
    case VALUE_DIGEST:
        expected = "an array of 32 bytes";
        break;
    case VALUE_NUMBER:
        return fail_value(p, offset, "found %s, expected an integer from %" PRIu64 " to %" PRIu64, found,
                          number_min(type), number_max(p, type, at));
    case VALUE_PROOF_NAME:
        expected = "a string, the name of a registered proof";
        break;
    case VALUE_PHASE1:
        expected = "a string, the phase-1 output in base64";
        break;
    case VALUE_NULL:
        expected = "null";
        break;
    }
    return fail_value(p, offset, "found %s, expected %s", found, expected);
}

/* ---- Values ---- */

static bool is_array(const value_type *type) {
    return type->kind == VALUE_ARRAY || type->kind == VALUE_DIGEST;
}

static uint32_t max_partitions(const c1 *c) {
    return c->proof ? registered_porep_partitions(c->proof) : c->sector->ni_partitions;
}

/* What the next value must be and where it goes. *type is NULL for a value to ignore. 0 to stop. */
static int next_value(parser *p, uint64_t offset, const value_type **type, char **at) {
    frame *f = top(p);
    *type = NULL;
    *at = NULL;
    if (p->ignored) return 1;
    if (is_array(f->type)) {
        if (f->index == f->count)
            return fail_value(p, offset, "found more %s, expected %" PRIu32,
                              f->type->kind == VALUE_DIGEST ? "bytes" : f->type->noun, f->count);
        *type = f->type->kind == VALUE_DIGEST ? &C1_BYTE : f->type->element;
        *at = f->at + f->index * f->type->stride;
    } else if (f->member) {
        *type = f->member->type;
        *at = f->at + f->member->offset;
    }
    return 1;
}

/* A value is complete. */
static int value_done(parser *p) {
    if (!p->ignored && is_array(top(p)->type)) top(p)->index++;
    return 1;
}

/* The elements of an array about to be read. */
static cuzk_code array_bounds(parser *p, frame *f, char *at) {
    const c1_merkle_proof *path = (const c1_merkle_proof *)at;
    f->at = at;
    if (f->type->kind == VALUE_DIGEST) {
        f->count = 32;
        return CUZK_OK;
    }
    switch ((array_rule)f->type->role) {
    case ARRAY_FIXED:
        f->count = f->type->length;
        break;
    case ARRAY_PARENTS:
        f->at = *(char **)at;
        f->count = LABEL_PARENTS;
        break;
    case ARRAY_LAYERS:
        f->at = *(char **)at;
        f->count = p->c->sector->layers;
        break;
    case ARRAY_HASHES:
        f->at = (char *)((const c1_level *)at)->hashes;
        f->count = ((const c1_level *)at)->arity - 1;
        break;
    case ARRAY_BASE:
        f->at = (char *)path->levels;
        f->count = path->depth - c1_sub_levels(path->kind) - c1_top_levels(path->kind);
        break;
    case ARRAY_SUB:
        f->at = (char *)(path->levels + path->depth - 1 - c1_top_levels(path->kind));
        f->count = 1;
        break;
    case ARRAY_TOP:
        f->at = (char *)(path->levels + path->depth - 1);
        f->count = 1;
        break;
    case ARRAY_CHALLENGES: {
        c1_challenge *challenges;
        TRY(c1_add_partition(&challenges, p->c, p->err));
        f->at = (char *)challenges;
        f->count = p->c->challenges;
        break;
    }
    case ARRAY_PARTITIONS:
        f->count = max_partitions(p->c);
        break;
    }
    return CUZK_OK;
}

static int begin(parser *p, bool array) {
    uint64_t offset = json_offset(&p->stream) - 1;
    if (++p->nesting > MAX_NESTING)
        return fail_value(p, offset, "nested deeper than %u values, expected at most 16", MAX_NESTING);
    const value_type *type;
    char *at;
    if (!next_value(p, offset, &type, &at)) return 0;
    if (!type) {
        p->ignored++;
        return 1;
    }
    bool fits = array ? is_array(type) : type->kind <= VALUE_ROOT;
    if (!fits) return fail_type(p, type, at, offset, array ? "an array" : "an object");
    frame *f = &p->frames[p->depth++];
    *f = (frame){.type = type, .at = at, .offset = offset};
    if (array) p->code = array_bounds(p, f, at);
    return p->code == CUZK_OK;
}

static int end_digest(parser *p, const frame *f) {
    char hex[65], other[65];
    const digest_role role = (digest_role)f->type->role;
    const fr_repr *value = (const fr_repr *)f->at;
    if (role != DIGEST_BYTES && role != DIGEST_SEED && !fr_repr_is_valid(value))
        return fail_open(p, f->offset,
                         "found %s, expected a field element, below the scalar modulus "
                         "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73 (little-endian)",
                         digest_hex(hex, value));
    bool zero = (value->l[0] | value->l[1] | value->l[2] | value->l[3]) == 0;
    if (zero && (role == DIGEST_COMM_D || role == DIGEST_COMM_R || role == DIGEST_SEED))
        return fail_open(p, f->offset, "found 32 zero bytes, which phase 2 refuses");
    if (role == DIGEST_ROOT || role == DIGEST_COMM_D) {
        fr_repr *root = &p->root[p->tree];
        if (!p->has_root[p->tree]) {
            *root = *value;
            p->has_root[p->tree] = true;
        } else if (fr_repr_cmp(root, value) != 0) {
            return fail_open(p, f->offset, "found %s, expected %s, %s", digest_hex(hex, value),
                             digest_hex(other, root),
                             p->tree != TREE_D       ? "the root of the proofs before"
                             : role == DIGEST_COMM_D ? "the root of the comm_d_proofs"
                                                     : "comm_d or the root of the comm_d_proofs before");
        }
    }
    return 1;
}

static int end_array(parser *p, const frame *f, uint64_t offset) {
    const c1 *c = p->c;
    uint32_t expected = f->count;
    /* Without the registered proof yet, any number of partitions that some proof of the sector has. */
    if (f->type == &C1_PARTITIONS && !c->proof && f->index == c->sector->partitions) expected = f->index;
    if (f->index == expected) return f->type->kind == VALUE_DIGEST ? end_digest(p, f) : 1;
    return fail_open(p, offset, "found %" PRIu32 " %s, expected %" PRIu32, f->index,
                     f->type->kind == VALUE_DIGEST ? "bytes" : f->type->noun, expected);
}

static int end_root(parser *p, const frame *f, uint64_t offset) {
    uint32_t bare = (1u << BARE_MEMBERS) - 1;
    if (f->type == &C1_ROOT && (f->seen & (bare | 1u << ROOT_PHASE1)) == 0)
        return fail_open(p, offset,
                         "found neither registered_proof (bare form) nor Phase1Out (wrapper), expected a "
                         "phase-1 output");
    uint32_t needed = f->seen & 1u << ROOT_PHASE1 ? ((1u << ROOT_MEMBERS) - 1) & ~bare : bare;
    for (unsigned i = 0; i < f->type->length; i++)
        if ((needed & ~f->seen) >> i & 1)
            return fail_open(p, offset, "missing key %s", f->type->members[i].key);
    if (p->has_sector_size && p->sector_size != p->c->sector->bytes)
        return fail_open(p, p->sector_size_offset,
                         "SectorSize: found %" PRIu64 ", expected %" PRIu64 " for %s", p->sector_size,
                         p->c->sector->bytes, p->c->proof->name);
    if (f->seen & 1u << ROOT_VANILLA_PROOFS) {
        p->c->comm_r_last = p->root[TREE_R_LAST];
        p->c->comm_c = p->root[TREE_C];
    }
    return 1;
}

static int end_object(parser *p, const frame *f, uint64_t offset) {
    const value_type *type = f->type;
    if (type->kind == VALUE_ROOT) return end_root(p, f, offset);
    if (type->kind == VALUE_TAGGED || type->kind == VALUE_VARIANT)
        return f->seen ? 1 : fail_open(p, offset, "found no key, expected one");
    for (unsigned i = 0; i < type->length; i++)
        if (!(f->seen >> i & 1) && !type->members[i].optional)
            return fail_open(p, offset, "missing key %s", type->members[i].key);
    return 1;
}

static int end(parser *p, bool array) {
    uint64_t offset = json_offset(&p->stream) - 1;
    p->nesting--;
    if (p->ignored) {
        p->ignored--;
        return value_done(p);
    }
    const frame *f = top(p);
    if (!(array ? end_array(p, f, offset) : end_object(p, f, offset))) return 0;
    p->depth--;
    return value_done(p);
}

/* ---- Keys ---- */

static int tag_key(parser *p, frame *f, const char *text, size_t size, uint64_t offset) {
    char quoted[QUOTE_BYTES];
    size_t count;
    const sector_shape *shapes = sector_shapes(&count);
    if (f->seen) return fail_open(p, offset, "found another key %s, expected one", quote(quoted, text, size));
    f->seen = 1;
    for (size_t i = 0; i < count; i++) {
        const sector_shape *s = &shapes[i];
        if (!s->tag || strlen(s->tag) != size || memcmp(s->tag, text, size) != 0) continue;
        if (p->c->proof && p->c->proof->sector != s)
            return fail_open(p, offset, "found the key %s, expected %s for %s", s->tag,
                             p->c->proof->sector->tag, p->c->proof->name);
        p->c->sector = s;
        p->tagged = (member){.key = s->tag, .type = &C1_PARTITIONS};
        f->member = &p->tagged;
        return 1;
    }
    return fail_open(p, offset, "found the key %s, expected StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}V1",
                     quote(quoted, text, size));
}

static int check_variant(parser *p, const frame *f, const char *text, size_t size, uint64_t offset) {
    char quoted[QUOTE_BYTES];
    c1_tree_kind kind = ((const c1_merkle_proof *)f->at)->kind;
    if (f->seen) return fail_open(p, offset, "found another key %s, expected one", quote(quoted, text, size));
    if (f->member == &f->type->members[kind]) return 1;
    return fail_open(p, offset, "found the key %s, expected %s, the kind of tree %s",
                     quote(quoted, text, size), c1_tree_kind_name(kind), p->c->sector->tag);
}

/* A text is either the wrapper or bare; a mixture could hold two outputs. */
static int check_form(parser *p, const frame *f, unsigned number, uint64_t offset) {
    uint32_t bare = (1u << BARE_MEMBERS) - 1;
    bool mixed =
        number < BARE_MEMBERS ? f->seen >> ROOT_PHASE1 & 1 : number == ROOT_PHASE1 && (f->seen & bare);
    if (!mixed) return 1;
    return fail_open(p, offset, "found the key %s in a %s, expected one form or the other",
                     f->type->members[number].key, number < BARE_MEMBERS ? "wrapper" : "bare phase-1 output");
}

/* A key or string whose content does not matter, as long as it is one. */
static int ignore_string(parser *p, const char *text, size_t size, uint64_t offset) {
    return json_is_utf8(text, size) || fail_value(p, offset, "not valid JSON: invalid UTF-8 in a string");
}

static int on_key(void *ctx, const unsigned char *key, size_t size) {
    parser *p = ctx;
    frame *f = top(p);
    const char *text = (const char *)key;
    uint64_t offset = json_string_offset(&p->stream, text, size);
    if (p->ignored) return ignore_string(p, text, size, offset);
    f->member = NULL;
    if (f->type->kind == VALUE_TAGGED) return tag_key(p, f, text, size, offset);
    unsigned i = 0;
    for (; i < f->type->length; i++)
        if (strlen(f->type->members[i].key) == size && memcmp(f->type->members[i].key, text, size) == 0)
            break;
    if (i < f->type->length) f->member = &f->type->members[i];
    if (f->type->kind == VALUE_VARIANT && !check_variant(p, f, text, size, offset)) return 0;
    if (!f->member) return ignore_string(p, text, size, offset);
    if (f->seen >> i & 1) return fail_value(p, offset, "repeated key");
    if (f->type->kind == VALUE_ROOT && !check_form(p, f, i, offset)) return 0;
    f->seen |= 1u << i;
    if (f->member->tree != TREE_NONE) p->tree = f->member->tree;
    return 1;
}

/* ---- Scalars ---- */

static bool read_unsigned(uint64_t *out, const char *text, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return size > 0;
}

static void store_number(parser *p, number_role role, char *at, uint64_t value, uint64_t offset) {
    switch (role) {
    case NUMBER_BYTE:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case NUMBER_POSITION:
    case NUMBER_NODE32:
    case NUMBER_LAYER:
        *(uint32_t *)at = (uint32_t)value;
        break;
    case NUMBER_NODE64:
        *(uint64_t *)at = value;
        break;
    case NUMBER_SECTOR_NUM:
        p->c->sector_num = value;
        p->c->has_sector_num = true;
        break;
    case NUMBER_SECTOR_SIZE:
        p->sector_size = value;
        p->has_sector_size = true;
        p->sector_size_offset = offset;
        break;
    }
}

static int on_number(void *ctx, const char *text, size_t size) {
    parser *p = ctx;
    frame *f = top(p);
    uint64_t value;
    /* Nearly every number is a byte of a digest. */
    if (f->type->kind == VALUE_DIGEST && f->index < 32 && size <= 3 && read_unsigned(&value, text, size) &&
        value <= 255) {
        ((uint8_t *)f->at)[f->index++] = (uint8_t)value;
        return 1;
    }
    uint64_t offset = json_offset(&p->stream) - size;
    const value_type *type;
    char *at, found[48];
    if (!next_value(p, offset, &type, &at)) return 0;
    if (!type) return value_done(p);
    if (type->kind != VALUE_NUMBER || !read_unsigned(&value, text, size) || value < number_min(type) ||
        value > number_max(p, type, at)) {
        snprintf(found, sizeof found, "%.*s%s", size > 40 ? 40 : (int)size, text, size > 40 ? "..." : "");
        return fail_type(p, type, at, offset, found);
    }
    store_number(p, (number_role)type->role, at, value, offset);
    return value_done(p);
}

static int on_constant(parser *p, const char *found) {
    uint64_t offset = json_offset(&p->stream) - strlen(found);
    const value_type *type;
    char *at;
    if (!next_value(p, offset, &type, &at)) return 0;
    if (type && (type->kind != VALUE_NULL || found[0] != 'n')) return fail_type(p, type, at, offset, found);
    return value_done(p);
}

static int set_proof(parser *p, const char *text, size_t size, uint64_t offset) {
    char quoted[QUOTE_BYTES];
    c1 *c = p->c;
    size_t count;
    const registered_porep *proofs = registered_poreps(&count), *proof = NULL;
    for (size_t i = 0; i < count && !proof; i++)
        if (strlen(proofs[i].name) == size && memcmp(proofs[i].name, text, size) == 0) proof = &proofs[i];
    if (!proof)
        return fail_value(p, offset,
                          "found %s, expected StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}"
                          "{V1,V1_1,V1_1_Feat_SyntheticPoRep,V1_2_Feat_NonInteractivePoRep}",
                          quote(quoted, text, size));
    if (c->sector && c->sector != proof->sector)
        return fail_value(p, offset, "found %s, expected a proof for the vanilla proofs' key %s", proof->name,
                          c->sector->tag);
    if (c->sector && c->partitions != registered_porep_partitions(proof))
        return fail_value(p, offset,
                          "found %s, which has %u partitions, but %" PRIu32 " partitions of proofs",
                          proof->name, registered_porep_partitions(proof), c->partitions);
    c->proof = proof;
    return 1;
}

static int read_phase1(parser *p, const char *text, size_t size);

static int on_string(void *ctx, const unsigned char *string, size_t size) {
    parser *p = ctx;
    const char *text = (const char *)string;
    uint64_t offset = json_string_offset(&p->stream, text, size);
    const value_type *type;
    char *at, quoted[QUOTE_BYTES];
    if (!next_value(p, offset, &type, &at)) return 0;
    int go_on;
    if (!type)
        go_on = ignore_string(p, text, size, offset);
    else if (type->kind == VALUE_PROOF_NAME)
        go_on = set_proof(p, text, size, offset);
    else if (type->kind == VALUE_PHASE1)
        go_on = read_phase1(p, text, size);
    else
        go_on = fail_type(p, type, at, offset, quote(quoted, text, size));
    return go_on && value_done(p);
}

static int on_null(void *ctx) {
    return on_constant(ctx, "null");
}
static int on_boolean(void *ctx, int value) {
    return on_constant(ctx, value ? "true" : "false");
}
static int on_begin_object(void *ctx) {
    return begin(ctx, false);
}
static int on_begin_array(void *ctx) {
    return begin(ctx, true);
}
static int on_end_object(void *ctx) {
    return end(ctx, false);
}
static int on_end_array(void *ctx) {
    return end(ctx, true);
}

/* ---- Texts ---- */

static cuzk_code parser_open(parser *p, c1 *c, const value_type *root, const char *name, cuzk_error *err) {
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_boolean,
                                             .yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_begin_object,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_end_object,
                                             .yajl_start_array = on_begin_array,
                                             .yajl_end_array = on_end_array};
    *p = (parser){.c = c, .err = err, .depth = 1};
    p->document = (value_type){.kind = VALUE_ARRAY, .element = root, .noun = "documents"};
    p->frames[0] = (frame){.type = &p->document, .at = (char *)c, .count = 1};
    return json_open(&p->stream, name, &callbacks, p, err);
}

static cuzk_code parser_feed(parser *p, const void *text, size_t size) {
    cuzk_code code = json_feed(&p->stream, text, size, p->err);
    return p->code != CUZK_OK ? p->code : code;
}

static cuzk_code parser_finish(parser *p) {
    if (json_finish(&p->stream) && p->frames[0].index == 1) return CUZK_OK;
    if (p->code != CUZK_OK) return p->code; /* the text is one number, which only its end completes */
    fail_value(p, p->stream.fed, p->nesting ? "truncated JSON: the text ends here" : "no JSON value");
    return p->code;
}

/* Characters of padding at the end, 0 to 2. */
static size_t base64_padding(const char *text, size_t size) {
    size_t padding = 0;
    while (padding < 2 && padding < size && text[size - padding - 1] == '=') padding++;
    return padding;
}

/* The first character that is not base64, nor padding at the end; size when there is none. */
static size_t bad_base64(const char *text, size_t size) {
    size_t end = size - base64_padding(text, size), i = 0;
    while (i < end && ((text[i] >= 'A' && text[i] <= 'Z') || (text[i] >= 'a' && text[i] <= 'z') ||
                       (text[i] >= '0' && text[i] <= '9') || text[i] == '+' || text[i] == '/'))
        i++;
    return i == end ? size : i;
}

static int fail_base64(parser *p, const char *text, size_t size) {
    char quoted[QUOTE_BYTES];
    size_t bad = bad_base64(text, size);
    uint64_t start = json_content_offset(&p->stream, text, size);
    bool known = start != CUZK_NO_OFFSET;
    if (bad == size)
        return fail_value(p, known ? start + size : start,
                          "found %zu characters, expected a multiple of 4 (base64 with padding)", size);
    return fail_value(p, known ? start + bad : start, "found %s at character %zu, expected base64",
                      quote(quoted, text + bad, 1), bad);
}

static int read_phase1(parser *p, const char *text, size_t size) {
    char name[sizeof p->err->path];
    snprintf(name, sizeof name, "%s, decoded Phase1Out", p->stream.name);
    parser inner;
    p->code = parser_open(&inner, p->c, &C1_INNER, name, p->err);
    if (p->code == CUZK_OK && size % 4 != 0) fail_base64(p, text, size);
    for (size_t at = 0; p->code == CUZK_OK && at < size; at += PIECE_CHARS) {
        uint8_t piece[PIECE_CHARS / 4 * 3];
        size_t chars = size - at < PIECE_CHARS ? size - at : PIECE_CHARS;
        size_t padding = at + chars < size ? 0 : base64_padding(text, size);
        unsigned long bytes = sizeof piece;
        /* The length shows padding where none may be, which the decoder lets pass. */
        if (base64_strict_decode((const uint8_t *)text + at, chars, piece, &bytes) != CRYPT_OK ||
            bytes != chars / 4 * 3 - padding) {
            fail_base64(p, text, size);
            break;
        }
        p->code = parser_feed(&inner, piece, bytes);
    }
    if (p->code == CUZK_OK) p->code = parser_finish(&inner);
    json_close(&inner.stream);
    return p->code == CUZK_OK;
}

cuzk_code c1_read_text(c1 *c, const char *text, size_t size, const char *name, cuzk_error *err) {
    parser p;
    cuzk_code code = parser_open(&p, c, &C1_ROOT, name, err);
    if (code == CUZK_OK) code = parser_feed(&p, text, size);
    if (code == CUZK_OK) code = parser_finish(&p);
    json_close(&p.stream);
    return code;
}
