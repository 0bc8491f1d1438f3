#!/bin/sh
# Regenerate every generated source file and compare it with the checked-in one. Fails when one differs.
# Without python3 it says so and passes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if ! command -v python3 >/dev/null 2>&1; then
    echo "check_generated: skipped, there is no python3"
    exit 0
fi
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
status=0
check() { # generator, file
    python3 "$root/$1" >"$fresh"
    if cmp -s "$fresh" "$root/$2"; then
        echo "check_generated: $2 is what $1 gives"
    else
        echo "check_generated: $2 differs from what $1 gives" >&2
        status=1
    fi
}
check scripts/gen_poseidon.py src/hash/poseidon_constants.c
if command -v protoc >/dev/null 2>&1; then
    check scripts/gen_descriptors.py src/rpc/descriptors.c
else
    echo "check_generated: src/rpc/descriptors.c skipped, there is no protoc"
fi
exit $status
