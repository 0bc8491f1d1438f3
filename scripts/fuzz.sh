#!/bin/sh
# fuzz.sh [SECONDS [TARGET...]]: run every fuzz target, or those named, for SECONDS (60) each, under ASan and
# UBSan. Inputs found are kept in build-fuzz/corpus and used the next time; an input that fails is kept in
# build-fuzz/failures. BUILD changes the folder, CC the compiler (clang-14).
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}-fuzz
seconds=${1:-60}
[ $# -eq 0 ] || shift

cmake -S . -B "$build" -DCMAKE_C_COMPILER="${CC:-clang-14}" -DCUZK_FUZZ=ON -DBUILD_TESTING=OFF \
    -DCUZK_SANITIZE=address,undefined -DCUZK_VERIFY=ON >/dev/null
cmake --build "$build" -j "$(nproc)" --target fuzz_targets
if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        set -- "$@" "$(basename "$source" .c)"
    done
fi

mkdir -p "$build/failures"
failed=""
for target in "$@"; do
    corpus=$build/corpus/$target
    seeds=$build/seeds/$target
    mkdir -p "$corpus" "$seeds"
    tests/fuzz/seeds.sh "$target" "$seeds"
    dictionary=""
    [ ! -f "tests/fuzz/$target.dict" ] || dictionary=-dict=tests/fuzz/$target.dict
    log=$build/failures/$target.log
    echo "$target: $seconds seconds"
    # shellcheck disable=SC2086 -- no word at all without a dictionary
    if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/failures/$target-" $dictionary "$corpus" "$seeds" \
        >"$log" 2>&1; then
        grep -E '^stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)' "$log"
        rm -f "$log"
    else
        tail -40 "$log"
        failed="$failed $target"
    fi
done
if [ -n "$failed" ]; then
    echo "failed:$failed (inputs and logs are in $build/failures)" >&2
    exit 1
fi
