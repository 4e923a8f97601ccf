#!/bin/bash
# Compares look-ups with other tools, address by address, and prints a table.
#
#   scripts/accuracy.sh PROGRAM [-n ADDRESSES] [-s SAMPLES] [--fetch] [FILE...]
#   scripts/accuracy.sh PROGRAM --rows
#
# Without FILEs: libc and python3 with their -dbg packages, programs in Rust and Go,
# where there is a compiler, and what scripts/corpus.sh has fetched: ceph-osd, vmlinux,
# five kernel modules, binutils, the C library of six other machines; 100,000 random
# addresses of each, up to 20,000 of each kind that is special (compare_frames.py), and
# their variables; and what first answers say, next to whole caches (first_check.c). --fetch fetches what is missing (900 MB). The other tool is llvm-symbolizer-19; for files with a
# supplementary file of dwz gdb; where variables are declared says llvm-dwarfdump-19 (see
# compare_frames.py). The classes of differences that are explained stand in
# testdata/accepted-differences.md. --rows: unwind information alone, each row that
# llvm-dwarfdump-19 prints of libc (three machines), libstdc++, python3.11, ceph-osd and vmlinux
# (compare_rows.py).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PROGRAM=$(realpath "${1:?usage: scripts/accuracy.sh PROGRAM [-n N] [-s N] [--fetch] [FILE...]}")
shift
options=(-n 100000) fetch= rows=
while [ $# -gt 0 ]; do
	case $1 in
	-n|-s) options+=("$1" "${2:?$1 needs a number}"); shift ;;
	--fetch) fetch=1 ;;
	--rows) rows=1 ;;
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

# What a file is called in the table.
title() {
	local base=${1##*/}
	case $1 in
	"$libc") echo libc ;;
	"$python") echo python3 ;;
	corpus/ceph/*) echo ceph-osd ;;
	corpus/binutils/*) echo "binutils ${base:0:8}" ;;
	*) echo "$base" ;;
	esac
}

header=
# compare FILE OPTION...
compare() {
	local file=$1
	shift
	nice python3 "$here/compare_frames.py" $header --title "$(title "$file")" \
		"${options[@]}" "$@" "$PROGRAM" "$file" || true
	header=--no-header
}

# The folder of debug files that a file stands in.
debug_dir() { realpath "${1%%/.build-id/*}"; }

code() {
	local with=llvm kinds=random,edges,gaps,plt,returns of=
	if readelf -SW "$1" 2> /dev/null | grep -q '\.gnu_debugaltlink'; then
		with=gdb kinds=random
	fi
	case $1 in
	"$libc") of=$libc_program ;;
	"$python") of=/usr/bin/python3.11 ;;
	esac
	compare "$1" --with $with --debug-dir "$(debug_dir "$1")" --kinds $kinds --section all \
		${of:+--code "$of"}
}

# Programs of languages whose debug information is peculiar.
programs=
make_programs() {
	if command -v rustc > /dev/null && rustc -g -O -o "$work/rust" \
			"$here/../testdata/layouts/shop.rs" 2> /dev/null; then
		programs="$programs $work/rust"
	else
		echo "skipped: no Rust program (rustc)"
	fi
	if command -v go > /dev/null && GOCACHE=$work/go-cache GOFLAGS=-mod=mod \
			go build -o "$work/go" "$here/../testdata/layouts/shop.go" 2> /dev/null; then
		programs="$programs $work/go"
	else
		echo "skipped: no Go program (golang-go)"
	fi
}

libc_program=$(ldconfig -p | sed -n 's/.*libc\.so\.6 .*x86-64.*=> //p' | head -n 1)
libc=$(debug_file "$libc_program")
python=$(debug_file /usr/bin/python3)
if [ $# -gt 0 ]; then
	for f; do code "$f"; done
	exit
fi
[ -z "$fetch" ] || "$here/corpus.sh" ceph kernel binutils machines programs

compare_rows() {
	local f files=
	echo "rows of unwind information: what llvm-dwarfdump says of them"
	for f in "$libc_program" corpus/machines/i386/libc-i386.debug.code \
			corpus/machines/arm64/libc-arm64.debug.code \
			"$(ldconfig -p | sed -n 's/.*libstdc++\.so\.6 .*x86-64.*=> //p' | head -n 1)" \
			corpus/programs/usr/bin/python3.11 corpus/programs/usr/bin/ceph-osd \
			corpus/kernel/usr/lib/debug/boot/vmlinux-*; do
		if [ -e "$f" ]; then files="$files $f"; else echo "skipped: there is no $f: scripts/corpus.sh"; fi
	done
	nice "$here/compare_rows.py" "$PROGRAM" $files || true
}

if [ -n "$rows" ]; then
	compare_rows
	exit
fi
make_programs
corpus=$("$here/corpus.sh" list)
files=
for f in "$libc" "$python" $programs $corpus; do
	if [ -e "$f" ]; then files="$files $f"; else echo "skipped: there is no $f"; fi
done
for name in ceph kernel binutils machines; do
	case $corpus in
	*corpus/$name/*) ;;
	*) echo "skipped: corpus/$name is not there: scripts/corpus.sh $name, or --fetch" ;;
	esac
done
for f in $files; do code "$f"; done
echo "variables: name, start, size, file and line of the declaration"
for f in $files; do
	case $f in *.ko) ;; *) compare "$f" --data --with dump --debug-dir "$(debug_dir "$f")" ;; esac
done
# Whole caches are made once, those of single addresses ADDRESSES / AT_ONCE times each.
first=${PROGRAM%/*}/scripts/first_check
if [ -x "$first" ]; then
	echo "first answers: what the whole cache says of 100,000 addresses in all"
	few= many=
	for f in $files; do
		case $f in
		corpus/ceph/*|corpus/kernel/*/vmlinux-*) few="$few $f" ;;
		*) many="$many $f" ;;
		esac
	done
	[ -z "$many" ] || nice "$first" $((96000 / $(wc -w <<< "$many") / 8 * 8)) 8 $many || true
	[ -z "$few" ] || nice "$first" 2000 50 $few || true
else
	echo "skipped: first answers: there is no $first: make accuracy"
fi
echo "names on the files that run: what llvm-symbolizer says of them"
for f in $(ldconfig -p | sed -nE 's/.*lib(c|m|stdc\+\+)\.so\.6 .*x86-64.*=> //p') /usr/bin/python3; do
	nice "$here/compare_stripped.py" "$PROGRAM" "$(realpath "$f")" || true
done
compare_rows
