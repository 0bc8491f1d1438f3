#!/bin/sh
# cuzk-bench against a live daemon whose proofs are made up: texts, JSON, exit codes, and what a stress run finds.
# usage: test_bench_daemon.sh CUZK-BENCH FAKE-DAEMON
bench=$1
server=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/support.sh"

mkfifo "$work/stdin" "$work/stdout"
"$server" "$work/daemon.log" "unix://$work/cuzk.sock" 127.0.0.1:0 <"$work/stdin" >"$work/stdout" &
server_pid=$!
exec 3>"$work/stdin" 4<"$work/stdout"
read -r status_address <&4
read -r unix_address <&4
read -r tcp_address <&4
export CUZK_ADDR="$unix_address"

# expect CODE PATTERN ARGUMENT...
expect() { expect_of "$bench" "$@" 3>&- 4<&-; }
check() {
    if "$@" >/dev/null; then
        passed=$((passed + 1))
    else
        echo "FAILED: $*"
        failed=$((failed + 1))
    fi
}

# What the daemon is to prove.
printf 'partitions=2 synthesis=5 prove=10' >"$work/good"
printf 'partitions=10 prove=1' >"$work/ten"
printf 'fail=prove:0:1:selfcheck fail=prove:0:2:selfcheck' >"$work/bad"
printf 'fail=prove:0:1:error' >"$work/wrong"
printf 'partitions=1 fail=prove:0:1:hang' >"$work/hangs"
printf 'partitions=1' >"$work/one"
printf 'nonsense' >"$work/nonsense"

# --- status, metrics, preload
head='=== cuzk daemon status === uptime: [0-9]+s proofs completed: 0 proofs failed: 0 pinned memory: [0-9]+ / [0-9]+ bytes'
expect 0 "^$head" status
expect 0 "^$head" -a "$tcp_address" status
expect 0 "^$head" status --addr "http://${tcp_address#http://}"
expect 0 '"uptime_seconds": [0-9]+, "total_proofs_completed": 0,.*"queues": \[' status --json -
expect 0 '# TYPE cuzk_proofs_completed_total counter' metrics
expect 0 '"prometheus_text": "# HELP' metrics --json -
expect 1 'INTERNAL: unknown circuit ID: nowhere' preload -c nowhere

# --- single
ms='[0-9]+ ms'
expect 0 "^ === Proof Result === status: COMPLETED job_id: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} timings: total=$ms \\(queue=$ms, srs=$ms, synth=$ms, gpu=$ms\\) wall time: $ms proof: 384 bytes \\(hex: [0-9a-f]{256}\\.\\.\\.\\)\$" \
    single -t porep --c1 "$work/good"
expect 0 'proof: 192 bytes \(hex: [0-9a-f]{384}\)$' single -t seal-commit --c1 "$work/one"
expect 0 'job_id: mine .*proof: 1920 bytes' single -t porep --c1 "$work/ten" --request-id mine --out "$work/proof" --json "$work/single.json"
check test "$(wc -c <"$work/proof")" -eq 1920
check grep -q '"proof_bytes": 1920' "$work/single.json"
expect 0 '^\{ "status": "COMPLETED", "job_id": "mine",' single -t porep --c1 "$work/ten" --request-id mine --json -
expect 1 'ALREADY_EXISTS: ' single -t porep --c1 "$work/good" --request-id mine
expect 1 '^ === Proof Result === status: FAILED job_id: [^ ]+ error: self-check failed: as told$' \
    single -t porep --c1 "$work/bad" --priority high
expect 1 '"status": "FAILED",.*"error_message": "self-check failed: as told"' single -t porep --c1 "$work/bad" --json -
expect 1 'INVALID_ARGUMENT: prove of partition 0 fails as told' single -t porep --c1 "$work/wrong"
expect 1 'INVALID_ARGUMENT: .*nonsense' single -t porep --c1 "$work/nonsense"
expect 1 'UNIMPLEMENTED: ' single -t winning --vanilla "$work/good"
expect 5 'DEADLINE_EXCEEDED: ' single -t porep --c1 "$work/hangs" --timeout 1

