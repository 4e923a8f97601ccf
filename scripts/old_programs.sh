#!/bin/sh
# Programs of earlier commits and this one read each other's stores: scripts/old_programs.sh PROGRAM
# [COMMIT...]. Builds those of testdata/stores when none is named, each in build/old/COMMIT (minutes).
# testdata/stores/COMMIT.xz has a store of each; `RECORD=FOLDER` writes them anew, of
# FOLDER/crash and FOLDER/inlines (of testdata/programs; stores have the path).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
new=$(realpath "$1")
shift
programs=$root/build/testprogs work=$root/build/old passed=0 failed=0
cd "$root"
[ $# -gt 0 ] || set -- $(cd testdata/stores && ls -- *.xz | sed 's/\.xz$//')

# one, when what is expected is what the command prints
same() {
	what=$1 expected=$2
	shift 2
	if got=$("$@" 2>&1) && [ "$got" = "$expected" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED: %s\n%s\n' "$what" "$got"
	fi
}

# refuses WHAT PATTERN COMMAND...: it fails with one line that has the pattern
refuses() {
	what=$1 pattern=$2
	shift 2
	if got=$("$@" 2>&1 > /dev/null) || [ "$(printf '%s\n' "$got" | grep -c "$pattern")" != 1 ] ||
		[ "$(printf '%s\n' "$got" | wc -l)" != 1 ]; then
		failed=$((failed + 1))
		printf 'FAILED: %s\n%s\n' "$what" "$got"
	else
		passed=$((passed + 1))
	fi
}

scripts/testprogs.sh "$programs"
where=0x$(nm "$programs/inlines" | sed -n 's/ . main$//p')
want=$("$new" lookup --file "$programs/inlines" "$where")
for commit; do
	tree=$work/$commit old=$work/$commit/build/release/symcache
	if [ ! -x "$old" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		git archive "$commit" | tar -x -C "$tree"
		DEPS=no make -s -C "$tree" > "$tree/make.log" 2>&1 ||
			{ echo "$commit: cannot be built, see $tree/make.log"; exit 2; }
	fi
	from=${RECORD:-$programs}
	id=$(readelf -n "$from/inlines" | sed -n 's/.*Build ID: //p')
	rm -f "$tree"/*.store*
	"$old" index --store "$tree/old.store" "$from/crash" "$from/inlines" > "$tree/index.log" 2>&1
	"$new" index --quiet --store "$tree/new.store" "$from/crash" "$from/inlines"
	[ -z "${RECORD:-}" ] || xz -9e < "$tree/old.store" > "testdata/stores/$commit.xz"
	same "this program reads the store of $commit" "$want" \
		"$new" lookup --store "$tree/old.store" --build-id "$id" "$where"
	same "$commit reads the store of this program" "$want" \
		"$old" lookup --store "$tree/new.store" --build-id "$id" "$where"
	same "this program verifies it" "2 verified, 0 bad" "$new" verify --store "$tree/old.store"
	same "$commit verifies it" "2 verified, 0 bad" "$old" verify --store "$tree/new.store"
	# Of packed entries, an old program says that it does not know their version; it reads the
	# others, and does not write.
	"$new" index --quiet --packed --store "$tree/new.store" "$programs/threads"
	packed=$(readelf -n "$programs/threads" | sed -n 's/.*Build ID: //p')
	same "$commit reads what is not packed" "$want" \
		"$old" lookup --store "$tree/new.store" --build-id "$id" "$where"
	refuses "$commit looks up what is packed" ': unknown version 10000$' \
		"$old" lookup --store "$tree/new.store" --build-id "$packed" "$where"
	refuses "$commit writes to it" 'written by a newer symcache' \
		"$old" index --again --store "$tree/new.store" "$programs/threads"
	! "$old" verify --help | grep -q -e --repair ||
		refuses "$commit repairs it" 'written by a newer symcache' \
			"$old" verify --repair --store "$tree/new.store"
	same "nothing is gone" "3 verified, 0 bad" "$new" verify --store "$tree/new.store"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
