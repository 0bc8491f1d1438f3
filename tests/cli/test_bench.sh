#!/bin/sh
# cuzk-bench as a user runs it: the form of its output, its checks, its errors. usage: test_bench.sh CUZK-BENCH DATA_DIR
bench=$1
data=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/support.sh"

# expect CODE PATTERN ARGUMENT...
expect() { expect_of "$bench" "$@"; }

c1=$data/c1/2k-v1_1/c1.json
digest=$data/r1cs/porep-2k/digest.json
header="=== Synthesis Microbenchmark === c1: $c1 sector: 1 \\(miner 1000\\) partition: all iterations: 2 c1 loaded: 133732 bytes"
line='wall=[0-9.]+s synth=[0-9.]+s circuits=1 constraints=2687961'
summary='=== Summary \(2 iterations\) === wall: avg=[0-9.]+s min=[0-9.]+s synth: avg=[0-9.]+s min=[0-9.]+s'
expect 0 "$header \\[0\\] $line \\[1\\] $line $summary" synth-only --c1 "$c1" -i 2 --quiet
expect 0 'INFO synthesize_porep_c2_batch\{job_id="synth-bench-0"\}: building circuit' synth-only --c1 "$c1"
for path in template pce generic; do
    expect 0 'validation: a, b, c, witness and densities equal' synth-only --c1 "$c1" --path $path --form full \
        --validate="$digest" --partition 0 --threads 2
done
expect 0 'equal the generic path' synth-only --c1 "$c1" --validate
expect 70 'validation failed' synth-only --c1 "$c1" --validate="$data/r1cs/porep-8m/digest.json"
expect 0 '"path": "template".*"kept_memory": true' synth-only --c1 "$c1" -i 2 --json - --quiet
expect 0 'partition: 0' synth-only --c1 "$c1" --partition 0 --json "$work/report.json"
grep -q '"peak_rss_bytes"' "$work/report.json" || {
    echo 'FAILED: no report'
    failed=$((failed + 1))
}
for lc in small:1 arena; do
    expect 0 'validation: a, b, c, witness and densities equal' synth-only --c1 "$c1" --path generic --lc $lc \
        --validate="$digest"
done
expect 0 'allocations=[0-9]+ \([0-9.]+ per constraint\)' synth-only --c1 "$c1" --path generic --lc vec --counters -q
expect 0 '"allocations": [0-9]+, "counters": \{.*"lc": "pool"' synth-only --c1 "$c1" --path generic --lc pool \
    --counters --json - -q
expect 0 'INFO .* memory allocated allocations=[0-9]+' synth-only --c1 "$c1"
expect 2 "'small:3', expected vec, small:1, small:2, small:4, small:8, pool, arena, scratch" \
    synth-only --c1 "$c1" --path generic --lc small:3
expect 2 "'none', expected vec" synth-only --c1 "$c1" --path generic --lc none
expect 2 '[-]-lc vec needs --path generic' synth-only --c1 "$c1" --lc vec
expect 2 '[-]-lc arena needs --path generic' synth-only --c1 "$c1" --path pce --lc arena
expect 0 'Example.*Exit codes' synth-only --help
expect 2 "'1', expected 0 to 0|--partition 1, expected 0 to 0" synth-only --c1 "$c1" --partition 1
expect 2 "'0', expected a whole number from 1 to 10000" synth-only --c1 "$c1" -i 0
expect 2 "'0', expected a whole number from 1 to 1024" synth-only --c1 "$c1" --threads 0
expect 2 "'fast', expected template, pce or generic" synth-only --c1 "$c1" --path fast
expect 2 'needs --path template' synth-only --c1 "$c1" --path generic --form compact
expect 5 'needs [0-9]+ MiB|memory budget' synth-only --c1 "$c1" --form full --memory-budget 100MiB
expect 3 'absent' synth-only --c1 "$work/absent.json"

# --- lc-study: 20000 constraints, and neither jemalloc nor valgrind, which need not be there
study="--c1 $c1 --constraints 20000 --repeat 2 --allocators glibc --counts none"
expect 0 'A aux .*C aux .*CPU time under glibc.*none .*direct .*vec 96 .*small:8 704 .*arena .*Not measured under jemalloc: not wanted.*bytes written.*Events were not counted: not wanted' \
    lc-study $study -q
expect 0 '"constraints": 20000, "rounds": 2,.*"jemalloc": "not wanted".*"name": "small:2/zeroed".*"allocations_per_constraint"' \
    lc-study $study -q --strategies vec,small:2/zeroed --json -
