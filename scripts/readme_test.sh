#!/bin/bash
# Does what README.md says, line by line, in a Debian that has git, gcc and make: as root, as it
# installs.
#
#   scripts/chroot_test.sh SUITE -- scripts/readme_test.sh
#
# Lines of indented blocks that begin with "$ ", "make" or "sudo" are run in their order, in one
# shell; the C program that is shown becomes lookup.c in a temporary folder, and lines that begin with ">>>" are
# given to Python. What is not run, and why, is said. The last line is "README: N lines run, N not".
set -euo pipefail
cd "$(dirname "$0")/.."
sudo() { "$@"; }
[ "$(id -u)" = 0 ] || { echo "readme_test.sh installs things: run it by scripts/chroot_test.sh" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
run=0 not=0

# The commands, one a line; blocks of C and Python by their own.
awk '/^    \$ / { sub(/^    \$ /, ""); on = 1 }
	/^    (make|sudo) / || /^    make$/ { sub(/^    /, ""); on = 1 }
	on { sub(/[ \t]+#.*/, ""); on = /\\$/; sub(/\\$/, ""); printf on ? "%s " : "%s\n", $0 }' README.md > "$tmp/commands"
awk '/^    #include <stdio.h>$/ { on = 1 } on && (/^[^ ]/ || /^    \$/) { exit } on { sub(/^    /, ""); print }' \
	README.md > "$tmp/lookup.c"
sed -n 's/^    >>> //p' README.md > "$tmp/shown.py"
[ -s "$tmp/lookup.c" ] && [ -s "$tmp/shown.py" ] || { echo "README.md shows no C, or no Python" >&2; exit 1; }

# What a line needs that is not here; what can be made is made: a core file, logs.
lacks() {
	case $1 in
	"make test") echo "it is run by itself" ;;
	*/usr/lib/debug/boot* | *"[kvm]"*) echo "no debug information of a kernel" ;;
	*mill.*) [ -e mill.prof ] || echo "no profile" ;;
	*"symcache core core"*)
		(ulimit -c unlimited; build/demo/bin/bill < testdata/demo/orders.txt) > /dev/null 2>&1 || true
		[ -e core ] || echo "core files do not land in the folder here" ;;
	*crashes/*) mkdir -p crashes && cp build/demo/crash.log crashes/a.log && cp build/demo/crash.log crashes/b.log ;;
	*"--for-log crash.log"*) cp build/demo/crash.log . ;;
	*pkg-config*) command -v pkg-config > /dev/null || apt-get install -qq pkg-config > /dev/null 2>&1 || echo "no pkg-config" ;;
	esac
}
installed_path=$PATH
while read -r line; do
	why=$(lacks "$line")
	if [ -n "$why" ]; then
		echo "not run: $line: $why"
		not=$((not + 1))
		continue
	fi
	echo "$ $line"
	case $line in # libc is not in the store
	"cc lookup.c "*) line="(cd '$tmp' && $line)" ;;
	"symcache core "* | "symcache export "*--for-log*) line="$line || [ \$? = 1 ]" ;;
	esac
	eval "$line" > "$tmp/out" 2>&1 < /dev/null ||
		{ status=$?; tail -n 30 "$tmp/out"; echo "FAILED: $line (status $status)"; exit 1; }
	run=$((run + 1))
done < "$tmp/commands"

# What it led to: the program, the C program, the module of Python, each as installed.
PATH=$installed_path
[ "$(command -v symcache)" = /usr/local/bin/symcache ]
unset SYMCACHE_STORE
cc -g -o "$tmp/subject" "$tmp/lookup.c" $(pkg-config --cflags --libs symcache)
symcache index --quiet "$tmp/subject" /lib/*/libc.so.6
at=0x$(nm "$tmp/subject" | sed -n 's/ T main$//p')
"$tmp/a.out" subject "$at" > "$tmp/out" || { cat "$tmp/out"; exit 1; }
grep -q '^main at .*/lookup.c:6$' "$tmp/out" || { cat "$tmp/out"; echo "FAILED: ./a.out subject $at"; exit 1; }
grep -q 'make install-python' README.md
make --no-print-directory install-python > "$tmp/out" 2>&1 || { tail -n 30 "$tmp/out"; echo "FAILED: make install-python"; exit 1; }
at=0x$(nm -D /lib/*/libc.so.6 | sed -n 's/ T malloc@@.*//p')
{ echo "import array; addresses = array.array('Q', [$at, $at + 4])"; cat "$tmp/shown.py"
  echo "assert cache.frames($at) and len(ids) >= 2, ids"; } > "$tmp/all.py"
(cd / && env -u LD_LIBRARY_PATH python3 "$tmp/all.py") || { echo "FAILED: Python, as README.md shows it"; exit 1; }

# The wheel works where nothing of this is installed.
grep -q 'make wheel' README.md
make --no-print-directory wheel > "$tmp/out" 2>&1 || { tail -n 30 "$tmp/out"; echo "FAILED: make wheel"; exit 1; }
make --no-print-directory uninstall > /dev/null
mkdir "$tmp/wheel"
python3 -m zipfile -e build/symcache-*.whl "$tmp/wheel"
echo 'assert not [m for m in open("/proc/self/maps") if "lib" in m and any(n in m for n in ("symcache", "libdw", "lmdb"))
	and "/wheel/" not in m]' >> "$tmp/all.py"
(cd / && PYTHONPATH=$tmp/wheel python3 "$tmp/all.py") || { echo "FAILED: Python with the wheel"; exit 1; }
run=$((run + $(wc -l < "$tmp/shown.py") + 2))
echo "README: $run lines run, $not not"
