#!/bin/sh
# Goals that only build name missing packages and install nothing. Other goals install them.
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL MFLAGS
passed=0 failed=0
check() { # NAME COMMAND…
  name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# The call of install-packages that make would run for a goal on a fresh tree.
asks() {
  "${TEST_MAKE:-make}" -n -W make/toolchain.mk "$1" 2>/dev/null | grep install-packages |
    head -n 1
}
only_names() { asks "$1" | grep -q -- --only-name; }
installs() { asks "$1" | grep -q 'install-packages [^-]'; }

refuses() {
  code=0
  said=$(.ci/install-packages --only-name no-such-package-of-ours 2>&1) || code=$?
  [ "$code" = 4 ] && echo "$said" | grep -q 'missing packages:.* no-such-package-of-ours'
}

for goal in all install build/release/slimgraph; do
  check "make $goal installs nothing" only_names "$goal"
done
for goal in deps run test lint; do
  check "make $goal installs" installs "$goal"
done
check "what is missing is named" refuses
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
