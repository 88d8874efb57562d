#!/bin/bash
# clean_debian.sh COMMAND.deb LIBRARY.deb: installs the packages in a fresh Debian 12, computes on
# four nodes with the command, and builds and runs an example with the library. Needs root and
# mmdebstrap.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v mmdebstrap >/dev/null || { echo "clean_debian: install mmdebstrap" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/in"
cp "$@" examples/pagerank_delta.cc "$scratch/in/"
chmod -R a+rX "$scratch"
cat >"$scratch/in/try.sh" <<'TRY'
set -eux
cd /in
apt-get install -y -qq --no-install-recommends ./slimgraph_*.deb >/dev/null
slimgraph gen kron -s 10 -o k.slim
slimgraph pagerank k.slim --nodes 4 --compute 2 --verify
apt-get install -y -qq --no-install-recommends ./slimgraph-dev_*.deb pkg-config cmake make \
  >/dev/null
g++ -std=c++20 -O2 pagerank_delta.cc $(pkg-config --cflags --libs slimgraph) -o with_pkg_config
./with_pkg_config k.slim 1e-9 >of_pkg_config
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(example CXX)
find_package(SlimGraph REQUIRED)
add_executable(with_cmake pagerank_delta.cc)
target_link_libraries(with_cmake SlimGraph::slimgraph)
CMAKE
cmake -B of >/dev/null
cmake --build of >/dev/null
of/with_cmake k.slim 1e-9 >of_cmake
cmp of_pkg_config of_cmake
slimgraph launch --nodes 3 --compute 2 -- ./with_pkg_config k.slim 1e-9 3
apt-get remove -y -qq slimgraph >/dev/null
test ! -e /usr/bin/slimgraph
test ! -e /usr/lib/libslimgraph.a
TRY
mmdebstrap --variant=minbase --customize-hook="copy-in $scratch/in /" \
  --customize-hook='chroot "$1" sh /in/try.sh' bookworm /dev/null
echo "1 passed, 0 failed"
