#!/bin/sh
# The cuzk tool as a user runs it: exit codes, messages, help texts, JSON, and that nothing is written on failure.
# usage: test_cli.sh CUZK DATA_DIR
cuzk=$1
data=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/support.sh"
unset FIL_PROOFS_PARAMETER_CACHE CUZK_ISA

# expect CODE PATTERN ARGUMENT...
expect() { expect_of "$cuzk" "$@"; }

meta=$data/c1/2k-v1_1/meta.json
field() { sed -n "s/^ *\"$1\": \"\\([0-9a-f]*\\)\".*/\\1/p" "$meta"; }
comm_r=$(field comm_r)
comm_d=$(field comm_d)
ticket=$(field ticket)
seed=$(field seed)
c1=$data/c1/2k-v1_1/c1.json
bare=$data/c1/2k-v1_1/c1.inner.json
proof=$data/c1/2k-v1_1/proof.bin
keys=$data/params

# --- usage and help
expect 2 'Usage: cuzk COMMAND'
expect 0 'Usage: cuzk COMMAND' --help
expect 2 "unknown command 'prof'" prof
expect 2 'Usage: cuzk params COMMAND' params
expect 2 "unknown command 'sing'" c1 sing
for command in prove verify replay 'params setup' 'params check' 'params list' 'c1 inspect' 'c1 generate' 'r1cs digest'; do
    # shellcheck disable=SC2086 -- a command of two words
    expect 0 'Example.*Exit codes' $command --help
    # shellcheck disable=SC2086
    expect 2 "unrecognized option '--frobnicate'" $command --frobnicate
done
expect 0 'cuzk [0-9.]+ commit: .* code variant: (portable|adx|ifma)' --version
CUZK_ISA=portable expect 0 'code variant: portable' --version
CUZK_ISA=mmx expect 2 "unknown code variant 'mmx', expected portable, adx or ifma" --version
expect 2 '[-]-c1 is required' prove
expect 2 "--miner-id: '1x', expected a whole number" prove --c1 "$c1" --miner-id 1x
expect 2 "--threads: '0', expected a whole number from 1 to 1024" prove --c1 "$c1" --threads 0
expect 2 "--memory-budget: '1 GB', expected a size" prove --c1 "$c1" --memory-budget '1 GB'
expect 2 'needs --i-know-this-is-insecure' prove --c1 "$c1" \
    --insecure-randomness "$(printf '%064d' 0),$(printf '%064d' 0)"
expect 2 'expected 64 hex digits' prove --c1 "$c1" --insecure-randomness 00,11 --i-know-this-is-insecure
expect 2 'needs --i-know-this-is-insecure' params setup --circuit porep-2k --insecure-toxic-waste waste.json
expect 2 "unknown circuit 'porep-3k'" params setup --circuit porep-3k
expect 2 'the circuit winning-2k cannot be built yet' params setup --circuit winning-2k --params "$work"

# --- verify: valid, then every way it can fail
expect 0 'valid: StackedDrg2KiBV1_1, miner 1000, sector 1' verify --c1 "$c1" --proof "$proof" --params "$keys"
expect 0 '"valid": true' verify --c1 "$bare" --proof "$proof" --params "$keys" --json
verify_statement() {
    code=$1 pattern=$2
    shift 2
    expect "$code" "$pattern" verify --registered-proof "${proof_name:-StackedDrg2KiBV1_1}" --comm-r "$comm_r" \
        --comm-d "$comm_d" --miner-id "${miner:-1000}" --sector-num 1 --ticket "$ticket" --seed "${seed_used:-$seed}" \
        --params "$keys" "$@"
}
verify_statement 0 'valid' --proof "$proof"
miner=1001 verify_statement 1 'does not' --proof "$proof"
seed_used=$(printf '%064d' 1) verify_statement 1 'does not' --proof "$proof"
proof_name=StackedDrg2KiBV1 verify_statement 1 'does not' --proof "$proof"
proof_name=StackedDrg3KiBV1 verify_statement 2 "unknown registered proof 'StackedDrg3KiBV1'" --proof "$proof"
proof_name=StackedDrg8MiBV1 verify_statement 4 'v28-stacked' --proof "$proof"
head -c 191 "$proof" >"$work/short"
verify_statement 3 'short: 191 bytes, expected 192' --proof "$work/short"
: >"$work/empty"
verify_statement 3 'empty: 0 bytes, expected 192' --proof "$work/empty"
cat "$proof" "$proof" >"$work/double"
verify_statement 3 '384 bytes, expected 192' --proof "$work/double"
{ head -c 48 "$proof"; head -c 96 /dev/zero; tail -c 48 "$proof"; } >"$work/zeros"
verify_statement 3 'zeros: offset 48' --proof "$work/zeros"
verify_statement 3 'absent' --proof "$work/absent"
expect 3 'replica_id: found' verify --c1 "$c1" --miner-id 7 --proof "$proof" --params "$keys"
expect 2 '[-]-seed is required' verify --registered-proof StackedDrg2KiBV1_1 --comm-r "$comm_r" --comm-d "$comm_d" \
    --miner-id 1000 --sector-num 1 --ticket "$ticket" --proof "$proof"