expect 0 'none .*direct .*pool' lc-study $study --strategies pool --json "$work/study.json" --chart "$work/study.svg"
grep -q '"cache_lines_per_constraint"' "$work/study.json" && grep -q '^</svg>$' "$work/study.svg" || {
    echo 'FAILED: no JSON or no chart of the study'
    failed=$((failed + 1))
}
expect 0 'Not measured under jemalloc: its library cannot be' \
    lc-study --c1 "$c1" --constraints 1000 --repeat 1 --counts none -q --jemalloc "$work/absent.so"
expect 5 'no allocator to measure: jemalloc: its library cannot be' \
    lc-study --c1 "$c1" --constraints 1000 --repeat 1 --counts none -q --allocators jemalloc --jemalloc "$c1"
output=$(PATH=/nowhere "$bench" lc-study --c1 "$c1" --constraints 1000 --repeat 1 --strategies vec --allocators glibc \
    --counts cachegrind -q 2>&1)
[ $? -eq 5 ] && printf '%s' "$output" | grep -q 'valgrind.*is not installed' || {
    echo "FAILED: lc-study without valgrind: $output"
    failed=$((failed + 1))
}
expect 0 'Examples.*Exit codes' lc-study --help
expect 2 "'vec2', expected some of vec, small:1" lc-study --c1 "$c1" --strategies vec,vec2
expect 2 "'none', expected some of vec" lc-study --c1 "$c1" --strategies none
expect 2 'vec is named twice' lc-study --c1 "$c1" --strategies vec,arena,vec
expect 2 "'musl', expected some of glibc, jemalloc" lc-study --c1 "$c1" --allocators glibc,musl
expect 2 "'perf', expected auto, hardware, cachegrind or none" lc-study --c1 "$c1" --counts perf
expect 2 "'0', expected a whole number from 1 to 100" lc-study --c1 "$c1" --repeat 0
expect 2 '[-]-partition 1, expected 0 to 0' lc-study --c1 "$c1" --partition 1
expect 2 '[-]-c1 is required' lc-study
expect 3 'absent' lc-study --c1 "$work/absent.json"
expect 2 'absent' lc-study $study -q --strategies vec --chart "$work/absent/study.svg"

# --- pce-bench
expect 0 '=== PCE Benchmark ===.*Step 3.*circuit 0: PASS \(all 2687961 constraints match\).*ALL CIRCUITS MATCH.*saved to: .*round-trip verification: PASS' \
    pce-bench --c1 "$c1" --save-pce "$work/2k.pce"
expect 0 'Example.*Exit codes' pce-bench --help
expect 2 '[-]-partition 3, expected 0 to 0' pce-bench --c1 "$c1" --partition 3
expect 2 'absent' pce-bench --c1 "$c1" --save-pce "$work/absent/2k.pce"

# --- pce-pipeline: the engine with a simulated prover
rss='\[RSS\] [a-z0-9 ]+ [0-9.]+ GiB'
expect 0 "=== PCE Pipeline Benchmark === c1: $c1 circuit: porep-2k \\(1 partitions\\) proofs: 2 mode: sequential $rss $rss $rss $rss --- Summary \\(sequential\\) --- extraction: [0-9.]+s .*proof 2: synth=.* average synth: .* prover waited: 0.000s after the first partition .*peak RSS:" \
    pce-pipeline --c1 "$c1" -n 2 --prove-ms 20 -q
expect 0 'Summary \(parallel, j=3\) .*proof 4: .*prover waited: .*20 ms each, on cores.*Generic path.*speedup: [0-9.]+x' \
    pce-pipeline --c1 "$c1" -n 4 -j 3 --prove-ms 20 --prove-cores 2 --compare-old --timeline "$work/run.log"
expect 0 '^\{ "circuit": "porep-2k",.*"prover_waited_seconds": [0-9.]+,.*"results": \[' \
    pce-pipeline --c1 "$c1" -n 1 -q --json -
for line in 'SUBMITTED,pipeline-4,kind=porep-c2,priority=normal' 'CHECK_END,pipeline-1,ms=[0-9]*' \
    'SYNTH_START,pipeline-1,partition=0' 'SYNTH_END,pipeline-2,partition=0,synth_ms=[0-9]*' \
    'GPU_END,pipeline-3,partition=0,gpu_ms=[0-9]*' 'FINISHED,pipeline-4,state=completed' 'CORES,,busy=[0-9],total=[0-9]*'; do
    grep -q "^TIMELINE,[0-9]*,$line\$" "$work/run.log" || {
        echo "FAILED: no line $line in the timeline"
        failed=$((failed + 1))
    }
