#!/bin/bash
# All objects of the plain command are compiled with its macro. If an inline function were compiled
# both with and without it, the linker would take either copy (ODR).
set -euo pipefail
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL MFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compilations=$("${TEST_MAKE:-make}" -n plain BUILD="$scratch" | grep -E -- ' -c [^ ]' || true)
[ -n "$compilations" ]
if grep -v -e ' -DSLIMGRAPH_PLAIN ' <<<"$compilations"; then exit 1; fi
