#!/bin/sh
# test_go.sh ECHO_SERVER BUILD_FOLDER: the Go client against the echo server, over a Unix socket and TCP. Skipped
# (status 77) without Go, or without the client's modules in Go's module cache: nothing is downloaded here
# (`go mod download` in tests/compat/go does it).
set -eu
server=$1
build=$2
client=$(cd "$(dirname "$0")/go" && pwd)
if ! command -v go >/dev/null 2>&1; then
    echo "skipped: there is no Go"
    exit 77
fi
mkdir -p "$build"
# With the modules there, a client that does not compile is a failure.
if ! (cd "$client" && GOPROXY=off GOFLAGS=-mod=readonly go list -deps . >/dev/null 2>&1); then
    echo "skipped: the client's modules are not in Go's module cache"
    exit 77
fi
(cd "$client" && GOPROXY=off GOFLAGS=-mod=readonly go build -o "$build/cuzk-compat" .)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/stdin" "$folder/stdout"
"$server" 8388608 "unix://$folder/echo.sock" 127.0.0.1:0 <"$folder/stdin" >"$folder/stdout" &
server_pid=$!
exec 3>"$folder/stdin" 4<"$folder/stdout"
read -r unix_address <&4
read -r tcp_address <&4
status=0
for address in "$unix_address" "unix:$folder/echo.sock" "$tcp_address"; do
    echo "--- $address"
    "$build/cuzk-compat" -addr "$address" -limit 8388608 -slow slow- || status=1
done
exec 3>&-
wait "$server_pid" || { echo "the server ended with an error"; status=1; }
exit $status
