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
fuzz_config)
    # The example as it is and with every key set, and each of its sections by itself.
    cp "$data/../../dist/cuzk.toml" "$out/example"
    sed 's/^#\([a-z]\)/\1/' "$data/../../dist/cuzk.toml" >"$out/all"
    sed '/^#/d; /^$/d' "$out/all" >"$out/bare"
    printf '[gpus]\ndevices = [0, 1]\n[srs]\npreload = ["porep-32g"]\n' >"$out/old"
    ;;
fuzz_proof)
    cp "$data/groth16-small/proof.bin" "$out/one"
    cat "$data/groth16-small/proof.bin" "$data/c1/2k-v1_1/proof.bin" >"$out/two"
    ;;
fuzz_rpc)
    # Steps: a GetStatus call, a Prove call in two pieces that is reset, one kept until the end; and raw bytes.
    printf '\0\0\0\4\1\1\0' >"$out/status"
    printf '\0\0\0\2\2\0\4\0\0\0\0\2\1\1a\4\0' >"$out/pieces"
    printf '\0\5\1\0\0\1\1\1\2\012\0\5\2\10\377' >"$out/kept"
    printf '\0\0\0\11\1\0\3\72\1*\1\0\12\42\10cuzk.v1.\2\1\0\10\377' >"$out/reflection"
    printf '\377PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0' >"$out/raw"
    ;;
fuzz_wire)
    printf '\2\12\14\12\2ab\020\1\132\1x\132\1y' >"$out/prove"
    printf '\204\12\4\10\1\022\0\032\4\12\2ab' >"$out/status"
    printf '\0\042\25cuzk.v1.ProvingEngine' >"$out/symbol"
    printf '\0unix:///a%%20b' >"$out/text"
    ;;
fuzz_vk)
    cp "$data/groth16-small/v28-small.vk" "$out/small"
    ;;
fuzz_params)
    # The smallest file there is (two points in section a, the others empty), and one with a point or more in
    # each section, taken from the first section and from the key.
    vk=$data/groth16-small/v28-small.vk
    g1=$out/.g1
    g2=$out/.g2
    head -c 96 "$vk" >"$g1"
    head -c 384 "$vk" | tail -c 192 >"$g2"
    { cat "$vk"; printf '\0\0\0\0\0\0\0\0\0\0\0\2'; cat "$g1" "$g1"; printf '\0\0\0\0\0\0\0\0'; } >"$out/smallest"
    { cat "$vk"; printf '\0\0\0\1'; cat "$g1"; printf '\0\0\0\2'; cat "$g1" "$g1"
      printf '\0\0\0\3'; cat "$g1" "$g1" "$g1"; printf '\0\0\0\1'; cat "$g1"
      printf '\0\0\0\1'; cat "$g2"; } >"$out/points"
    rm -f "$g1" "$g2"
    ;;
esac
