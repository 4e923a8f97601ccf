#!/bin/sh
# Runs one of the packages' tests (scripts/debian/tests) as root in a Debian that has nothing else:
# installs what it depends on, the packages out of a folder with a list of them, Packages.
#
#   scripts/chroot_test.sh -i "" -b build/deb:/debs SUITE -- scripts/deb_test.sh NAME
set -eu
name=$1 control=scripts/debian/tests/control
depends=$(awk -v RS= -v name="$name" '$0 ~ "Tests: " name "\n"' "$control" | sed -n 's/^Depends: //p')
[ -n "$depends" ] || { echo "deb_test.sh: $control has no test '$name'" >&2; exit 2; }
echo "deb [trusted=yes] file:/debs ./" > /etc/apt/sources.list.d/symcache.list
# Of alternatives ("pkgconf | pkg-config") the first.
packages=$(echo "$depends" | tr ',' '\n' | sed 's/|.*//; s/(.*//' | tr -d ' ')
{ apt-get update -qq && apt-get install -qq --no-install-recommends $packages; } > /tmp/apt.log 2>&1 ||
	{ cat /tmp/apt.log; exit 1; }
AUTOPKGTEST_TMP=$(mktemp -d)
export AUTOPKGTEST_TMP
"scripts/debian/tests/$name"
