#!/bin/sh
# Layers point one way: a folder of src/ may include only from the folders before it in the list (and from
# itself). Prints every include that breaks this and fails.
set -eu
cd "$(dirname "$0")/.."

order="base field curve ntt msm hash r1cs gadget filecoin circuit groth16 engine api rpc server cli"
# Beyond the order: who knows nothing of whom.
forbidden="gadget:filecoin filecoin:r1cs filecoin:gadget groth16:filecoin groth16:circuit groth16:gadget
hash:curve hash:ntt hash:msm r1cs:curve r1cs:ntt r1cs:msm filecoin:curve filecoin:ntt filecoin:msm
rpc:field rpc:curve rpc:ntt rpc:msm rpc:hash rpc:r1cs rpc:gadget rpc:filecoin rpc:circuit rpc:groth16 rpc:engine
rpc:api"

bad=0
position() {
    i=0
    for name in $order; do
        i=$((i + 1))
        [ "$name" = "$1" ] && { echo $i; return; }
    done
    echo 0
}
for layer in $order; do
    [ -d "src/$layer" ] || continue
    mine=$(position "$layer")
    for used in $(grep -rhoE '^#include "[a-z0-9_]+/' "src/$layer" | sed 's/.*"//; s,/,,' | sort -u); do
        [ "$used" = cuzk ] && continue
        theirs=$(position "$used")
        [ "$theirs" -eq 0 ] && continue
        reason=""
        [ "$theirs" -gt "$mine" ] && reason="which comes after it"
        for pair in $forbidden; do
            [ "$pair" = "$layer:$used" ] && reason="which it must not know"
        done
        if [ -n "$reason" ]; then
            echo "src/$layer includes from src/$used, $reason:"
            grep -rnE "^#include \"$used/" "src/$layer"
            bad=1
        fi
    done
done
# Only the command-line tools print or exit.
if grep -rnE '\b(printf|puts|putchar|abort|exit|_exit|perror)\(' src --include='*.c' --include='*.h' |
    grep -vE '^src/cli/|snprintf|vsnprintf'; then
    echo "printing or exiting below src/cli"
    bad=1
fi
exit $bad
