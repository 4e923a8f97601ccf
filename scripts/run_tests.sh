#!/bin/sh
# Runs the tests of one build and counts them.
#
#   scripts/run_tests.sh BUILD_DIR [unit|golden|layouts|layers|replay|library|faults…]
#
# unit: every *_test program (cmocka's tests, each one); golden: the cases of
# testdata/golden; layouts: the rows of testdata/layouts/*.recipe (scripts/layouts.py);
# library: the shared libraries as they are installed (scripts/lib_test.sh);
# faults: calls that fail in each command (scripts/faults.py), of allocations each eleventh;
# layers: the include rules; circles and lengths; what documents name; replay: each fuzz
# target over its corpus testdata/fuzz/TARGET, one test each.
# Prints the output of what failed. The last line is "N passed, N failed",
# with ", N skipped" where there is any; the exit status is 1 if any failed.
set -u
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/run_tests.sh BUILD_DIR [unit|golden|layouts|layers|replay|library|faults...]}
shift
[ $# -gt 0 ] || set -- unit golden layouts layers replay library faults
passed=0 failed=0 skipped=0
top=$(mktemp -d)
out=$top/out
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM

# Adds up the numbers of cmocka's lines "[  PASSED  ] 5 test(s)."
sum() { sed -n "s/^\[  *$1  *\] \([0-9][0-9]*\) test(s).*/\1/p" "$out" | awk '{n += $1} END {print n + 0}'; }

# one NAME STATUS: a test that is counted by its exit status.
one() {
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		cat "$out"
		echo "FAILED $1 (exit status $2)"
	fi
}

# One more runs at once than there are cores, as some wait for the disk: what each printed
# is in $top/NUMBER.
run_unit() {
	find "$build" -name '*_test' -type f -perm -u+x | sort > "$top/tests"
	awk '{print NR, $0}' "$top/tests" | xargs -P $(($(nproc) + 1)) -n 2 sh -c \
		'timeout 300 "$2" > "$0/$1" 2>&1; echo $? > "$0/$1.status"' "$top"
	n=0
	while read -r t; do
		n=$((n + 1))
		mv "$top/$n" "$out"
		status=$(cat "$top/$n.status")
		f=$(sum FAILED)
		passed=$((passed + $(sum PASSED))) skipped=$((skipped + $(sum SKIPPED)))
		# Crashed, hung, or failed outside of a test: that counts as one.
		[ $status = 0 ] || [ "$f" != 0 ] || f=1
		failed=$((failed + f))
		[ "$f" = 0 ] || { cat "$out"; echo "FAILED $t (exit status $status)"; }
		# Tests that are skipped say why.
		[ "$f" != 0 ] || grep -i '^skipped' "$out" | sed "s|^|$t: |"
	done < "$top/tests"
}

# counted SCRIPT NAME [OPTION...]: a script that prints a line for each test, and at the end
# "NAME: N passed, N failed, N skipped".
counted() {
	script=$1 name=$2
	shift 2
	"$script" "$build/symcache" "$@" > "$out" 2>&1
	status=$?
	grep -v '^ok ' "$out" | sed '$d'
	set -- "$script" "$name" $(tail -n 1 "$out")
	if [ "${3:-}" = "$2:" ]; then
		passed=$((passed + $4)) failed=$((failed + $6)) skipped=$((skipped + $8))
	else
		one "$1" "$status"
	fi
}

run_golden() { counted scripts/golden.sh golden; }

run_layouts() { counted scripts/layouts.py layouts; }

run_library() { counted scripts/lib_test.sh library; }

run_faults() { counted scripts/faults.py faults --every 11; }

run_layers() {
	scripts/check_layers.sh > "$out" 2>&1
	one "check_layers.sh" $?
	scripts/check_circles.py "$build" > "$out" 2>&1
	one "check_circles.py" $?
	scripts/check_documents.py > "$out" 2>&1
	one "check_documents.py" $?
}

run_replay() {
	for t in $(find "$build" -name '*_fuzz' -type f -perm -u+x | sort); do
		target=$(basename "$t" _fuzz)
		if [ ! -d "testdata/fuzz/$target" ]; then
			echo "skipped replay of $target: there is no testdata/fuzz/$target"
			skipped=$((skipped + 1))
			continue
		fi
		timeout 300 "$t" "testdata/fuzz/$target" > "$out" 2>&1
		one "replay of testdata/fuzz/$target" $?
	done
}

for kind; do
	case $kind in
	unit|golden|layouts|layers|replay|library|faults) "run_$kind" ;;
	*) echo "run_tests.sh: what is '$kind'? unit, golden, layouts, layers, replay, library or faults" >&2; exit 2 ;;
	esac
done
more=
[ $skipped = 0 ] || more=", $skipped skipped"
echo "$passed passed, $failed failed$more"
[ $failed = 0 ]
