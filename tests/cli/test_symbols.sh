#!/bin/sh
# Both libraries export cuzk_ symbols and nothing else. usage: test_symbols.sh LIBCUZK.SO LIBCUZK.A
set -eu
check() {
    others=$(printf '%s\n' "$2" | awk 'NF >= 3 && $3 !~ /^cuzk_/ && $2 ~ /[A-TV-Z]/ { print $3 }')
    if [ -n "$others" ]; then
        echo "$1 exports:"
        echo "$others"
        exit 1
    fi
    if ! printf '%s\n' "$2" | grep -q ' T cuzk_seal_prove$'; then
        echo "$1 lacks cuzk_seal_prove"
        exit 1
    fi
}
check "$1" "$(nm -D --defined-only "$1")"
check "$2" "$(nm -g --defined-only "$2")"
