#!/bin/bash
# The packages of `make deb` hold what `make install` installs, and depend on what they need.
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
mapfile -t packages < <("${TEST_MAKE:-make}" -s deb | tail -n 2)
package=${packages[0]} library=${packages[1]}
root=$scratch/root
dpkg-deb -x "$package" "$root"
dpkg-deb -x "$library" "$scratch/library"

holds_what_it_should() {
  local file
  for file in root/usr/bin/slimgraph root/usr/share/man/man1/slimgraph-bfs.1.gz \
    root/usr/share/bash-completion/completions/slimgraph \
    root/usr/share/zsh/site-functions/_slimgraph \
    root/usr/share/doc/slimgraph/copyright library/usr/include/slimgraph/session/session.h \
    library/usr/lib/libslimgraph.a library/usr/lib/pkgconfig/slimgraph.pc \
    library/usr/lib/cmake/SlimGraph/SlimGraphConfig.cmake; do
    [ -f "$scratch/$file" ] || { echo "not in the packages: $file"; return 1; }
  done
}
# No file is in both packages, and together they have what `make install` installs.
holds_all() {
  "${TEST_MAKE:-make}" -s install DESTDIR="$scratch/installed" PREFIX=/usr >/dev/null
  diff <(cd "$scratch/installed" && find usr -type f | sort) \
    <(cd "$root" && find usr -type f | grep -v share/doc/ | sed 's/\.1\.gz$/.1/' | sort - \
      <(cd "$scratch/library" && find usr -type f | grep -v share/doc/ | sort))
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
recommends_the_lab() {
  case "$(dpkg-deb -f "$package" Recommends)" in *python3-pandas*) ;; *) return 1 ;; esac
}
version() { "$root/usr/bin/slimgraph" version | cut -d ' ' -f 2; }
# The library is of the same version as the command, which its memory nodes run.
library_needs() {
  local of
  for of in "slimgraph (= $(version))" libfmt-dev libexpected-dev libmpich-dev; do
    case ", $(dpkg-deb -f "$library" Depends)," in *", $of,"*) ;; *)
      echo "not $of"
      return 1
      ;;
    esac
  done
}
sums_are_right() {
  dpkg-deb -e "$package" "$scratch/control"
  (cd "$root" && md5sum --quiet -c "$scratch/control/md5sums")
}

check "the packages hold what they should" holds_what_it_should
check "the packages hold what is installed" holds_all
check "the library names what it needs" library_needs
check "the installed command computes on two nodes" computes
check "the package names its libraries" names_its_libraries
check "the package names the launcher" names_the_launcher
check "the package recommends what experiments need" recommends_the_lab
check "the checksums are those of the files" sums_are_right
check "the version is the command's" \
  [ "$(dpkg-deb -f "$package" Version)" = "$(version)" ]
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
