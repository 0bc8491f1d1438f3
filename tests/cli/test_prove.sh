#!/bin/sh
# From known toxic waste to the reference's proof, through the cuzk tool: the 2 KiB parameter file has the reference's
# SHA-256, the proof with fixed randomness is the reference's byte for byte with every code variant and thread count,
# and damaged parameters or too little memory end in the right error. Minutes. usage: test_prove.sh CUZK DATA_DIR WORK_DIR 
# ENGINE_2K TEST_REPLAY [GO_CLIENT]
cuzk=$1
data=$(cd "$2" && pwd)
work=$3
engine_2k=$4
test_replay=$5
go_client=$6 # may be absent
[ -x "$go_client" ] || go_client=
failed=0
passed=0
rm -rf "$work"
mkdir -p "$work" || exit 1
unset FIL_PROOFS_PARAMETER_CACHE CUZK_ISA

result() {
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        echo "FAILED: $2"
        failed=$((failed + 1))
    fi
}
# expect CODE PATTERN ARGUMENT...
expect() {
    code=$1 pattern=$2
    shift 2
    output=$("$cuzk" "$@" 2>&1 </dev/null)
    got=$?
    [ "$got" -eq "$code" ] && printf '%s' "$output" | tr -s ' \n' ' ' | grep -qE -e "$pattern"
    result $? "cuzk $*: exit code $got (expected $code), '$pattern' wanted in: $output"
}

