#!/bin/sh
# What `make install` puts where, staged below DESTDIR, and that it fits together.
# usage: test_install.sh BUILD_DIR
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# check DESCRIPTION COMMAND...
check() {
    what=$1
    shift
    "$@" || { echo "FAILED: $what"; failed=$((failed + 1)); }
}

if ! DESTDIR=$work/root cmake --install "$build" >"$work/log" 2>&1; then
    tail -20 "$work/log"
    echo "FAILED: cmake --install"
    exit 1
fi
find_one() { find "$work/root" -name "$1" -path "$2" | head -n 1; }
unit=$(find_one cuzk.service '*/lib/systemd/system/*')
settings=$(find_one cuzk.toml '*/share/doc/cuzk/*')
check 'no unit below lib/systemd/system' test -n "$unit"
check 'no commented settings in the documentation' test -n "$settings"
for name in grafana.json alerts.yml operations.md; do
    check "no $name in the documentation" test -n "$(find_one $name '*/share/doc/cuzk/*')"
done
for name in cuzk cuzk-bench cuzk-daemon; do
    path=$(find_one $name '*/bin/*')
    check "$name is not installed" test -x "$path"
    check "the installed $name does not run" sh -c "'$path' --version >/dev/null"
done

# The unit starts the program that was installed, with nothing left to fill in.
command=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
check "the unit starts '$command', which is not there" test -x "$work/root$command"
check 'the unit has a place left to fill in' sh -c "! grep -n '@' '$unit' | grep -v '@system-service'"
check 'the shipped settings are refused' sh -c "'$work/root$command' config check --config '$settings' >/dev/null"
stop=$(sed -n 's/^TimeoutStopSec=\([0-9]*\)min$/\1/p' "$unit")
drain=$(sed -n 's/^#drain_timeout = "\([0-9]*\)m"$/\1/p' "$settings")
check "TimeoutStopSec=${stop}min is not longer than drain_timeout, ${drain}m" test "${stop:-0}" -gt "${drain:-999}"

if command -v systemd-analyze >/dev/null; then
    sed "s,^ExecStart=[^ ]*,ExecStart=$work/root$command," "$unit" >"$work/cuzk.service"
    output=$(systemd-analyze verify --man=no "$work/cuzk.service" 2>&1 | grep -F cuzk.service)
    check "systemd-analyze verify: $output" test -z "$output"
else
    echo "systemd-analyze is not there: the unit was not verified"
fi
[ "$failed" -eq 0 ] && echo "installed files fit together"
exit "$failed"
