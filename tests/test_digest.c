/* The plain hashes and stream ciphers against published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "hash/digest.h"

/* FIPS 180-4 examples, and the million letters fed in pieces of every length. */
static void sha256_vectors(void **state) {
    (void)state;
    uint8_t digest[32];
    sha256_once(digest, "", 0);
    assert_hex(digest, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_once(digest, "abc", 3);
    assert_hex(digest, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256_once(digest, two_blocks, strlen(two_blocks));
    assert_hex(digest, 32, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");

    char letters[257];
    memset(letters, 'a', sizeof letters);
    sha256 s;
    sha256_start(&s);
    size_t left = 1000000;
    for (size_t size = 0; left; size = (size + 1) % sizeof letters) {
        size_t take = size < left ? size : left;
        sha256_update(&s, letters, take);
        left -= take;
    }
    sha256_finish(&s, digest);
    assert_hex(digest, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256_to_field_clears_two_bits(void **state) {
    (void)state;
    uint8_t digest[32];
    sha256_to_field(digest, "abc", 3);
    assert_hex(digest, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f200152d");
}

/* "abc" padded by hand: one compression of the initial state gives the digest's words. */
static void sha256_one_block(void **state) {
    (void)state;
    uint32_t words[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    static const uint32_t expected[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                         0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    uint8_t block[64] = {'a', 'b', 'c', 0x80};
    block[63] = 24;
    sha256_compress(words, block);
    assert_memory_equal(words, expected, sizeof words);
}

/* RFC 7693 appendix A, and the keyed vectors of the BLAKE2 authors (key 00..3f). */
static void blake2b_vectors(void **state) {
    (void)state;
    uint8_t digest[64], key[64], data[255];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)i;
    blake2b(digest, 64, NULL, 0, "abc", 3);
    assert_hex(digest, 64,
               "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
               "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    blake2b(digest, 32, NULL, 0, "", 0);
    assert_hex(digest, 32, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    blake2b(digest, 64, key, 64, NULL, 0);
    assert_hex(digest, 64,
               "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
               "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
    blake2b(digest, 64, key, 64, data, 255);
    assert_hex(digest, 64,
               "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248"
               "4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461");
    /* Only the requested bytes are written. */
    memset(digest, 0xee, sizeof digest);
    blake2b(digest, 1, NULL, 0, "abc", 3);
    for (size_t i = 1; i < sizeof digest; i++) assert_int_equal(digest[i], 0xee);
}

/* RFC 8439 2.3.2 and A.1; the original form's ChaCha8 from the eSTREAM vectors (zero key). */
static void chacha_vectors(void **state) {
    (void)state;
    uint8_t key[32], stream[200], nonce[12] = {0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)i;
    chacha20_ietf(stream, 64, key, nonce, 1);
    assert_hex(stream, 64,
               "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
               "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    /* A long stream is the blocks one after the other, whatever its length. */
    uint8_t block[64];
    chacha20_ietf(stream, sizeof stream, key, nonce, 1);
    for (uint32_t i = 0; i < 4; i++) {
        size_t size = i < 3 ? 64 : 8;
        chacha20_ietf(block, 64, key, nonce, 1 + i);
        assert_memory_equal(stream + 64 * i, block, size);
    }
    memset(key, 0, sizeof key);
    memset(nonce, 0, sizeof nonce);
    chacha20_ietf(stream, 64, key, nonce, 0);
    assert_hex(stream, 64,
               "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
               "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    chacha8(stream, 64, key);
    assert_hex(stream, 64,
               "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
               "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_vectors),   cmocka_unit_test(sha256_to_field_clears_two_bits),
        cmocka_unit_test(sha256_one_block), cmocka_unit_test(blake2b_vectors),
        cmocka_unit_test(chacha_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
