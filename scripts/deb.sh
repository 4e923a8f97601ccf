#!/bin/sh
# Builds the Debian packages out of scripts/debian, into build/deb, has lintian look at them,
# whose errors and warnings count, and runs their tests in fresh roots.
#
#   scripts/deb.sh [FOLDER]
set -eu
umask 022
cd "$(dirname "$0")/.."
top=$PWD
out=${1:-build/deb}
version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' scripts/debian/changelog)
name=symcache-$version
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "${out:?}"/*
# As the packages are dated, whenever they are built.
SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/^ -- .*>  //p' scripts/debian/changelog | head -n 1)" +%s)
export SOURCE_DATE_EPOCH
make --no-print-directory dist > /dev/null
tar -C "$out" -xzf "build/$name.tar.gz"
# Without what fuzzing found: no package needs it, and lintian takes it for broken programs.
rm -rf "$out/$name/testdata/fuzz"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@"$SOURCE_DATE_EPOCH" -cf - "$name" |
	gzip -9n > "$out/symcache_$version.orig.tar.gz"
cp -r scripts/debian "$out/$name/debian"
cd "$out/$name"
unset MAKEFLAGS MAKELEVEL MFLAGS CC CFLAGS CPPFLAGS LDFLAGS MODE
dpkg-buildpackage -us -uc > "$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" | cut -c 1-300; exit 1; }
cd "$out"
if command -v lintian > /dev/null; then
	# It is not in Debian, which has no bug that this upload could close; Debian 13 knows later
	# standards than 12. What lintian merely remarks on is shown, and what the packages override.
	suppressed=initial-upload-closes-no-bugs,out-of-date-standards-version
	lintian --allow-root -IL +pedantic --suppress-tags $suppressed \
		--fail-on error,warning ./*.changes > lintian.log || { grep -v '^N:' lintian.log; exit 1; }
	grep '^[IP]:' lintian.log | sed 's/^/lintian: /' || true
	echo "overridden: $suppressed"
	sed -n '/^#/!s/^/overridden: /p' "$name"/debian/*lintian-overrides "$name"/debian/source/lintian-overrides
else
	echo "no lintian: the packages are not looked at"
fi

# Their tests, each in a root of this Debian that has nothing else.
suite=$(. /etc/os-release; echo "${VERSION_CODENAME:-}")
if [ "$(id -u)" = 0 ] && command -v debootstrap > /dev/null && case $suite in bookworm|trixie) ;; *) false ;; esac; then
	dpkg-scanpackages . > Packages 2> /dev/null
	for test in $(sed -n 's/^Tests: //p' "$name/debian/tests/control"); do
		"$top/scripts/chroot_test.sh" -i "" -b "$out:/debs" "$suite" -- scripts/deb_test.sh "$test" > "test-$test.log" 2>&1 ||
			{ cat "test-$test.log"; echo "FAILED $test"; exit 1; }
		echo "ok $test, in a fresh $suite"
	done
else
	echo "the packages are not tested: that needs root, debootstrap and Debian 12 or 13"
fi
ls ./*.deb
