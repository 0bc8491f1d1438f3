#!/bin/sh
# cuzk-daemon as a user runs it: settings, their sources and mistakes, exit codes; and the files of dist/.
# usage: test_daemon.sh CUZK_DAEMON SOURCE_DIR
daemon=$1
source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/support.sh"
for variable in $(env | sed -n 's/^\(CUZK_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
unset FIL_PROOFS_PARAMETER_CACHE

# expect CODE PATTERN ARGUMENT...
expect() { expect_of "$daemon" "$@"; }

good=$work/good.toml
cat >"$good" <<'TOML'
[daemon]
listen = "unix:///tmp/cuzk.sock"
drain_timeout = "90s"
[scheduler]
max_queue = 50
TOML

# --- usage and help
expect 0 'Usage: cuzk-daemon COMMAND.*Example: cuzk-daemon' --help
expect 0 'cuzk-daemon [0-9.]+ commit: ' --version
expect 2 "unknown command 'rum'" rum
expect 2 'Usage: cuzk-daemon config COMMAND' config
for command in check dump example reference; do
    expect 0 'Example: cuzk-daemon config' config $command --help
    expect 2 "unrecognized option '--frobnicate'" config $command --frobnicate
done
expect 2 "unexpected argument 'more'" config check more

# --- values and where they come from
expect 0 '# file: .*/good.toml .daemon. listen = "unix:///tmp/cuzk.sock" +# file .*good.toml:2:1' config dump -c "$good"
expect 0 'max_queue = 50 +# file .*good.toml:5:1' config dump -c "$good"
expect 0 'max_connections = 4096 +# default' config dump -c "$good"
expect 0 'total_budget = "[0-9]+[MG]iB" +# default, auto' config dump -c "$good"
CUZK_SCHEDULER_MAX_QUEUE=60 expect 0 'max_queue = 60 +# environment CUZK_SCHEDULER_MAX_QUEUE' config dump -c "$good"
FIL_PROOFS_PARAMETER_CACHE=/p expect 0 'param_cache = "/p" +# environment FIL_PROOFS' config dump -c "$good"
CUZK_DAEMON_LISTEN=127.0.0.1:1 expect 0 'listen = "127.0.0.1:2" +# flag --listen' config dump -c "$good" -l 127.0.0.1:2
expect 0 'level = "debug" +# flag --log-level' config dump -c "$good" --log-level debug
expect 0 'level = "trace"' config dump -c "$good" --log-level debug --log-level=trace
expect 0 'preload = ."porep-2k", "porep-8m".' config dump -c "$good" --preload porep-2k,porep-8m
expect 0 'drain_timeout = "2h"' config dump -c "$good" --drain-timeout 120m
expect 0 '"key": "scheduler.max_queue", "value": 50, "source": "file"' config dump -c "$good" --json

# What dump prints is a settings file with the same values.
"$daemon" config dump -c "$good" >"$work/dumped.toml"
"$daemon" config dump -c "$work/dumped.toml" | sed 's/ *#.*//' >"$work/again"
sed 's/ *#.*//' "$work/dumped.toml" >"$work/first"
check 'a dump, read again, differs' cmp "$work/first" "$work/again"

# --- mistakes
expect 0 'good.toml: ok' config check -c "$good"
expect 0 '"ok": true' config check -c "$good" --json
expect 3 'absent.toml: .*No such file' config check -c "$work/absent.toml"
expect 3 'config check: .*directory' config check -c "$work"
printf '[daemon]\n\nlisen = 1\n' >"$work/bad.toml"
expect 3 'bad.toml:3:1: unknown key daemon.lisen; did you mean daemon.listen' config check -c "$work/bad.toml"
expect 3 '"kind": "input", "exit_code": 3, "path": ".*bad.toml:3:1", "message": "unknown key' \
    config check -c "$work/bad.toml" --json
expect 3 'bad.toml:3:1' config dump -c "$work/bad.toml"
expect 2 '[-]-log-level: logging.level: .loud., expected one of: off, error' config check -c "$good" --log-level loud
expect 2 '[-]-listen: daemon.listen: .here., expected unix:///PATH' config check -c "$good" -l here
CUZK_MEMORY_TOTAL_BUDGET=much expect 2 'CUZK_MEMORY_TOTAL_BUDGET: memory.total_budget: .much., expected a size' \
    config check -c "$good"
printf '[srs]\npreload = ["porep-2k"]\n[gpus]\ngpu_threads = 32\n' >"$work/old.toml"
expect 0 'warning: .*old.toml:2:1: srs.preload is deprecated and has no effect: use keys.preload' \
    config check -c "$work/old.toml"
expect 0 'warning: .*old.toml:4:1: gpus.gpu_threads has no effect' config check -c "$work/old.toml"
CUZK_NO_SUCH=1 expect 0 'warning: the variable CUZK_NO_SUCH is no setting' config check -c "$good"
expect 0 'warning: --listen: daemon.listen 0.0.0.0:9820 can be reached from other machines' \
    config check -c "$good" -l 0.0.0.0:9820

# --- run
expect 0 'Example: cuzk-daemon run' run --help
expect 2 "unexpected argument 'more'" run more
expect 2 "unrecognized option '--frobnicate'" --frobnicate
expect 3 'bad.toml:3:1: unknown key' run -c "$work/bad.toml"
expect 3 'bad.toml:3:1: unknown key' -c "$work/bad.toml"
expect 5 'cannot serve' run -c "$good" -l "unix://$work/absent/cuzk.sock"

# A daemon in the background; a second one cannot have its socket; SIGTERM ends the first and its socket.
"$daemon" -c "$good" -l "unix://$work/run.sock" --threads 1 --log-format json 2>"$work/run.log" &
first=$!
waited=0
while ! grep -q '"message":"serving"' "$work/run.log" && kill -0 $first 2>/dev/null && [ $waited -lt 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
check 'the daemon made no socket' test -S "$work/run.sock"
check 'its mode is not 660' test "$(stat -c %a "$work/run.sock")" = 660
expect 5 'another (server holds|process listens on) this socket' run -c "$good" -l "unix://$work/run.sock" --threads 1
check 'the second one took the socket away' test -S "$work/run.sock"
kill -TERM $first
wait $first
ended=$?
check "the daemon ended with $ended" test $ended -eq 0
check 'the socket is left' test ! -e "$work/run.sock"
check 'not every line of the log is JSON' sh -c "! grep -v '^{.*}\$' '$work/run.log'"

# --- what is shipped
"$daemon" config example >"$work/example.toml"
check 'dist/cuzk.toml is not what config example prints' cmp "$work/example.toml" "$source/dist/cuzk.toml"
expect 0 'cuzk.toml: ok$' config check -c "$source/dist/cuzk.toml"
sed 's/^#\([a-z]\)/\1/' "$source/dist/cuzk.toml" >"$work/all.toml"
expect 0 'all.toml: ok$' config check -c "$work/all.toml"
expect 0 'daemon.listen' config reference

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