expect 2 'expected 64 hex digits' verify --registered-proof StackedDrg2KiBV1_1 --comm-r 12
expect 4 'v28-stacked.*vk' verify --c1 "$c1" --proof "$proof" --params "$work"
head -c 4000 "$keys"/*.vk >"$work/$(basename "$keys"/*.vk)"
expect 4 '4000 bytes' verify --c1 "$c1" --proof "$proof" --params "$work"
rm "$work"/*.vk

# --- c1 inspect
expect 0 'StackedDrg2KiBV1_1.*all 2 challenges hold' c1 inspect "$c1"
expect 0 'replica id follows' c1 inspect "$c1" --miner-id 1000
expect 3 'replica_id: found' c1 inspect "$c1" --miner-id 1001
expect 0 '"vanilla_valid": true' c1 inspect "$bare" --json
expect 0 '"sector_bytes": 8388608' c1 inspect "$data/c1/8m-v1_1/c1.json" --json
expect 0 'SyntheticPoRep' c1 inspect "$data/c1/2k-synthetic/c1.json"
expect 3 'absent.json' c1 inspect "$work/absent.json"
expect 3 'empty' c1 inspect "$work/empty"
head -c 50000 "$bare" >"$work/cut.json"
expect 3 'cut.json.*(truncated|ends)' c1 inspect "$work/cut.json"
expect 3 '"exit_code": 3' c1 inspect "$work/cut.json" --json
sed 's/"leaf":\[\([0-9]*\),/"leaf":[256,/' "$bare" >"$work/big.json"
expect 3 '256' c1 inspect "$work/big.json"
# A leaf that is a byte string of the right form but not the sector's: only the vanilla verification can tell.
sed 's/"leaf":\[[0-9]*,/"leaf":[77,/' "$bare" >"$work/leaf.json"
expect 3 'leaf.json.*vanilla_proofs.StackedDrg2KiBV1\[0\]\[0\]' c1 inspect "$work/leaf.json"
expect 0 'StackedDrg2KiBV1_1' c1 inspect "$work/leaf.json" --no-verify

# --- c1 generate
expect 0 'StackedDrg512MiBV1_1' c1 generate --sector-size 512MiB --rng-seed 5 --out "$work/made.json"
expect 0 'all 2 challenges hold' c1 inspect "$work/made.json"
expect 0 '"bytes"' c1 generate --sector-size 512MiB --rng-seed 5 --out "$work/again.json" --json
check 'one seed gave two files' cmp "$work/made.json" "$work/again.json"
expect 0 'StackedDrg2KiBV1,' c1 generate --registered-proof StackedDrg2KiBV1 --miner-id 7 --sector-num 8 --out "$work/made.json"
expect 0 'follows from' c1 inspect "$work/made.json" --miner-id 7
expect 2 "'3KiB', expected 2KiB" c1 generate --sector-size 3KiB --out "$work/none.json"
expect 2 'challenges depend on comm_r' c1 generate --registered-proof StackedDrg2KiBV1_1_Feat_SyntheticPoRep --out "$work/none.json"
expect 2 'not a proof of this sector size' c1 generate --sector-size 8MiB --registered-proof StackedDrg2KiBV1 --out "$work/none.json"
expect 2 'none.json' c1 generate --sector-size 2KiB --out "$work/absent/none.json"
check 'a failed generate left a file' test ! -e "$work/none.json"

# --- params
expect 0 'porep-32g.*v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0' params list
expect 0 '"circuit": "porep-2k"' params list --json
expect 0 'porep-2k absent .* porep-2k ok' params check "$keys"
expect 4 'porep-2k absent' params check "$keys" --circuit porep-2k
expect 4 '"ok": false' params check "$keys" --circuit porep-2k --json
cp "$data/groth16-small/v28-small.params" "$work/$(basename "$keys"/*.vk .vk).params"
expect 4 'BAD.*expected' params check "$work"
expect 4 'v28-stacked.*cannot open' prove --c1 "$c1" --params "$work" --out "$work/out.bin"
rm "$work"/*.params
check 'prove without parameters wrote a file' test ! -e "$work/out.bin"
expect 4 'v28-stacked' prove --c1 "$c1" --params "$work" --out "$work/out.bin"
expect 4 '"kind": "params"' prove --c1 "$c1" --params "$work" --json
FIL_PROOFS_PARAMETER_CACHE=$work/nowhere expect 4 'nowhere/v28-stacked' prove --c1 "$c1"
expect 3 'absent' prove --c1 "$work/absent"
echo '{"alpha": "12"}' >"$work/waste.json"
expect 3 "waste.json: 'alpha': 2 characters, expected 64" params setup --circuit porep-2k --params "$work" \
    --insecure-toxic-waste "$work/waste.json" --i-know-this-is-insecure
expect 2 'nowhere' params setup --circuit porep-2k --params "$work/nowhere" --quiet
expect 5 'memory' params setup --circuit porep-2k --params "$work" --memory-budget 1MiB
check 'a failed setup left a file' test -z "$(find "$work" -name 'v28-*')"

# --- replay: bad folders (runs need a key: test_prove.sh)
mkdir "$work/kept"
expect 2 'an input is required' replay
expect 2 'more than one input' replay "$work/kept" "$work/kept"
expect 2 "[-]-repeat: '0', expected a whole number from 1" replay "$work/kept" --repeat 0
expect 3 'absent: cannot open' replay "$work/absent"
expect 3 'kept/job.json: cannot open' replay "$work/kept"
echo '{"kind": "porep-c2", "circuit": "porep-2k", "miner_id": 1000, "sector_number": 1, "self_check_failures": 2}' \
    >"$work/kept/job.json"
expect 3 'kept/input.json: cannot open' replay "$work/kept"
expect 3 '"exit_code": 3' replay "$work/kept" --json
head -c 5000 "$c1" >"$work/kept/input.json"
expect 3 'kept/input.json' replay "$work/kept" --params "$work"
cp "$c1" "$work/kept/input.json"
expect 4 'v28-stacked' replay "$work/kept" --params "$work"
expect 4 'v28-stacked' replay "$work/kept/input.json" --params "$work"
CUZK_ISA=mmx expect 2 "unknown code variant 'mmx'" replay "$work/kept" --params "$work"
echo '{"kind": "porep-c2"' >"$work/kept/job.json"
expect 3 'job.json: not JSON' replay "$work/kept"
echo '{"kind": "winning-post", "circuit": "winning-2k", "miner_id": 1000, "sector_number": 1}' >"$work/kept/job.json"
expect 3 "job.json: 'kind' is 'winning-post'" replay "$work/kept"

# --- r1cs digest
expect 0 'c48acf08e6220b0839cc17ab449cb1bf5d81d70f6c4048d301be4cadb3658429' r1cs digest --circuit porep-2k
expect 0 'all .*match' r1cs digest --c1 "$c1" --expect "$data/r1cs/porep-2k/digest.json"
expect 3 'num_aux|num_constraints' r1cs digest --circuit porep-2k --expect "$data/r1cs/porep-8m/digest.json"
expect 2 'exactly one of' r1cs digest

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
