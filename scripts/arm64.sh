#!/bin/sh
# Builds for AArch64 and runs tests of it under qemu-user.
#
#   scripts/arm64.sh
#
# Needs a cross compiler and qemu-aarch64, else it says so and ends with status 0. The libraries
# of the other machine are fetched by apt-get, and unpacked into build/arm64/root: nothing is
# installed. What runs: unit tests and corpora of fuzzing, each for two minutes at most, cases of
# testdata/golden, files and stores of the one machine on the other: about ten minutes, of which
# ARM64_MINUTES (20) is the limit. What is left out is said, and why. The last line is
# "arm64: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.."
skip() { echo "skipped: $1"; echo "arm64: 0 passed, 0 failed, 1 skipped"; exit 0; }
command -v aarch64-linux-gnu-gcc > /dev/null || skip "there is no gcc-aarch64-linux-gnu"
command -v qemu-aarch64 > /dev/null || skip "there is no qemu-user"
[ "$(uname -m)" != aarch64 ] || skip "this is AArch64: make test"

top=$PWD/build/arm64 root=$PWD/build/arm64/root
src=$top/src lib=$root/usr/lib/aarch64-linux-gnu
mkdir -p "$top" "$root"

# The packages, with all that they need, as a machine without any would get them.
fetch() {
	mkdir -p "$top/apt/lists/partial" "$top/apt/cache/archives/partial"
	: > "$top/apt/status"
	set -- -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$top/apt" \
		-o Dir::State::status="$top/apt/status" -o Dir::Cache="$top/apt/cache" -o Debug::NoLocking=1 \
		-o APT::Sandbox::User=root -o APT::Install-Recommends=0
	apt-get "$@" -qq update || return 1
	apt-get "$@" -qq -y --download-only install libcmocka-dev $(scripts/deps.sh --list build | grep -e -dev |
		while IFS='|?' read -r a b c; do
			for p in $a $b $c; do
				[ -z "$(apt-cache "$@" madison "$p")" ] || { echo "$p"; break; }
			done
		done) || return 1
	for deb in "$top"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root" || return 1
	done
	# Links to absolute paths would lead out of it.
	find "$root" -type l | while read -r l; do
		to=$(readlink "$l")
		case $to in /*) ln -sf "$root$to" "$l" ;; esac
	done
	rm -rf "$top/apt"
	touch "$root/whole"
}
[ -f "$root/whole" ] || fetch > "$top/fetch.log" 2>&1 ||
	skip "the libraries cannot be fetched: $(grep -m 1 '^E:' "$top/fetch.log")"

# A tree of its own, as build/deps.mk is the machine's.
mkdir -p "$src"
find "$src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files | tar -cf - -T - | tar -C "$src" -xf - || exit 1
cc="aarch64-linux-gnu-gcc --sysroot=$root"
command -v ccache > /dev/null && cc="ccache $cc"
unset MAKEFLAGS MAKELEVEL MFLAGS
(cd "$src" && DEPS=no ROOT=$root CC=$cc make -s -j2 CC="$cc" AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy \
	${ARM64_GOALS:-all lib testbins}) > "$top/make.log" 2>&1 || { grep -E 'error|undefined|cannot' -A 2 "$top/make.log" | head -n 20; echo "arm64: 0 passed, 1 failed, 0 skipped"; exit 1; }
grep 'warning:' "$top/make.log"

passed=0 failed=0 skipped=0
out=$top/out built=$src/build/release
end=$(($(date +%s) + 60 * ${ARM64_MINUTES:-20}))
# Without a limit the store's map is a terabyte, which qemu notes page by page.
ulimit -v 5000000
arm() { timeout -k 5 120 "$top/run" "$@"; }
# Programs of the other machine, also where a test wants one file.
printf '#!/bin/sh\nexec qemu-aarch64 -L %s -E LD_LIBRARY_PATH=%s "$@"\n' "$root" "$lib:$root/lib/aarch64-linux-gnu" > "$top/run"
printf '#!/bin/sh\nexec %s %s "$@"\n' "$top/run" "$built/symcache" > "$top/symcache"
chmod +x "$top/run" "$top/symcache"
left_out() { echo "skipped $1: $2"; skipped=$((skipped + 1)); }
it() {
	name=$1
	shift
	if [ "$(date +%s)" -gt $end ]; then
		left_out "$name" "ARM64_MINUTES are over"
	elif "$@" > "$out" 2>&1; then
		echo "ok $name"
		passed=$((passed + 1))
	else
		tail -n 20 "$out"
		echo "FAILED $name"
		failed=$((failed + 1))
	fi
}
unit() {
	for t in $(find "$built" -name '*_test' -type f -perm -u+x | sort); do
		name=${t#"$built"/}
		case $name in
		*/live_test|*/unwind_live_test|*/emit_test) left_out "$name" "a crash is qemu's, too" ;;
		*/grow_test) left_out "$name" "limits of address space are qemu's, too" ;;
		*/pages_test|*/process_test|*/place_test|*/used_test|*/trust_test)
			left_out "$name" "opens stores hundreds of times, each time a second with qemu" ;;
		*/threads_test|*/api_test) left_out "$name" "many threads: minutes with qemu" ;;
		*) it "$name" arm "$t" ;;
		esac
	done
}
replay() {
	for t in $(find "$built" -name '*_fuzz' -type f -perm -u+x | sort); do
		target=$(basename "$t" _fuzz)
		[ ! -d "testdata/fuzz/$target" ] || it "replay of $target" arm "$t" "testdata/fuzz/$target"
	done
}
# Those that look at files of this machine, and at text.
golden() {
	scripts/golden.sh "$top/symcache" build-errors filter-default filter-demux filter-json filter-names \
		filter-offsets filter-tables import-merge lookup-input lookup-json lookup-options named-store \
		show tags trace-bad trace-made trace-text
}
# The same file gives the same cache on either machine, and the same answers.
same_cache() {
	p=$built/symcache
	for f in "$p" build/release/symcache; do
		arm "$p" build "$f" -o "$top/arm.symcache" || return 1
		build/release/symcache build "$f" -o "$top/here.symcache" || return 1
		cmp "$top/arm.symcache" "$top/here.symcache" || return 1
		at=$(nm "$f" | awk '$3 == "main" { print "0x" $1 }')
		arm "$p" lookup --cache "$top/arm.symcache" "$at" > "$top/arm.out" || return 1
		build/release/symcache lookup --cache "$top/here.symcache" "$at" | diff "$top/arm.out" - || return 1
		grep -q '^main$' "$top/arm.out" || return 1
	done
}
# A store that is written there is read here.
same_store() {
	rm -f "$top"/a.store*
	arm "$built/symcache" index --store "$top/a.store" "$built/symcache" || return 1
	build/release/symcache verify --store "$top/a.store" && build/release/symcache list --store "$top/a.store" | grep -q symcache
}
make --no-print-directory all > /dev/null || exit 1
it "the same cache on both machines" same_cache
it "a store of that machine" same_store
it "command-line tests" golden
unit
replay
echo "arm64: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
