#!/bin/sh
# seeds.sh TARGET DIRECTORY: put the first inputs of a fuzz target into a directory, made from the fixtures.
# A target without a case here starts from nothing.
set -eu
target=$1
out=$2
data=$(dirname "$0")/../data

case $target in
fuzz_c1)
    # Whole texts, and beginnings: most mutations of a whole one are found out late, and slowly.
    cp "$data/c1/2k-v1_1/c1.inner.json" "$out/bare"
    cp "$data/c1/2k-synthetic/c1.json" "$out/wrapper"
    for size in 200 1000 4000; do
        head -c $size "$data/c1/2k-v1_1/c1.inner.json" >"$out/bare-$size"
        head -c $size "$data/c1/2k-v1_1/c1.json" >"$out/wrapper-$size"
    done
    tail -c 600 "$data/c1/2k-v1_1/c1.inner.json" | sed 's/^[^"]*/{/' >"$out/tail"
    printf '{"registered_proof":"StackedDrg64GiBV1","vanilla_proofs":{"StackedDrg64GiBV1":[[]]}}' >"$out/big"
    ;;
esac
