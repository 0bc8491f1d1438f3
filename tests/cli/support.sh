# What the tests of the command-line tools share; source it. Counts in `passed` and `failed`.
passed=0
failed=0

# expect_of PROGRAM CODE PATTERN ARGUMENT...: run the program, compare the exit code, and look for an extended regular
# expression in what it prints (stdout and stderr together, spaces and line breaks as one space).
expect_of() {
    program=$1 code=$2 pattern=$3
    shift 3
    output=$("$program" "$@" 2>&1 </dev/null)
    got=$?
    flat=$(printf '%s' "$output" | tr -s ' \n' ' ')
    if [ "$got" -ne "$code" ]; then
        echo "FAILED: ${program##*/} $*: exit code $got, expected $code: $output"
        failed=$((failed + 1))
    elif ! printf '%s' "$flat" | grep -qE -e "$pattern"; then
        echo "FAILED: ${program##*/} $*: no '$pattern' in: $output"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# check DESCRIPTION COMMAND...
check() {
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $what"
        failed=$((failed + 1))
    fi
}
