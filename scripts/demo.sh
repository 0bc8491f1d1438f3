#!/bin/sh
# Prove the bundled sector from start to end: local test parameters (made once, kept), the proof with its
# timings, and an independent verification. usage: demo.sh BUILD_DIR WORK_DIR
set -eu

build=$1
work=$2
here=$(cd "$(dirname "$0")/.." && pwd)
c1="$here/tests/data/c1/2k-v1_1/c1.json"
mkdir -p "$work"

echo
echo "== 1. Parameters of the 2 KiB PoRep circuit, in $work"
if "$build/cuzk" params check "$work" --circuit porep-2k >/dev/null 2>&1; then
    echo "Already there. They were made on this machine: INSECURE, for tests only."
else
    echo "Making them now. INSECURE: whoever runs this could forge proofs. For tests only; real ones come"
    echo "from the Filecoin ceremony."
    "$build/cuzk" params setup --circuit porep-2k --params "$work"
fi

echo
echo "== 2. Prove a real sector of 2 KiB: $c1"
"$build/cuzk" prove --c1 "$c1" --miner-id 1000 --sector-num 1 --params "$work" --out "$work/proof.bin"
echo
echo "The proof:"
od -An -v -tx1 -w32 "$work/proof.bin" | tr -d ' '

echo
echo "== 3. Verify it against the sector's public statement"
"$build/cuzk" verify --c1 "$c1" --miner-id 1000 --sector-num 1 --params "$work" --proof "$work/proof.bin"