done
expect 0 'Examples.*Exit codes' pce-pipeline --help
expect 2 '[-]-c1 is required' pce-pipeline
expect 2 "[-]-num-proofs: '0'" pce-pipeline --c1 "$c1" -n 0
expect 2 'absent' pce-pipeline --c1 "$c1" -n 1 --timeline "$work/absent/run.log" -q
expect 3 'absent.json: cannot open' pce-pipeline --c1 "$work/absent.json"
expect 3 'not valid JSON' pce-pipeline --c1 "$0"
expect 5 'memory budget' pce-pipeline --c1 "$c1" -n 1 --memory-budget 1MiB -q

# --- timeline, from logs
expect 0 '=== Timeline === jobs: 4, with 4 partitions, in [0-9.]+s synthesis: 4, .* proving: 4,' \
    timeline --log "$work/run.log" --out "$work/run.svg" --json "$work/timeline.json"
grep -q '^</svg>$' "$work/run.svg" && grep -q 'class="cores"' "$work/run.svg" &&
    grep -q '<title>pipeline-4, partition 0: prove 0.0' "$work/run.svg" &&
    grep -q '"stage": "verify"' "$work/timeline.json" || {
    echo 'FAILED: no chart or no JSON of the timeline'
    failed=$((failed + 1))
}
# As other loggers wrap the lines, with a job whose name is hard, one without partitions, a pause and a failure.
cat >"$work/made.log" <<'LOG'
2026-02-17T23:08:57.750628Z DEBUG TIMELINE,1000,SUBMITTED,a, with <[commas]>,kind=porep-c2,priority=normal
{"message":"TIMELINE,1100,SYNTH_START,a, with <[commas]>,partition=0","level":"DEBUG"}
TIMELINE,1500,SYNTH_END,a, with <[commas]>,partition=0,synth_ms=400
TIMELINE,1900,GPU_START,a, with <[commas]>,worker=0,partition=0
TIMELINE,2000,PAUSED,a, with <[commas]>,stage=prove,partition=0
TIMELINE,2000,SYNTH_START,plain,kind=winning-post
TIMELINE,2300,SYNTH_END,plain,synth_ms=300
TIMELINE,2300,GPU_PICKUP,plain,worker=0
TIMELINE,2300,GPU_START,plain,worker=0
TIMELINE,2700,GPU_END,plain,worker=0,gpu_ms=400
TIMELINE,2720,FINISHED,plain,state=failed
TIMELINE,2700,RESUMED,a, with <[commas]>,stage=prove,partition=0
TIMELINE,4000,GPU_END,a, with <[commas]>,worker=0,partition=0,gpu_ms=2100
TIMELINE,9000,GPU_END,a, with <[commas]>,worker=0,partition=1,gpu_ms=2000
TIMELINE,nan,GPU_END,plain,worker=0
TIMELINE,99
LOG
expect 0 'jobs: 2, with 3 partitions, in 7.9s synthesis: 2, 0.7s together proving: 3, 4.5s together; the prover was idle for 3.000s .*pauses: 1, 0.7s' \
    timeline --log "$work/made.log" --out "$work/made.svg"
grep -q '<title>a, with &lt;\[commas\]>, partition 0: pause 0.700 s' "$work/made.svg" &&
    grep -q 'class="bad".*>failed<' "$work/made.svg" || {
    echo 'FAILED: the chart of the hard log'
    failed=$((failed + 1))
}
printf 'TIMELINE,1,GPU_END,\377\303,partition=0,gpu_ms=1\nTIMELINE,2,CORES,,busy=-3,total=1e99\n' >"$work/odd.log"
expect 0 '"id": "\?\?".*"busy": 0, "total": 1000000' timeline --log "$work/odd.log" --json -
expect 0 '^<svg .*</svg> *$' timeline --log "$work/made.log" --out - --json "$work/timeline.json"
expect 0 '"prover_idle_seconds": 3.0' timeline --log "$work/made.log" --json -
expect 3 'c1.json: no line of the form TIMELINE,<ms>' timeline --log "$c1" --json -
expect 3 'absent.log: cannot open' timeline --log "$work/absent.log" --json -
expect 2 'absent' timeline --log "$work/made.log" --out "$work/absent/made.svg"
expect 2 '[-]-out or --json is required' timeline --log "$work/made.log"
expect 2 '[-]-log draws what was' timeline --log "$work/made.log" --duration 3 --out "$work/x.svg"
expect 2 '[-]-out and --json cannot both be stdout' timeline --log "$work/made.log" --out - --json -
expect 2 '[-]-c1 is required for porep' timeline -t porep --out "$work/x.svg"
expect 5 '127.0.0.1:1: cannot connect' timeline --status-addr 127.0.0.1:1 --duration 1 --json -

