#!/bin/sh
# The daemon with a real key: proofs through it are valid, several clients at once, wrong input, a Go client where
# there is Go, and a drain that lets the running proof finish.
# usage: test_daemon_prove.sh BIN_DIR C1_JSON PARAMS_DIR WORK_DIR [GO_CLIENT]
bin=$1
c1=$2
params=$3
work=$4
client=${5:-}
failed=0
mkdir -p "$work" || exit 1
socket=unix://$work/cuzk.sock

result() {
    [ "$1" -eq 0 ] && return
    echo "FAILED: $2"
    failed=$((failed + 1))
}
# expect CODE PATTERN COMMAND...
expect() {
    code=$1 pattern=$2
    shift 2
    output=$("$@" 2>&1 </dev/null)
    got=$?
    [ "$got" -eq "$code" ] && printf '%s' "$output" | tr -s ' \n' ' ' | grep -qE -e "$pattern"
    result $? "$*: exit code $got (expected $code), '$pattern' wanted in: $output"
}
start() {
    "$bin/cuzk-daemon" run --listen "$socket" --status-listen 127.0.0.1:0 --params "$params" --state-dir "$work/state" \
        >"$work/daemon.log" 2>&1 &
    daemon=$!
    for _ in $(seq 100); do
        grep -q 'serving' "$work/daemon.log" && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.1
    done
    result 1 "the daemon does not serve: $(cat "$work/daemon.log")"
}
stop() {
    kill -TERM "$daemon"
    wait "$daemon"
    result $? "the daemon's exit code after SIGTERM: $(tail -5 "$work/daemon.log")"
}

start
expect 0 'status: COMPLETED' "$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$c1" --out "$work/proof.bin"
expect 0 'valid' "$bin/cuzk" verify --c1 "$c1" --params "$params" --proof "$work/proof.bin"
expect 0 'completed: 4 failed: 0' "$bin/cuzk-bench" batch -a "$socket" --type porep --c1 "$c1" -c 4 -j 4
expect 0 'porep-2k (loaded|already loaded)' "$bin/cuzk-bench" preload -a "$socket" -c porep-2k
expect 0 'proofs completed: 5 proofs failed: 0 .*porep-2k \(tier=0, size=1114707768 bytes, refs=0\)' \
    "$bin/cuzk-bench" status -a "$socket"
expect 0 'cuzk_proofs_completed_total 5' "$bin/cuzk-bench" metrics -a "$socket"

# --- input that does not hold: another miner, a vanilla proof with a wrong hash, a cut file
expect 1 'INVALID_ARGUMENT: replica_id: found' "$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$c1" --miner-id 1001
sed 's/"comm_r":\[[0-9]*,/"comm_r":[0,/' "${c1%c1.json}c1.inner.json" >"$work/wrong.json"
expect 1 'INVALID_ARGUMENT|FAILED' "$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$work/wrong.json"
head -c 5000 "$c1" >"$work/short.json"
expect 1 'INVALID_ARGUMENT.*vanilla_proof' "$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$work/short.json"

if [ -n "$client" ]; then
    output=$("$client" -addr "$socket" -c1 "$c1" 2>&1)
    result $? "the Go client: $output"
else
    echo "skipped: the Go client"
fi

# --- SIGTERM while a proof runs: it is finished, and its client gets it
"$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$c1" >"$work/last" 2>&1 &
last=$!
for _ in $(seq 100); do
    "$bin/cuzk-bench" status -a "$socket" 2>/dev/null | grep -q 'in_progress=1' && break
    sleep 0.05
done
stop
wait "$last"
result $? "a proof while the daemon drains: $(cat "$work/last")"
[ ! -e "$work/cuzk.sock" ]
result $? 'the socket is left behind'

# --- a daemon that is started again with the same state serves on
start
expect 0 'status: COMPLETED' "$bin/cuzk-bench" single -a "$socket" --type porep --c1 "$c1"
stop
[ "$failed" -eq 0 ] && rm -rf "$work" && echo 'the daemon with a real key: ok'
[ "$failed" -eq 0 ]
