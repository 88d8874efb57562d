#!/bin/bash
# The files that `make install` installs are sufficient: the examples build with pkg-config and with
# CMake, by plain g++, as by a user, and compute what they should.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mapfile -t examples < <(cd examples && ls ./*.cc | sed 's|^\./||; s|\.cc$||')
passed=0 failed=0

check() { # check NAME COMMAND…: counts one test
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# Install into a stage and move it, because no installed file may depend on the build's path.
unset MAKEFLAGS MAKELEVEL MFLAGS
"${TEST_MAKE:-make}" -s install DESTDIR="$scratch/stage" PREFIX=/opt/slim >/dev/null
mv "$scratch/stage/opt/slim" "$scratch/moved"
root=$scratch/moved

holds_what_it_should() {
  local file
  for file in bin/slimgraph lib/libslimgraph.a lib/pkgconfig/slimgraph.pc \
    lib/cmake/SlimGraph/SlimGraphConfig.cmake lib/cmake/SlimGraph/SlimGraphConfigVersion.cmake \
    include/slimgraph/session/session.h share/bash-completion/completions/slimgraph \
    share/zsh/site-functions/_slimgraph share/slimgraph/python/slimgraph/lab/page.html; do
    [ -f "$root/$file" ] || { echo "not installed: $file"; return 1; }
  done
  ! [ -e "$root/include/txnlayer" ] && ! [ -e "$root/include/apps" ]
}

# There is a page for each command and subcommand, and it names all options of the help.
has_man_pages() {
  local page option
  for page in slimgraph slimgraph-bfs slimgraph-txn slimgraph-txn-run slimgraph-store-apply; do
    [ -f "$root/share/man/man1/$page.1" ] || { echo "no man page $page"; return 1; }
  done
  for option in $("$root/bin/slimgraph" txn run --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
    sed 's/\\-/-/g' "$root/share/man/man1/slimgraph-txn-run.1" | grep -F -- "$option" >/dev/null ||
      { echo "slimgraph-txn-run.1 lacks $option"; return 1; }
  done
}

# The command finds the lab below its prefix.
has_the_lab() {
  echo '{"command":"bfs","time":{"run_s":1}}' >"$scratch/run"
  "$root/bin/slimgraph" compare "$scratch/run" "$scratch/run" | grep -q '^1 points, 1 measures'
}

knows_no_place() { ! grep -rlF -e "$PWD" -e "$scratch" "$root/lib/pkgconfig" "$root/lib/cmake" \
  "$root/share/man"; }

# Those of simulations are included by simulations alone.
headers_include_what_is_there() {
  local header
  (cd "$root/include" && grep -rhoP '^#include "\K[^"]+' . | grep -v /sim/ | sort -u |
    while read -r header; do
    [ -f "$header" ] || { echo "included, but not installed: $header"; exit 1; }
  done)
}

builds_with_pkg_config() {
  export PKG_CONFIG_PATH=$root/lib/pkgconfig
  mkdir "$scratch/pkg-config"
  # shellcheck disable=SC2046
  g++ -std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags slimgraph) examples/khop.cc \
    $(pkg-config --libs slimgraph) -o "$scratch/pkg-config/khop"
  # shellcheck disable=SC2046
  g++ -std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags slimgraph) examples/friends.cc \
    $(pkg-config --libs slimgraph) -o "$scratch/pkg-config/friends"
}

builds_with_cmake() {
  cmake -S tests/install -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$root" -DCMAKE_CXX_COMPILER=g++ \
    -DEXAMPLES="$(printf "$PWD/examples/%s.cc;" "${examples[@]}")" \
    >"$scratch/log" 2>&1 && cmake --build "$scratch/cmake" -j "$(nproc)" >>"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; return 1; }
}

computes() { PYTHONDONTWRITEBYTECODE=1 tests/install/check_example.py "$root/bin/slimgraph" "$@"; }

refuses_another_version() {
  sed 's/SlimGraph 0.1/SlimGraph 0.2/' tests/install/CMakeLists.txt >"$scratch/CMakeLists.txt"
  ! cmake -S "$scratch" -B "$scratch/other" -DCMAKE_PREFIX_PATH="$root" >/dev/null 2>&1
}

check "the files are there, and no others" holds_what_it_should
check "every command has a man page" has_man_pages
check "the command finds the lab" has_the_lab
check "no file names the place of its build" knows_no_place
check "headers include what is installed" headers_include_what_is_there
check "an example builds with pkg-config" builds_with_pkg_config
check "an example that pkg-config built computes" computes "$scratch/pkg-config/khop"
check "the examples build with CMake" builds_with_cmake
check "transactions that pkg-config built compute" computes "$scratch/pkg-config/friends"
for example in "${examples[@]}"; do
  check "$example computes" computes "$scratch/cmake/$example"
done
check "CMake refuses another series of versions" refuses_another_version
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
