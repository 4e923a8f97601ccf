#!/bin/bash
# Kills indexers with SIGKILL at random moments, hundreds of times.
#
#   scripts/torture.sh BUILD_DIR [ROUNDS]
#
# First the store by itself (process_test with TORTURE_ROUNDS), then the program:
# two indexers at once on 300 shared objects, one of them killed. After each
# kill every entry must verify, and none that was there may be gone; when all are
# in, it begins anew. The last line: rounds, lost and damaged entries; exit
# status 1 if there are any.
set -u
cd "$(dirname "$0")/.."
build=$(realpath "${1:?usage: scripts/torture.sh BUILD_DIR [ROUNDS]}") rounds=${2:-500}
TORTURE_ROUNDS=$rounds "$build/libsymcache/store/process_test" 2>&1 | tail -n 1
[ "${PIPESTATUS[0]}" = 0 ] || exit 1
symcache=$build/symcache
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1

total=300
mkdir objects
for functions in 1 100 3000; do
	for ((i = 0; i < functions; i++)); do
		echo ".globl f$i; .type f$i,@function; f$i: .long 0,0; .size f$i,8"
	done | as -o $functions.o -
done
for ((i = 0; i < total; i++)); do
	set -- 1 100 3000
	shift $((i % 3))
	ld -shared --build-id=0x"$(printf %040x $i)" -o objects/$i.so "$1.o"
done

ids() { "$symcache" list --store a.store 2> /dev/null | awk '{print $1}'; }
lost=0 damaged=0 whole=0
: > before
for ((round = 1; round <= rounds; round++)); do
	if [ "$(wc -l < before)" -ge $total ]; then
		whole=$((whole + 1))
		rm -f a.store*
		: > before
	fi
	"$symcache" index -q --store a.store objects & victim=$!
	other=
	[ $((round % 4)) != 0 ] || { "$symcache" index -q --store a.store objects & other=$!; }
	sleep "$(printf '0.%03d' $((RANDOM % 120)))"
	kill -9 $victim 2> /dev/null
	wait $victim 2> /dev/null
	[ -z "$other" ] || wait $other || { echo "round $round: the other indexer failed"; damaged=$((damaged + 1)); }
	if [ -s a.store ] && ! "$symcache" verify -q --store a.store > faults 2>&1 &&
	   ! grep -q 'there is no store' faults; then
		echo "round $round:"; cat faults
		damaged=$((damaged + 1))
	fi
	ids > now
	gone=$(comm -23 before now | wc -l)
	lost=$((lost + gone))
	mv now before
done
"$symcache" index -q --store a.store objects
[ "$(ids | wc -l)" = $total ] || { echo "the last run is not complete"; damaged=$((damaged + 1)); }
echo "$rounds rounds ($whole stores filled): $lost entries lost, $damaged damaged"
[ $((lost + damaged)) = 0 ]
