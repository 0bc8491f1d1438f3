/* The first terms in the combination itself, more on the heap. */
#define LC_ID      small_1
#define LC_NAME    "small:1"
#define LC_SUMMARY "up to 1 terms of each kind inline, more on the heap"
#define LC_INLINE  1
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      small_2
#define LC_NAME    "small:2"
#define LC_SUMMARY "up to 2 terms of each kind inline, more on the heap"
#define LC_INLINE  2
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      small_4
#define LC_NAME    "small:4"
#define LC_SUMMARY "up to 4 terms of each kind inline, more on the heap"
#define LC_INLINE  4
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      small_8
#define LC_NAME    "small:8"
#define LC_SUMMARY "up to 8 terms of each kind inline, more on the heap"
#define LC_INLINE  8
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   0
#define LC_VARIANT false
#include "lc_instance.h"

#define LC_ID      small_1_in_place
#define LC_NAME    "small:1/in-place"
#define LC_SUMMARY "small:1 without moves of the struct"
#define LC_INLINE  1
#define LC_SOURCE  heap
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_2_in_place
#define LC_NAME    "small:2/in-place"
#define LC_SUMMARY "small:2 without moves of the struct"
#define LC_INLINE  2
#define LC_SOURCE  heap
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_4_in_place
#define LC_NAME    "small:4/in-place"
#define LC_SUMMARY "small:4 without moves of the struct"
#define LC_INLINE  4
#define LC_SOURCE  heap
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_8_in_place
#define LC_NAME    "small:8/in-place"
#define LC_SUMMARY "small:8 without moves of the struct"
#define LC_INLINE  8
#define LC_SOURCE  heap
#define LC_MOVES   0
#define LC_START   0
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_1_zeroed
#define LC_NAME    "small:1/zeroed"
#define LC_SUMMARY "small:1 with inline terms zeroed first"
#define LC_INLINE  1
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   1
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_2_zeroed
#define LC_NAME    "small:2/zeroed"
#define LC_SUMMARY "small:2 with inline terms zeroed first"
#define LC_INLINE  2
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   1
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_4_zeroed
#define LC_NAME    "small:4/zeroed"
#define LC_SUMMARY "small:4 with inline terms zeroed first"
#define LC_INLINE  4
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   1
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_8_zeroed
#define LC_NAME    "small:8/zeroed"
#define LC_SUMMARY "small:8 with inline terms zeroed first"
#define LC_INLINE  8
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   1
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_1_copied
#define LC_NAME    "small:1/copied"
#define LC_SUMMARY "small:1 with half of the empty combination copied into place"
#define LC_INLINE  1
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   2
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_2_copied
#define LC_NAME    "small:2/copied"
#define LC_SUMMARY "small:2 with half of the empty combination copied into place"
#define LC_INLINE  2
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   2
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_4_copied
#define LC_NAME    "small:4/copied"
#define LC_SUMMARY "small:4 with half of the empty combination copied into place"
#define LC_INLINE  4
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   2
#define LC_VARIANT true
#include "lc_instance.h"

#define LC_ID      small_8_copied
#define LC_NAME    "small:8/copied"
#define LC_SUMMARY "small:8 with half of the empty combination copied into place"
#define LC_INLINE  8
#define LC_SOURCE  heap
#define LC_MOVES   1
#define LC_START   2
#define LC_VARIANT true
#include "lc_instance.h"
