#!/bin/sh
# Install the Debian 12 packages cuzk needs that are not installed yet. With --dev also what CI needs beyond
# the product and its tests (clang for fuzzing, clang-format, protoc, a browser
# for the dashboard).
set -eu

packages="gcc g++ make cmake pkg-config libssl-dev libyajl-dev libtomcrypt-dev libnghttp2-dev libmicrohttpd-dev
libtomlplusplus-dev libsqlite3-dev libcmocka-dev libzstd-dev"
if [ "${1:-}" = "--dev" ]; then
    packages="$packages clang-14 libclang-rt-14-dev clang-format-14 llvm-14 python3 protobuf-compiler chromium nodejs"
elif [ $# -gt 0 ]; then
    echo "usage: $0 [--dev]" >&2
    exit 2
fi

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null; then
    as_root="sudo"
else
    echo "these packages must be installed by root: apt-get install$missing" >&2
    exit 1
fi
$as_root apt-get update -q
# shellcheck disable=SC2086 -- the list is meant to split
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
