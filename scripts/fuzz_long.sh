#!/bin/bash
# Every fuzz target for some time, several side by side.
#
#   scripts/fuzz_long.sh BUILD_DIR [SECONDS [JOBS [TARGET...]]]
#
# BUILD_DIR is that of `make fuzz`. Each TARGET (core, say; all of them) runs for SECONDS (600), on what is
# in testdata/fuzz/TARGET and what earlier runs found, which BUILD_DIR/corpus/TARGET has; JOBS (one for
# each processor) run at once. Then what adds nothing is removed from there. A line for each:
# executions, inputs kept, and how much of its room (the folder that the target stands in) they reach, in
# edges of the compiler's graph and in functions. What makes a target stop is in BUILD_DIR/found;
# exit status 1 if there is anything new.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$(realpath "${1:?usage: scripts/fuzz_long.sh BUILD_DIR [SECONDS [JOBS [TARGET...]]]}")
seconds=${2:-600} jobs=${3:-$(nproc)}
shift; [ $# = 0 ] || shift; [ $# = 0 ] || shift
mkdir -p "$build/corpus" "$build/found"

# one PROGRAM: the whole life of a target
one() {
	local program=$1 room=${1#"$build/"} name=${1##*/}
	name=${name%_fuzz} room=${room%/*}
	local corpus=$build/corpus/$name log=$build/corpus/$name.log dict=testdata/fuzz/markup.dict fresh
	mkdir -p "$corpus"
	case $room in libmarkup*) ;; *) dict= ;; esac
	touch "$build/found/.$name"
	"$program" ${dict:+-dict="$dict"} -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2500 \
		-artifact_prefix="$build/found/$name-" -print_final_stats=1 "$corpus" "testdata/fuzz/$name" \
		> "$log" 2>&1
	fresh=$corpus.new
	rm -rf "$fresh" && mkdir "$fresh"
	"$program" -merge=1 -timeout=20 -rss_limit_mb=2500 -artifact_prefix="$build/found/$name-" "$fresh" \
		"testdata/fuzz/$name" "$corpus" > "$log.merge" 2>&1 && rm -rf "$corpus" && mv "$fresh" "$corpus"
	"$program" -runs=0 -print_coverage=1 "$corpus" 2>&1 | awk -v room="$room" -v name="$name" -v kept="$(ls "$corpus" | wc -l)" \
		-v runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" '
		# (UN)COVERED_FUNC: hits: N edges: A/B NAME FILE:LINE
		/COVERED_FUNC:/ && $NF ~ ("(^|/)" room "/[^/]*$") {
			split($5, e, "/")
			reached += e[1]; all += e[2]; functions++; some += $1 == "COVERED_FUNC:"
		}
		END { printf "%-12s %12s runs %6d kept  %5d of %5d edges (%2d %%)  %4d of %4d functions of %s\n",
			name, runs == "" ? "?" : runs, kept, reached, all, all ? 100 * reached / all : 0, some, functions, room }'
	find "$build/found" -name "$name-*" -newer "$build/found/.$name" -printf '%p\n' | sed 's/^/FOUND /'
	rm "$build/found/.$name"
}
export -f one
export build seconds

programs=()
for p in "$build"/*/*_fuzz "$build"/*/*/*_fuzz "$build"/*/*/*/*_fuzz; do
	name=${p##*/}
	[ -x "$p" ] && { [ $# = 0 ] || [[ " $* " = *" ${name%_fuzz} "* ]]; } && programs+=("$p")
done
[ ${#programs[@]} -gt 0 ] || { echo "fuzz_long.sh: no targets in $build: make fuzz" >&2; exit 2; }
printf '%s\n' "${programs[@]}" | xargs -P "$jobs" -I{} bash -c 'one "$1"' one {} | tee "$build/corpus/report"
! grep -q ^FOUND "$build/corpus/report"
