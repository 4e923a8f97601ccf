#!/bin/bash
# Kills the program with SIGKILL at random moments, hundreds of times, and fills the
# disk at every write.
#
#   scripts/torture.sh BUILD_DIR [ROUNDS [PART...]]
#
# store    the store by itself: its tests that take TORTURE_ROUNDS
# index    two indexers at once on 300 shared objects, one of them killed; after each
#          kill every entry must verify, and none that was there may be gone; when all
#          are in, it begins anew
# bundles  export, import, compact and prune, killed: the store is as before or after,
#          and a bundle is whole or not there
# writes   the same commands and index, where the first write fails, or the second, and so on
#          until all are done: that one alone, and on a disk that is full from there on
# faults   the same of each command, and of allocations, reads, syncs …: scripts/faults.py
# scale    200,000 entries, and 50 GB: scripts/bench.sh PROGRAM store
#
# With fewer than 20 rounds, writes are cut short, or fail once with EIO.
#
# A line for each part says what came; exit status 1 if anything was lost or damaged.
set -u
cd "$(dirname "$0")/.."
build=$(realpath "${1:?usage: scripts/torture.sh BUILD_DIR [ROUNDS [PART...]]}") rounds=${2:-500}
shift; [ $# = 0 ] || shift
[ $# -gt 0 ] || set -- store index bundles writes faults scale
scripts=$PWD/scripts symcache=$build/symcache
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LC_ALL=C
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1
bad=0

# objects NUMBER: shared objects of three sizes
objects() {
	local functions sizes=(1 100 3000) i
	rm -rf objects
	mkdir objects
	for functions in "${sizes[@]}"; do
		for ((i = 0; i < functions; i++)); do
			echo ".globl f$i; .type f$i,@function; f$i: .long 0,0; .size f$i,8"
		done | as -o $functions.o -
	done
	for ((i = 1; i <= $1; i++)); do
		ld -shared --build-id=0x"$(printf %040x $i)" -o objects/$i.so "${sizes[i % 3]}.o"
	done
}

ids() { "$symcache" list --store "$1" 2> /dev/null | awk '{print $1}'; }
wrong() { echo "$*"; bad=$((bad + 1)); }
# sound STORE WHAT: it verifies, or is not there yet
sound() {
	[ ! -s "$1" ] || "$symcache" verify -q --store "$1" > faults 2>&1 ||
		grep -q 'there is no store' faults || { cat faults; wrong "$2: $1 is damaged"; }
}
# kill_at_random COMMAND...
kill_at_random() {
	"$@" > /dev/null 2>&1 & local victim=$!
	sleep "$(printf '0.%03d' $((RANDOM % 90)))"
	kill -9 $victim 2> /dev/null
	wait $victim 2> /dev/null
}

part_store() {
	local test
	for test in process cold repack; do
		TORTURE_ROUNDS=$rounds "$build/libsymcache/store/${test}_test" > out 2>&1 || { cat out; bad=1; }
		tail -n 1 out
	done
}

part_index() {
	local total=300 lost=0 whole=0 round victim other gone
	objects $total
	: > before
	for ((round = 1; round <= rounds; round++)); do
		if [ "$(wc -l < before)" -ge $total ]; then
			whole=$((whole + 1))
			rm -f a.store*
			: > before
		fi
		other=
		[ $((round % 4)) != 0 ] || { "$symcache" index -q --store a.store objects & other=$!; }
		kill_at_random "$symcache" index -q --store a.store objects
		[ -z "$other" ] || wait $other || wrong "round $round: the other indexer failed"
		sound a.store "round $round"
		ids a.store > now
		gone=$(comm -23 before now | wc -l)
		lost=$((lost + gone))
		mv now before
	done
	"$symcache" index -q --store a.store objects
	[ "$(ids a.store | wc -l)" = $total ] || wrong "the last run is not complete"
	bad=$((bad + lost))
	echo "index: $rounds rounds ($whole stores filled): $lost entries lost, $bad faults"
}

part_bundles() {
	local round what from=$bad done=0
	objects 60
	rm -rf a.store* b.store* x*
	"$symcache" index -q --store a.store objects
	ids a.store > all
	"$symcache" export -q --store a.store -o whole.tar.zst
	cp a.store b.store
	: > b.before
	for ((round = 1; round <= rounds; round++)); do
		case $((round % 8)) in
		0|1|2)
			set -- x.store x x.tar.zst
			shift $((round % 8)); what=$1
			rm -rf x.store x x.tar.zst
			kill_at_random "$symcache" export -q --store a.store -o "$what"
			[ ! -e "$what" ] || { done=$((done + 1))
				"$symcache" verify -q "$what" > faults 2>&1 && [ ! -s faults ] ||
					wrong "round $round: the bundle $what is damaged"; }
			;;
		3)
			[ "$(wc -l < b.before)" -lt 60 ] || { rm -f b.store*; : > b.before; }
			kill_at_random "$symcache" import -q --store b.store whole.tar.zst
			;;
		4) kill_at_random "$symcache" compact -q --store b.store ;;
		5)
			kill_at_random "$symcache" prune -q --store b.store --to-size 100K
			ids b.store > now
			cmp -s now b.before || [ "$(wc -l < now)" -lt "$(wc -l < b.before)" ] ||
				wrong "round $round: prune made entries"
			mv now b.before
			;;
		6) kill_at_random "$symcache" compact -q --store b.store --pack 0 ;;
		7) kill_at_random "$symcache" compact -q --store b.store --unpack ;;
		esac
		sound b.store "round $round"
		ids b.store > now
		[ -z "$(comm -23 b.before now)" ] || wrong "round $round: entries are gone"
		mv now b.before
	done
	sound a.store bundles
	ids a.store | cmp -s - all || wrong "the exported store has changed"
	rm -rf x x.*
	"$symcache" export -q --store a.store -o x && "$symcache" verify -q x || wrong "no last export"
	echo "bundles: $rounds rounds ($done exported): $((bad - from)) faults"
}