# --- batch
line='COMPLETED — [0-9.]+s \(prove=[0-9]+ ms, queue=[0-9]+ ms\)'
x='avg=[0-9.]+s min=[0-9.]+s max=[0-9.]+s'
expect 0 "^=== Batch Benchmark === proof type: PoRep count: 4 concurrency: 2 \\[1/4\\] $line \\[2/4\\] $line \\[3/4\\] $line \\[4/4\\] $line === Batch Summary === total time: [0-9.]+s completed: 4 failed: 0 wall time: $x prove time: $x throughput: [0-9]+\\.[0-9]{3} proofs/min \\([0-9.]+s/proof\\)\$" \
    batch -t PoRep --c1 "$work/good" -c 4 -j 2
expect 0 '\[3/3\]' -a "$tcp_address" batch -t porep --c1 "$work/good"
expect 0 '"completed": 5, "failed": 0,.*"proofs": \[' batch -t porep --c1 "$work/good" -c 5 -j 8 --json -
expect 1 '\[2/2\] FAILED.*completed: 0 failed: 2$' batch -t porep --c1 "$work/bad" -c 2
expect 1 'INVALID_ARGUMENT' batch -t porep --c1 "$work/nonsense" -c 20 -j 4
expect 5 'DEADLINE_EXCEEDED' batch -t porep --c1 "$work/hangs" -c 20 -j 4 --timeout 1

# --- timeline, live and from the log
expect 0 '=== Timeline === jobs: [1-9].*proving: [1-9]' timeline --status-addr "$status_address" -t porep --c1 "$work/ten" \
    -c 3 -j 2 --interval 20 --out "$work/live.svg" --json "$work/live.json"
check grep -q '^</svg>$' "$work/live.svg"
check grep -q '"total": 2' "$work/live.json"
expect 0 '=== Timeline ===' timeline --status-addr "http://$status_address" --duration 1 --out "$work/live.svg"
expect 1 'INVALID_ARGUMENT' timeline --status-addr "$status_address" -t porep --c1 "$work/nonsense" --out "$work/x.svg"
expect 3 'the answer is not HTTP' timeline --status-addr "$tcp_address" --duration 1 --json -
expect 0 'jobs: [1-9][0-9]+, with [1-9][0-9]+ partitions' timeline --log "$work/daemon.log" --out "$work/log.svg"
check grep -q '>failed<' "$work/log.svg"
check grep -q ', partition 9: prove' "$work/log.svg"

# --- stress: everything ends, nothing is left
expect 0 'mix: porep=3,porep:critical=1 .*porep/default: sent [0-9]+.*completed: p50=.*porep/critical: sent.*GetStatus: p50=.*left behind: nothing .*result: ok$' \
    stress --c1 "$work/good" --mix porep=3,porep:critical=1 --count 60 -j 6 --cancel-rate 20 --drop-rate 20 --within 20
expect 0 '"ok": true, "seed": 7,.*"get_status": \{ "count": [1-9]' \
    stress --c1 "$work/good" --duration 1 -j 3 --seed 7 --json -
expect 1 'ends: .*UNIMPLEMENTED=[0-9]+.*left behind: nothing .*result: NOT OK' \
    stress --c1 "$work/good" --vanilla "$work/good" --mix porep=1,winning=1 --count 20
expect 0 'ends: .*UNIMPLEMENTED=[0-9]+.*result: ok' \
    stress --c1 "$work/good" --vanilla "$work/good" --mix porep=1,winning=1 --count 20 --tolerate UNIMPLEMENTED
expect 1 'FAILED=3 .*result: NOT OK' stress --c1 "$work/bad" --count 3

# --- status-latency
expect 0 '=== Status Latency ===.*uploads: 2 at a time, [0-9]+ done.*proofs: [0-9]+ completed.*GetStatus: p50=[0-9.]+ ms .*, 0 failed' \
    status-latency --c1 "$work/good" --uploads 2 --upload-size 1MiB --duration 1
expect 0 '"concurrent_uploads": 1,.*"get_status": \{ "count": [1-9].*"get_status_failed": 0' \
    status-latency --uploads 1 --upload-file "$work/nonsense" --duration 1 --json -

expect 0 'proofs completed: [1-9][0-9]+ proofs failed: [1-9]' status
exec 3>&- # the daemon ends, with nothing left
if wait "$server_pid"; then
    passed=$((passed + 1))
else
    echo 'FAILED: the daemon ended with an error'
    failed=$((failed + 1))
fi
expect 5 'cannot connect' status

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
