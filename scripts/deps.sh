#!/bin/sh
# Installs the Debian packages that a task needs, where they are missing.
#
#   scripts/deps.sh build|test|layouts|demo|bench|accuracy|fuzz|browser...
#
# Missing packages are installed with apt-get if we may (root, or sudo without
# a password); else the exact command is printed and the exit status is 1.
# With `build`, standard output is a make fragment: which demanglers there are.
set -eu

build="gcc make libc6-dev libdw-dev libelf-dev liblmdb-dev libxxhash-dev
       libdeflate-dev libisal-dev libzstd-dev liblzma-dev zlib1g-dev libbz2-dev
       libyajl-dev libiberty-dev libc++abi-19-dev libexpat1-dev libarchive-dev libsodium-dev
       nettle-dev"
demo="$build g++ binutils"
test="$demo libcmocka-dev llvm-19 elfutils libc6-dbg python3.11 python3.11-dbg
      xz-utils gawk python3 zstd openssl xxhash clang lld dwz debuginfod"
# Compilers for other machines and of other languages, 1.2 GB: the rows of
# testdata/layouts that want one are skipped without it.
layouts="$test gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-mips-linux-gnu
         gcc-powerpc64-linux-gnu gcc-powerpc64le-linux-gnu gcc-riscv64-linux-gnu
         gcc-s390x-linux-gnu gdc gfortran gnat gobjc golang-go"
bench="$test"
accuracy="$test gdb golang-go"
fuzz="$build clang libclang-rt-14-dev"
# Large: only tests of HTML, which are skipped without.
browser="chromium chromium-driver python3"

usage() { echo "usage: scripts/deps.sh build|test|layouts|demo|bench|accuracy|fuzz|browser..." >&2; exit 2; }
[ $# -gt 0 ] || usage
want= fragment=
for task; do
	case $task in
	build) want="$want $build" fragment=1 ;;
	layouts) want="$want $layouts" ;;
	demo) want="$want $demo" ;;
	test) want="$want $test" ;;
	bench) want="$want $bench" ;;
	accuracy) want="$want $accuracy" ;;
	fuzz) want="$want $fuzz" ;;
	browser) want="$want $browser" ;;
	*) usage ;;
	esac
done

missing=
for p in $want; do
	case " $missing " in *" $p "*) continue ;; esac
	s=$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true)
	[ "$s" = "install ok installed" ] || missing="$missing $p"
done

if [ -n "$missing" ]; then
	get="env DEBIAN_FRONTEND=noninteractive apt-get"
	if [ "$(id -u)" = 0 ]; then
		as=
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as=sudo
	else
		echo "symcache: packages are missing. Run this, then try again:" >&2
		echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
		exit 1
	fi
	echo "symcache: installing$missing" >&2
	# A machine may never have fetched a package list: try, update, try again.
	$as $get install -y --no-install-recommends $missing >&2 ||
		{ $as $get update >&2 && $as $get install -y --no-install-recommends $missing >&2; }
fi

[ -n "$fragment" ] || exit 0
echo "# written by scripts/deps.sh"
echo "DEMANGLE_CFLAGS := -DHAVE_LIBIBERTY=1"
abi=$(ls /usr/lib/llvm-*/lib/libc++abi.a 2>/dev/null | sort -V | tail -n 1)
if [ -n "$abi" ]; then
	echo "DEMANGLE_CFLAGS += -DHAVE_CXXABI=1"
	echo "DEMANGLE_LIBS := $abi"
fi
echo "DEMANGLE_LIBS += $(${CC:-cc} -print-file-name=libiberty.a)"
