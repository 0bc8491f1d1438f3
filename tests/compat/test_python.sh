#!/bin/sh
# test_python.sh ECHO_SERVER: the grpcio client against the echo server. Skipped (status 77) without its packages
# (tests/compat/python/requirements.txt); CUZK_COMPAT_PYTHON names the Python that has them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${CUZK_COMPAT_PYTHON:-python3}
if ! "$python" -c 'import grpc, google.protobuf' >/dev/null 2>&1; then
    echo "skipped: $python has no grpcio or protobuf"
    exit 77
fi
. "$here/echo_server.sh"
over_each_address "$1" "$python" "$here/python/client.py"
