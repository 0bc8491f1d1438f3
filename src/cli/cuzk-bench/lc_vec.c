/* Terms in buffers of their own, from the heap, a pool or an arena. */
#define LC_ID      vec
#define LC_NAME    "vec"
#define LC_SUMMARY "two heap vectors, growing as Rust's Vec"
#define LC_INLINE  0
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      pool
#define LC_NAME    "pool"
#define LC_SUMMARY "two vectors in recycled buffers"
#define LC_INLINE  0
#define LC_SOURCE  pool
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      arena
#define LC_NAME    "arena"
#define LC_SUMMARY "two vectors in memory given back as a whole after each constraint"
#define LC_INLINE  0
#define LC_SOURCE  arena
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      vec_in_place
#define LC_NAME    "vec/in-place"
#define LC_SUMMARY "vec without moves of the struct"
#define LC_INLINE  0
#define LC_SOURCE  heap
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      arena_in_place
#define LC_NAME    "arena/in-place"
#define LC_SUMMARY "arena without moves of the struct"
#define LC_INLINE  0
#define LC_SOURCE  arena
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"