repeat() { # byte, times
    n=$2
    while [ "$n" -gt 0 ]; do
        printf '%s' "$1"
        n=$((n - 1))
    done
}
number() { echo "$(repeat "$1" 31)00"; }
c1=$data/c1/2k-v1_1/c1.json
name=$(basename "$data"/params/*.vk .vk)
params=$work/$name.params

# --- the parameters of the test key
cat >"$work/waste.json" <<EOF
{"alpha": "$(number a1)", "beta": "$(number b2)", "gamma": "$(number c3)", "delta": "$(number d4)", "tau": "$(number e5)"}
EOF
expect 0 'INSECURE, FOR TESTS ONLY' params setup --circuit porep-2k --params "$work" \
    --insecure-toxic-waste "$work/waste.json" --i-know-this-is-insecure
(cd "$work" && grep "$name.params" "$data/params/sha256.txt" | sha256sum -c --quiet -)
result $? 'SHA-256 of the parameter file'
cmp "$work/$name.vk" "$data/params/$name.vk"
result $? 'verifying key'
expect 0 'porep-2k ok' params check "$work" --circuit porep-2k
expect 0 'porep-2k ok' params check "$work" --circuit porep-2k --points

# --- the reference's proof, whatever the variant and the threads
fixed="--insecure-randomness $(number 17),$(number 2b) --i-know-this-is-insecure"
reference_proof() { # variant, threads
    rm -f "$work/proof.bin"
    # shellcheck disable=SC2086 -- options
    CUZK_ISA=$1 "$cuzk" prove --c1 "$c1" --params "$work" --threads "$2" --quiet --out "$work/proof.bin" $fixed >"$work/log" 2>&1
    cmp "$work/proof.bin" "$data/c1/2k-v1_1/proof.bin"
    result $? "proof of variant $1 with $2 threads: $(cat "$work/log")"
}
best=$("$cuzk" --version | sed -n 's/^code variant: *//p')
for threads in 1 2 3 8; do reference_proof "$best" $threads; done
[ "$best" = portable ] || reference_proof portable 2
[ "$best" = ifma ] && reference_proof adx 2

# --- a fresh proof of another sector
expect 0 'verified' prove --c1 "$data/c1/2k-synthetic/c1.inner.json" --params "$work" --out "$work/fresh.bin"
expect 0 'valid' verify --c1 "$data/c1/2k-synthetic/c1.json" --params "$work" --proof "$work/fresh.bin"
expect 1 'does not' verify --c1 "$c1" --params "$work" --proof "$work/fresh.bin"

# --- the engine with this key
output=$("$engine_2k" "$work" "$c1" "$work" 2>&1)
result $? "engine: $output"

# --- a proof repeated, as the daemon keeps it when its self-check fails
mkdir "$work/kept"
cp "$c1" "$work/kept/input.json"
describe() { # circuit, miner
    echo "{\"kind\": \"porep-c2\", \"circuit\": \"$1\", \"miner_id\": $2, \"sector_number\": 1, \"self_check_failures\": 2}" \
        >"$work/kept/job.json"
}
describe porep-2k 1000
expect 0 "portable all self-checks pass.*(1 run, all pass|all pass and agree in every value)" replay "$work/kept" --params "$work" --isa-all
describe porep-8m 1000
expect 3 'a sector of porep-2k, its job.json tells of porep-8m' replay "$work/kept" --params "$work"
describe porep-2k 1001
expect 3 'FAILED in vanilla proofs: .*replica_id' replay "$work/kept" --params "$work" --repeat 2
expect 3 '"stage": "vanilla proofs"' replay "$work/kept" --params "$work" --json
describe porep-2k 1000
CUZK_TEST_KEY=$work "$test_replay"
result $? 'faults while a proof is repeated'

# --- the daemon with this key; a Go client too, where one was built
output=$("$(dirname "$0")/test_daemon_prove.sh" "$(dirname "$cuzk")" "$c1" "$work" "$work/daemon" ${go_client:+"$go_client"} 2>&1)
result $? "daemon: $output"

# --- what must not become a proof
nothing() {
    [ ! -e "$work/none.bin" ]
    result $? "$1 left a file"
}
expect 5 'none.bin|No space' prove --c1 "$c1" --params "$work" --out /dev/full
expect 2 'absent/none.bin' prove --c1 "$c1" --params "$work" --out "$work/absent/none.bin"
expect 5 'needs [0-9]+ MiB of memory' prove --c1 "$c1" --params "$work" --memory-budget 200MiB --out "$work/none.bin"
nothing 'a small budget'
output=$(ulimit -v 1600000 && "$cuzk" prove --c1 "$c1" --params "$work" --out "$work/none.bin" 2>&1)
[ $? -eq 5 ] && printf '%s' "$output" | grep -q 'needs [0-9]* MiB of memory'
result $? "an address-space limit: $output"
nothing 'an address-space limit'

size=$(stat -c %s "$params")
truncate -s $((size - 1)) "$params"
expect 4 "$((size - 1)) bytes, expected $size" prove --c1 "$c1" --params "$work" --out "$work/none.bin"
truncate -s $((size + 1)) "$params"
expect 4 "$((size + 1)) bytes, expected $size" prove --c1 "$c1" --params "$work" --out "$work/none.bin"
truncate -s "$size" "$params"
printf '\0' | dd of="$params" bs=1 seek=$((size - 1)) conv=notrunc status=none
# The last byte belongs to a point of b_g2: off the curve, found when it is read.
last=$((size - 192))
expect 4 "offset $last: .*curve" prove --c1 "$c1" --params "$work" --out "$work/none.bin"
expect 4 'FAILED in prove of partition 0: .*curve' replay "$work/kept" --params "$work"
expect 4 'not on the curve' params check "$work" --circuit porep-2k --points
dd if=/dev/zero of="$params" bs=192 count=1 seek=$last oflag=seek_bytes conv=notrunc status=none
printf '\100' | dd of="$params" bs=1 seek=$last conv=notrunc status=none
expect 4 "offset $last: .*(identity|infinity)" prove --c1 "$c1" --params "$work" --out "$work/none.bin"
printf '\377' | dd of="$params" bs=1 seek=$((868 + 96 * 40)) conv=notrunc status=none
expect 4 'points|count' prove --c1 "$c1" --params "$work" --out "$work/none.bin"
nothing 'a damaged parameter file'

rm -rf "$work"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
