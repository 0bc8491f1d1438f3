#!/bin/sh
# The R1CS digests of the circuits of 32 and 64 GiB sectors, 130 million constraints each, within 2 GiB of memory. Minutes.
# usage: test_digests.sh CUZK
ulimit -v 2097152
failed=0
for circuit in porep-512m porep-32g porep-64g; do
    output=$("$1" r1cs digest --circuit "$circuit" --quiet 2>&1)
    if ! printf '%s' "$output" | grep -q '^reference  *the same digest$'; then
        echo "FAILED: $circuit: $output"
        failed=1
    fi
done
exit $failed
