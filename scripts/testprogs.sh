#!/bin/sh
# Compiles the programs that tests look into: testdata/programs → OUTDIR.
#
#   scripts/testprogs.sh OUTDIR
#
# A source says itself how it is made, in lines "recipe: COMMAND" (within the
# language's comments). They are run in order by sh in testdata/programs, with
# $SRC (the source) and $OUT (OUTDIR/name without extension); $MAP makes gcc
# write /src for the folder, so that the result does not depend on the place.
# What is newer than its source is left alone.
set -eu
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:?usage: scripts/testprogs.sh OUTDIR}")
mkdir -p "$out"
cd testdata/programs
MAP="-ffile-prefix-map=$PWD=/src"
export MAP
for SRC in *.*; do
	OUT=$out/${SRC%.*}
	export SRC OUT
	[ ! "$OUT" -nt "$SRC" ] || continue
	grep -q 'recipe: ' "$SRC" || continue
	sed -n 's/.*recipe: \(.*[^ *\/]\)[ *\/]*$/\1/p' "$SRC" | sh -e ||
		{ rm -f "$OUT"; echo "testprogs.sh: cannot make $SRC" >&2; exit 1; }
done