# fail_at: makes fail_at.so, once
fail_at() {
	[ -e "$top/fail_at.so" ] || ${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o "$top/fail_at.so" \
		"$scripts/fail_at.c" -ldl || exit 2
}

# sanitized: the program has a malloc() of its own, which fail_at.so would replace
sanitized() {
	grep -q __asan_init "$symcache"
}

# every_write NAME SETUP COMMAND...: runs it until no call fails any more, in each of the ways
# `kinds`; SETUP is run before each. What was in a.store stays there; x, which it may make, is not
# there, or an empty folder, as before.
every_write() {
	local name=$1 setup=$2 n kind out status there
	shift 2
	for kind in "${kinds[@]}"; do
		for ((n = 1; n < 2000; n++)); do
			eval "$setup"
			ids a.store > before
			there=$(ls -d x 2> /dev/null)
			rm -f seen
			out=$(env $kind FAIL_AT=$n FAIL_SEEN=seen LD_PRELOAD=$top/fail_at.so "$@" 2>&1)
			status=$?
			writes=$((writes + 1))
			[ $status -lt 128 ] || wrong "$name, $kind $n: signal $((status - 128)): $out"
			sound a.store "$name, $kind $n"
			ids a.store > now
			[ -e seen ] || break
			[ $status = 0 ] || [ -n "$out" ] || wrong "$name, $kind $n: status $status without a word"
			[ -z "$(comm -23 before now)" ] || wrong "$name, $kind $n: entries are gone"
			[ $status = 0 ] || [ -z "$there" ] || rmdir x
			[ $status = 0 ] || { [ ! -e x ] && [ ! -e x.part ]; } ||
				wrong "$name, $kind $n: something is left over"
			rm -rf x x.part
		done
		[ $status = 0 ] || wrong "$name, $kind: does not end"
	done
}

part_writes() {
	local from=$bad error
	if sanitized; then
		echo "writes: not with a sanitizer, which has its own malloc()"
		return
	fi
	local kinds=("FAIL=writes FAIL_ON=1 FAIL_SHORT=1" "FAIL=writes FAIL_ERRNO=5")
	[ "$rounds" -lt 20 ] || for error in 5 28 122; do # EIO, ENOSPC, EDQUOT
		kinds+=("FAIL=writes FAIL_ON=1 FAIL_ERRNO=$error" "FAIL=writes FAIL_ERRNO=$error"
			"FAIL=syncs FAIL_ERRNO=$error")
	done
	writes=0
	fail_at
	objects 9
	rm -rf a.store* full.store* x* whole
	"$symcache" index -q --store full.store objects/[1-5].so
	"$symcache" export -q --store full.store -o whole
	local copy='rm -rf a.store* x; cp full.store a.store'
	every_write "index" "rm -rf a.store*" "$symcache" index -q --store a.store objects
	every_write "index more" "$copy" "$symcache" index -q --store a.store objects
	every_write "index --again" "$copy" "$symcache" index -q --again --store a.store objects/1.so
	every_write "import" "$copy; \"$symcache\" remove -q --store a.store \$(ids a.store | head -n 3)" \
		"$symcache" import -q --store a.store whole
	every_write "compact" "$copy" "$symcache" compact -q --store a.store
	every_write "compact --pack" "$copy" "$symcache" compact -q --pack 0 --store a.store
	every_write "compact --unpack" "$copy; \"$symcache\" compact -q --pack 0 --store a.store" \
		"$symcache" compact -q --unpack --store a.store
	every_write "index --packed" "rm -rf a.store*" \
		"$symcache" index -q --packed --store a.store objects
	every_write "verify --repair" "$copy" "$symcache" verify -q --repair --store a.store
	for shape in store tree archive; do
		every_write "export $shape" "$copy" \
			"$symcache" export -q --store a.store --shape $shape -o x
	done
	every_write "export to an empty folder" "$copy; mkdir x" "$symcache" export -q --store a.store -o x
	echo "writes: $writes commands of which a write failed: $((bad - from)) faults"
}

part_faults() {
	"$scripts/faults.py" "$build" > out 2>&1 || { cat out; bad=$((bad + 1)); }
	tail -n 1 out
}

part_scale() { (cd "$scripts/.." && scripts/bench.sh "$symcache" store) || bad=$((bad + 1)); }

for part; do
	case $part in
	store|index|bundles|writes|faults|scale) part_$part ;;
	*) echo "torture.sh: what is '$part'?" >&2; exit 2 ;;
	esac
done
[ $bad = 0 ]
