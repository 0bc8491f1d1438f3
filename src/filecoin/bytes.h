/* Fixed-width integers in byte strings. */
#ifndef CUZK_FILECOIN_BYTES_H
#define CUZK_FILECOIN_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_u32_le(uint8_t out[4], uint32_t value) {
    value = htole32(value);
    memcpy(out, &value, sizeof value);
}
static inline void put_u32_be(uint8_t out[4], uint32_t value) {
    value = htobe32(value);
    memcpy(out, &value, sizeof value);
}
static inline void put_u64_le(uint8_t out[8], uint64_t value) {
    value = htole64(value);
    memcpy(out, &value, sizeof value);
}
static inline void put_u64_be(uint8_t out[8], uint64_t value) {
    value = htobe64(value);
    memcpy(out, &value, sizeof value);
}
static inline uint32_t get_u32_le(const uint8_t in[4]) {
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return le32toh(value);
}
static inline uint64_t get_u64_le(const uint8_t in[8]) {
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return le64toh(value);
}
static inline uint64_t get_u64_be(const uint8_t in[8]) {
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return be64toh(value);
}

#endif
