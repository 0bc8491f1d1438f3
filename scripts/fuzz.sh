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
fuzz() { # target: runs it, and leaves a log where it failed
    target=$1
    corpus=$build/corpus/$target
    seeds=$build/seeds/$target
    mkdir -p "$corpus" "$seeds"
    tests/fuzz/seeds.sh "$target" "$seeds"
    dictionary=""
    [ ! -f "tests/fuzz/$target.dict" ] || dictionary=-dict=tests/fuzz/$target.dict
    log=$build/failures/$target.log
    # shellcheck disable=SC2086 -- no word at all without a dictionary
    if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/failures/$target-" $dictionary "$corpus" "$seeds" \
        >"$log" 2>&1; then
        echo "$target: $seconds seconds, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs," \
            "$(sed -n 's/^stat::peak_rss_mb: *//p' "$log") MB"
        rm -f "$log"
    else
        tail -40 "$log"
    fi
}

# As many at a time as there are CPUs.
for target in "$@"; do rm -f "$build/failures/$target.log"; done
running=0
for target in "$@"; do
    fuzz "$target" &
    running=$((running + 1))
    if [ "$running" -eq "$(nproc)" ]; then
        wait
        running=0
    fi
done
wait
failed=""
for target in "$@"; do
    [ ! -e "$build/failures/$target.log" ] || failed="$failed $target"
done
if [ -n "$failed" ]; then
    echo "failed:$failed (inputs and logs are in $build/failures)" >&2
    exit 1
fi
