#!/bin/bash
# Command-line tests: each folder testdata/golden/NAME is one case.
#
#   scripts/golden.sh PROGRAM [--update] [NAME…]
#
# cmd     shell command, run by bash in a fresh folder; it sees $SYMCACHE (the
#         program), $TESTDATA, $PROGRAMS (testdata/programs, compiled), $SHARED
#         (data next to the checkout, may be absent), $DEBIAN12 (scripts/debian12.sh)
# stdin   its input; absent: empty
# stdout, stderr, status   what it must give, exactly; absent: nothing, and 0.
#         The folders of this machine are shown by their names: $TESTDATA/a.c.
# needs   programs, and files (with a / or $SHARED in them), one a line, without
#         which the case is skipped; "$ COMMAND": a command that must succeed
#
# --update writes what the program gives now: look at the diff before you commit.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
SYMCACHE=$(realpath "${1:?usage: scripts/golden.sh PROGRAM [--update] [NAME...]}")
shift
update=
[ "${1:-}" != --update ] || { update=1; shift; }
TESTDATA=$root/testdata PROGRAMS=$root/build/testprogs SHARED=$(realpath -m "$root/../shared")
DEBIAN12=$root/build/debian12
export SYMCACHE TESTDATA PROGRAMS SHARED DEBIAN12 LC_ALL=C TZ=UTC
unset SYMCACHE_STORE SYMCACHE_URLS XDG_CACHE_HOME DEBUGINFOD_URLS
"$root/scripts/testprogs.sh" "$PROGRAMS" || exit 2
"$root/scripts/debian12.sh" "$DEBIAN12" # where it fails, the cases that need it are skipped
top=$(mktemp -d)
trap 'chmod -R u+w "$top"; rm -rf "$top"' EXIT
cd "$top" || exit 2

# What the case NAME lacks, or nothing.
lacks() {
	local need
	while read -r need; do
		need=${need//'$SHARED'/$SHARED} need=${need//'$PROGRAMS'/$PROGRAMS}
		need=${need//'$DEBIAN12'/$DEBIAN12}
		case $need in
		'') ;;
		'$ '*) bash -c "${need#??}" > /dev/null 2>&1 || echo "'${need#??}' to succeed" ;;
		*/*) [ -e "$need" ] || echo "$need" ;;
		*) command -v "$need" > /dev/null || echo "$need" ;;
		esac
	done < <(cat "$1/needs" 2> /dev/null)
}

# Shows the places of this machine by their names.
plain() {
	work=$work perl -pe '
		for my $name (qw(SYMCACHE PROGRAMS TESTDATA SHARED work)) {
			s/\Q$ENV{$name}\E/\$$name/g
		}' "$1"
}

# compare CASE WHAT: the file WHAT of the case against what came.
compare() {
	local want=$1/$2 got=$top/$name.got/$2
	[ -e "$want" ] || want=/dev/null
	cmp -s "$want" "$got" && return
	if [ -n "$update" ]; then
		if [ -s "$got" ]; then cp "$got" "$1/$2"; else rm -f "$1/$2"; fi
		return
	fi
	diff -u --label "$name/$2 (wanted)" --label "$name/$2 (got)" "$want" "$got"
	return 1
}

# run NAME: the first word of the last line that it prints is ok, skipped or FAILED.
run() {
	local name=$1 case=$TESTDATA/golden/$1 got=$top/$1.got work=$top/$1 input=/dev/null bad= missing what
	[ -e "$case/cmd" ] || { echo "FAILED $name: there is no $case/cmd"; return; }
	missing=$(lacks "$case" | tr '\n' ' ')
	[ -z "$missing" ] || { echo "skipped $name: needs $missing"; return; }
	mkdir "$work" "$got"
	[ ! -e "$case/stdin" ] || input=$case/stdin
	(cd "$work" && HOME=$work timeout 300 bash "$case/cmd") \
		< "$input" > "$got/stdout.raw" 2> "$got/stderr.raw"
	echo $? > "$got/status"
	echo 0 | cmp -s - "$got/status" && : > "$got/status"
	plain "$got/stdout.raw" > "$got/stdout"
	plain "$got/stderr.raw" > "$got/stderr"
	for what in stdout stderr status; do
		compare "$case" "$what" || bad=1
	done
	chmod -R u+w "$work" && rm -rf "$work" "$got"
	if [ -n "$bad" ]; then echo "FAILED $name"; else echo "ok $name"; fi
}

[ $# -gt 0 ] || set -- $(ls "$TESTDATA/golden" 2> /dev/null)
# Those that take long begin first: they decide how long all take.
long=" torture filter-html-firefox bombs filter-html-browser tree-url dropin-same "
declare -A begun
for name in $long "$@"; do
	case " $* " in *" $name "*) ;; *) continue ;; esac
	[ -z "${begun[$name]:-}" ] || continue
	begun[$name]=1
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	run "$name" > "$top/$name.said" 2>&1 &
done
wait
passed=0 failed=0 skipped=0
for name; do
	cat "$top/$name.said"
	case $(tail -n 1 "$top/$name.said") in
	ok*) passed=$((passed + 1)) ;;
	skipped*) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
done
echo "golden: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