# --- commands that speak to a daemon: what can be wrong without one
export CUZK_ADDR="unix:///$work/no.sock"
expect 0 'single .*batch .*status .*preload .*metrics .*synth-only' --help
for name in single batch status preload metrics timeline stress status-latency; do
    expect 0 'Example.*CUZK_ADDR.*Exit codes' $name --help
done
refused='UNAVAILABLE: cannot connect to .*no.sock: No such file or directory. Is cuzk-daemon running there'
expect 5 "$refused" status
expect 5 "$refused" metrics
expect 5 "$refused" preload -c porep-2k
expect 5 "$refused" single -t porep --c1 "$c1"
expect 5 "=== Batch Benchmark === proof type: seal-commit count: 2 concurrency: 2 .*$refused" \
    batch -t seal-commit --c1 "$c1" -c 2 -j 2
expect 5 "$refused" stress --c1 "$c1"
expect 5 "$refused" status-latency --uploads 1 --upload-size 1KiB
expect 2 '[-]-c1 is required for porep' stress
expect 2 '[-]-vanilla is required for winning' stress --c1 "$c1" --mix porep=1,winning=2
expect 2 "[-]-mix: 'porep', expected KIND=WEIGHT" stress --c1 "$c1" --mix porep
expect 2 "[-]-mix: kind '', expected porep" stress --c1 "$c1" --mix porep=1,=2
expect 2 "[-]-mix: priority 'hi', expected low" stress --c1 "$c1" --mix porep:hi=1
expect 2 "[-]-mix: '0', expected a whole number" stress --c1 "$c1" --mix porep=0
expect 2 '120 percent together' stress --c1 "$c1" --cancel-rate 60 --drop-rate 60
expect 2 "[-]-tolerate: 'BAD', expected a status" stress --c1 "$c1" --tolerate BAD
expect 2 '[-]-upload-size: from 1 byte' status-latency --upload-size 0
expect 5 '^cuzk-bench status: .*"error": \{ "kind": "resources", "exit_code": 5, "message": "unix:///' status --json -
expect 5 'cannot connect to 127.0.0.1:1: Connection refused' -a http://127.0.0.1:1 status
expect 5 'cannot connect to 127.0.0.1:1: ' --log-level info --addr=127.0.0.1:1 status
expect 5 'cannot connect to 127.0.0.1:1: ' status --addr 127.0.0.1:1
expect 5 'cannot connect to 127.0.0.1:1: ' -a "unix:///$work/other.sock" status -a 127.0.0.1:1
expect 2 'bad address "nonsense": there is no port' -a nonsense status
expect 2 '[-]-addr needs a value' --addr
expect 2 "'loud', expected off, error" --log-level loud status
expect 2 'Too many arguments' status now
expect 2 '[-]-circuit-id is required' preload
expect 2 '[-]-type is required' single --c1 "$c1"
expect 2 "'wining', expected porep, snap, wpost or winning" single -t wining --c1 "$c1"
expect 2 '[-]-c1 is required for PoRep' single -t PoRep --vanilla "$c1"
expect 2 '[-]-vanilla is required for update' batch -t update --c1 "$c1"
expect 2 "[-]-randomness: 'x' at character 2 is no hex digit" single -t winning --vanilla "$c1" --randomness 00x0
expect 2 '[-]-comm-r-old: 3 hex digits, expected an even number' single -t snap --vanilla "$c1" --comm-r-old 123
expect 2 "'urgent', expected low, normal, high or critical" single -t porep --c1 "$c1" --priority urgent
expect 2 "[-]-count: '0', expected a whole number" batch -t porep --c1 "$c1" -c 0
expect 2 "[-]-concurrency: '2000', expected a whole number from 1 to 1024" batch -t porep --c1 "$c1" -j 2000
expect 2 "[-]-timeout: '1.5', expected a whole number" status --timeout 1.5
expect 3 'absent.json: cannot open: No such file' single -t porep --c1 "$work/absent.json"
: >"$work/empty"
expect 3 'empty: 0 bytes, expected a phase-1 output' batch -t porep --c1 "$work/empty"
expect 3 'empty: 0 bytes, expected vanilla proofs' single -t wpost --vanilla "$work/empty"
printf '["AAAA", "AA*A"]' >"$work/array"
expect 3 'array: entry 1: character 2 is not base64' single -t winning --vanilla "$work/array"
printf '["AAA"]' >"$work/array"
expect 3 'array: entry 0: 3 characters of base64, expected a multiple of 4 with padding' single -t winning \
    --vanilla "$work/array"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
