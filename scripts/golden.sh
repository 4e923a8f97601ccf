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
passed=0 failed=0 skipped=0

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
	local want=$1/$2 got=$top/$2
	[ -e "$want" ] || want=/dev/null
	cmp -s "$want" "$got" && return
	if [ -n "$update" ]; then
		if [ -s "$got" ]; then cp "$got" "$1/$2"; else rm -f "$1/$2"; fi
		return
	fi
	diff -u --label "$name/$2 (wanted)" --label "$name/$2 (got)" "$want" "$got"
	return 1
}

[ $# -gt 0 ] || set -- $(ls "$TESTDATA/golden" 2> /dev/null)
for name; do
	case=$TESTDATA/golden/$name
	[ -e "$case/cmd" ] || { echo "FAILED $name: there is no $case/cmd"; failed=$((failed + 1)); continue; }
	missing=$(lacks "$case" | tr '\n' ' ')
	if [ -n "$missing" ]; then
		echo "skipped $name: needs $missing"
		skipped=$((skipped + 1))
		continue
	fi
	work=$top/$name input=/dev/null
	mkdir "$work"
	[ ! -e "$case/stdin" ] || input=$case/stdin
	(cd "$work" && HOME=$work timeout 300 bash "$case/cmd") \
		< "$input" > stdout.raw 2> stderr.raw
	echo $? > status
	echo 0 | cmp -s - status && : > status
	plain stdout.raw > stdout
	plain stderr.raw > stderr
	bad=
	for what in stdout stderr status; do
		compare "$case" "$what" || bad=1
	done
	if [ -n "$bad" ]; then
		echo "FAILED $name"
		failed=$((failed + 1))
	else
		echo "ok $name"
		passed=$((passed + 1))
	fi
done
echo "golden: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
