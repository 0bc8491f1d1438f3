#!/bin/sh
# test_go.sh ECHO_SERVER BUILD_FOLDER: the Go client against the echo server. Skipped (status 77) without Go, or
# without the client's modules in Go's module cache: nothing is downloaded here (`go mod download` in
# tests/compat/go does it).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
server=$1
build=$2 # an absolute path
if ! command -v go >/dev/null 2>&1; then
    echo "skipped: there is no Go"
    exit 77
fi
export GOPROXY=off GOFLAGS=-mod=readonly
if ! go -C "$here/go" list -deps . >/dev/null 2>&1; then
    echo "skipped: the client's modules are not in Go's module cache"
    exit 77
fi
mkdir -p "$build"
go -C "$here/go" build -o "$build/cuzk-compat" .
. "$here/echo_server.sh"
over_each_address "$server" "$build/cuzk-compat" -limit 8388608 -slow slow- -addr
