#!/bin/sh
# How long `symcache trace` takes for a long recording, and in how much memory.
#
#   scripts/trace_bench.sh PROGRAM [FRAMES]
#
# Makes a trace file of FRAMES (10,000,000) frames in the code of testdata/programs'
# traced.c, 1.8 GB for the default, under $TMPDIR. Where gdb is installed, it is asked
# for the last frame of the same file.
set -eu
cd "$(dirname "$0")/.."
program=${1:?usage: scripts/trace_bench.sh PROGRAM [FRAMES]} frames=${2:-10000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
scripts/testprogs.sh build/testprogs
traced=build/testprogs/traced
begin=$(nm "$traced" | awk '$3 == "outer" {print $1}')
end=$(nm "$traced" | awk '$3 == "main" {print $1}')
scripts/make_trace.py "$dir/long.tf" "$frames" "$begin" "$end" 1 2 3
echo "$frames frames, $(du -h "$dir/long.tf" | cut -f 1):"

# measure NAME COMMAND...
measure() {
	name=$1
	shift
	/usr/bin/time -f "%e s  %M KB" -o "$dir/time" "$@" > /dev/null 2>&1 || :
	printf '  %-28s %s\n' "$name" "$(tail -n 1 "$dir/time")"
}
measure "trace --summary" "$program" trace --module "$traced" --summary "$dir/long.tf"
measure "trace --line" "$program" trace --module "$traced" --line traced.c:20 "$dir/long.tf"
measure "trace" "$program" trace --module "$traced" "$dir/long.tf"
measure "trace --format=json" "$program" trace --module "$traced" --format json "$dir/long.tf"
measure "trace --frame (the last)" "$program" trace --module "$traced" --frame $((frames - 1)) \
	"$dir/long.tf"
if command -v gdb > /dev/null; then
	measure "gdb: tfind (the last)" gdb -nx -batch -ex "file $traced" \
		-ex "target tfile $dir/long.tf" -ex "tfind $((frames - 1))" -ex bt
fi
