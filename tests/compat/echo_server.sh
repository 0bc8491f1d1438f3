# To be sourced: over_each_address SERVER COMMAND... runs `COMMAND... ADDRESS` against a new echo server for each
# form of address that a client may be given. 1 if a command or the server fails.
over_each_address() {
    server=$1
    shift
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkfifo "$folder/stdin" "$folder/stdout"
    "$server" 8388608 "unix://$folder/echo.sock" 127.0.0.1:0 <"$folder/stdin" >"$folder/stdout" &
    server_pid=$!
    exec 3>"$folder/stdin" 4<"$folder/stdout"
    read -r unix_address <&4
    read -r tcp_address <&4
    failed=0
    for address in "$unix_address" "unix:$folder/echo.sock" "$tcp_address"; do
        echo "--- $address"
        "$@" "$address" || failed=1
    done
    exec 3>&-
    if ! wait "$server_pid"; then
        echo "the server ended with an error"
        failed=1
    fi
    return $failed
}
