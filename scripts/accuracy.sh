#!/bin/bash
# Compares look-ups with other tools, address by address, and prints a table.
#
#   scripts/accuracy.sh PROGRAM [-n ADDRESSES] [-s SAMPLES] [--corpus] [FILE...]
#
# Without FILEs: libc and python3.11 with their -dbg packages, 20,000 addresses each,
# and their variables; programs in Rust and Go, where there is a compiler; with --corpus
# also what scripts/corpus.sh has fetched. The other tool is llvm-symbolizer-19; for
# relocatable objects eu-addr2line, for files with a dwz supplementary file gdb, for
# variables llvm-dwarfdump-19 (see compare_frames.py). What the classes of difference
# come from stands in testdata/accepted-differences.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PROGRAM=$(realpath "${1:?usage: scripts/accuracy.sh PROGRAM [-n N] [-s N] [--corpus] [FILE...]}")
shift
options=() corpus=
while [ $# -gt 0 ]; do
	case $1 in
	-n|-s) options+=("$1" "${2:?$1 needs a number}"); shift ;;
	--corpus) corpus=1 ;;
	-*) echo "accuracy.sh: what is $1?" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# No store: caches are made on the spot, by this very program.
export SYMCACHE_STORE=$work/store

# The debug file of an installed program, by its build ID.
debug_file() {
	readelf -n "$1" | sed -n 's|.*Build ID: \(..\)\(.*\)|/usr/lib/debug/.build-id/\1/\2.debug|p'
}

header=
# compare OPTION... FILE
compare() {
	nice python3 "$here/compare_frames.py" $header "${options[@]}" "$PROGRAM" "$@" || true
	header=--no-header
}

code() {
	local with=llvm
	! readelf -SW "$1" 2> /dev/null | grep -q '\.gnu_debugaltlink' || with=gdb
	compare --with $with --debug-dir "$(realpath "${1%%/.build-id/*}")" "$1"
}

# Programs of languages whose debug information is peculiar.
make_programs() {
	if command -v rustc > /dev/null && rustc -g -O -o "$work/rust" \
			"$here/../testdata/layouts/shop.rs" 2> /dev/null; then
		code "$work/rust"
	else
		echo "skipped: no Rust program (rustc)"
	fi
	if command -v go > /dev/null && GOCACHE=$work/go-cache GOFLAGS=-mod=mod \
			go build -o "$work/go" "$here/../testdata/layouts/shop.go" 2> /dev/null; then
		code "$work/go"
	else
		echo "skipped: no Go program (golang-go)"
	fi
}

if [ $# -gt 0 ]; then
	for f; do code "$f"; done
	exit
fi
libc=$(debug_file "$(ldconfig -p | sed -n 's/.*libc\.so\.6 .*x86-64.*=> //p' | head -n 1)")
python=$(debug_file /usr/bin/python3.11)
for f in "$libc" "$python"; do
	if [ -e "$f" ]; then code "$f"; else echo "skipped: there is no $f"; fi
done
make_programs
if [ -n "$corpus" ]; then
	files=$("$here/corpus.sh" list)
	[ -n "$files" ] || echo "skipped: corpus/ is empty (scripts/corpus.sh fetches it)"
	for f in $files; do code "$f"; done
fi
echo "variables"
for f in "$libc" "$python"; do
	[ ! -e "$f" ] || compare --data --with dump "$f"
done
