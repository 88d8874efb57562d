#!/bin/bash
# The package of `make deb` holds what `make install` installs, and depends on what it needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v dpkg-shlibdeps >/dev/null || { echo "no dpkg-dev"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
check() { # check NAME COMMAND…
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

unset MAKEFLAGS MAKELEVEL MFLAGS
package=$("${TEST_MAKE:-make}" -s deb | tail -n 1)
dpkg-deb -x "$package" "$scratch/root"
root=$scratch/root

holds_what_it_should() {
  local file
  for file in usr/bin/slimgraph usr/lib/libslimgraph.a usr/share/man/man1/slimgraph-bfs.1.gz \
    usr/share/bash-completion/completions/slimgraph usr/share/zsh/site-functions/_slimgraph \
    usr/include/slimgraph/fabric/fabric.h usr/share/doc/slimgraph/copyright; do
    [ -f "$root/$file" ] || { echo "not in the package: $file"; return 1; }
  done
}
computes() {
  "$root/usr/bin/slimgraph" gen kron -s 8 -o "$scratch/g.slim" >/dev/null &&
    "$root/usr/bin/slimgraph" pagerank "$scratch/g.slim" --nodes 2 --verify >/dev/null 2>&1
}
depends=$(dpkg-deb -f "$package" Depends)
# Each library that the command loads is of a package in Depends.
names_its_libraries() {
  local library owner found
  for library in $(objdump -p "$root/usr/bin/slimgraph" | awk '$1 == "NEEDED" {print $2}'); do
    found=
    # Several packages may have a library of this name, for other processors.
    for owner in $(dpkg -S "*/$library" | cut -d : -f 1); do
      case ", $depends," in *", $owner "* | *", $owner,"*) found=yes ;; esac
    done
    [ -n "$found" ] || { echo "$library is of no package in '$depends'"; return 1; }
  done
}
names_the_launcher() { case "$depends" in *", mpich") ;; *) return 1 ;; esac; }
sums_are_right() {
  dpkg-deb -e "$package" "$scratch/control"
  (cd "$root" && md5sum --quiet -c "$scratch/control/md5sums")
}

check "the package holds what it should" holds_what_it_should
check "the installed command computes on two nodes" computes
check "the package names its libraries" names_its_libraries
check "the package names the launcher" names_the_launcher
check "the checksums are those of the files" sums_are_right
check "the version is the command's" \
  [ "$(dpkg-deb -f "$package" Version)" = "$("$root/usr/bin/slimgraph" version | cut -d ' ' -f 2)" ]
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
