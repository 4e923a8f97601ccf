#!/bin/sh
# Installs the Debian packages that a task needs, where they are missing.
#
#   scripts/deps.sh [--list] build|deb|test|layouts|demo|bench|accuracy|fuzz|browser|batch|clients|chroot|python|wheel...
#
# Missing packages are installed with apt-get if we may (root, or sudo without
# a password), after a line that names them; else the exact command is printed and
# the exit status is 1. DEPS=no: nothing is installed or asked for, whatever is
# missing. "a|b": the first that there is; "?a": where there is such a package.
# With `build`, standard output is a make fragment: the demanglers, and which
# libraries are linked statically. With --list it is the packages, and nothing is done.
set -eu

build="gcc make libc6-dev libdw-dev libelf-dev liblmdb-dev libxxhash-dev
       libdeflate-dev ?libisal-dev libzstd-dev liblzma-dev liblz4-dev zlib1g-dev libbz2-dev
       libyajl-dev libiberty-dev libc++abi-19-dev|libc++abi-dev libexpat1-dev
       libarchive-dev libsodium-dev nettle-dev"
demo="$build g++ binutils python3"
test="$demo libcmocka-dev pkg-config ?abigail-tools python3-dev python3-pytest ?python3-numpy ?llvm-19 elfutils libc6-dbg python3-dbg gdb
      xz-utils bzip2 gawk python3 zstd openssl xxhash mandoc groff-base zsh fish clang lld dwz debuginfod"
# Compilers for other machines and of other languages, 1.2 GB: the rows of
# testdata/layouts that want one are skipped without it.
layouts="$test gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-mips-linux-gnu
         gcc-powerpc64-linux-gnu gcc-powerpc64le-linux-gnu gcc-riscv64-linux-gnu
         gcc-s390x-linux-gnu gdc gfortran gnat gobjc golang-go"
# Programs that ask llvm-symbolizer or addr2line, 400 MB: tests of those that are not there
# are skipped.
clients="$demo ?clang-19 ?libclang-rt-19-dev ?llvm-19 ?llvm-19-tools ?linux-perf ?libboost-stacktrace-dev ?google-perftools
         ?libgoogle-perftools-dev ?golang-go ?golang-github-google-pprof-dev python3"
bench="$test"
accuracy="$test gdb golang-go"
deb="$build build-essential debhelper dh-python dpkg-dev python3-dev libcmocka-dev pkg-config fakeroot ?lintian ?debootstrap"
fuzz="$build clang libclang-rt-14-dev"
# Engines that run tasks on many machines, and what their tests use; services that come
# along are not started by us.
batch="$demo ?slurm-wlm ?parallel ?python3-distributed ?squashfs-tools ?openssh-server
       ?openssh-client python3 zstd libc6-dbg"
# Large: only tests of HTML, which are skipped without.
browser="chromium chromium-driver firefox-esr python3"
# A root folder of another Debian.
chroot="git debootstrap util-linux debian-archive-keyring"

usage() { echo "usage: scripts/deps.sh [--list] build|deb|test|layouts|demo|bench|accuracy|fuzz|browser|batch|clients|chroot|python|wheel..." >&2; exit 2; }
[ $# -gt 0 ] || usage
want= fragment= list=
for task; do
	case $task in
	--list) list=1 ;;
	build) want="$want $build" fragment=1 ;;
	layouts) want="$want $layouts" ;;
	deb) want="$want $deb" ;;
	demo) want="$want $demo" ;;
	test) want="$want $test" ;;
	bench) want="$want $bench" ;;
	accuracy) want="$want $accuracy" ;;
	fuzz) want="$want $fuzz" ;;
	browser) want="$want $browser" ;;
	batch) want="$want $batch" ;;
	clients) want="$want $clients" ;;
	chroot) want="$want $chroot" ;;
	python) want="$want python3-dev" ;;
	wheel) want="$want $build python3-dev binutils patchelf ?python3-pip" ;;
	*) usage ;;
	esac
done
if [ -n "$list" ]; then
	printf '%s\n' $want
	exit
fi

installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null || true)" = "install ok installed" ]; }
# Does apt know such a package? Where it has no list yet, it may.
known() { [ -z "$(apt-cache pkgnames 2>/dev/null | head -n 1)" ] || [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]; }

# wanted: the packages that are missing, of alternatives one.
wanted() {
	for p in $want; do
		choice=
		for a in $(echo "${p#\?}" | tr '|' ' '); do
			if installed "$a"; then choice=; break; fi
			[ -n "$choice" ] || ! known "$a" || choice=$a
		done
		case $p in
		\?*) ;;
		*) installed "$a" || choice=${choice:-$a} ;;
		esac
		[ -z "$choice" ] || echo "$choice"
	done | sort -u | tr '\n' ' '
}

case " $* " in
*" test "*)
	if [ "${DEPS:-}" = no ] && ! printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h cmocka.h |
		${CC:-cc} -E - > /dev/null 2>&1; then
		echo "symcache: the tests need cmocka (Debian's libcmocka-dev): install it, or run this without DEPS=no" >&2
		exit 1
	fi ;;
esac
missing=
[ "${DEPS:-}" = no ] || ! command -v dpkg-query > /dev/null || missing=$(wanted)
if [ "${DEPS:-}" != no ] && ! command -v apt-get > /dev/null; then
	echo "symcache: this machine has no apt-get. Install what these packages of Debian hold," >&2
	echo "then run the command with DEPS=no:" $want >&2
	exit 1
fi
if [ -n "$missing" ]; then
	get="env DEBIAN_FRONTEND=noninteractive apt-get"
	if [ "$(id -u)" = 0 ]; then
		as=
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as=sudo
	else
		echo "symcache: packages are missing. Run this, then try again (or go on without: DEPS=no):" >&2
		echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing" >&2
		exit 1
	fi
	echo "symcache: installing as root (DEPS=no prevents it): $missing" >&2
	# A machine may never have fetched a package list: update, and choose anew.
	if [ -z "$(apt-cache pkgnames 2>/dev/null | head -n 1)" ]; then
		$as $get update >&2
		missing=$(wanted)
	fi
	$as $get install -y --no-install-recommends $missing >&2 ||
		{ $as $get update >&2 && $as $get install -y --no-install-recommends $missing >&2; }
fi

[ -n "$fragment" ] || exit 0
echo "# written by scripts/deps.sh"
echo "DEMANGLE_CFLAGS := -DHAVE_LIBIBERTY=1"
abi=$(ls "${ROOT:-}"/usr/lib/llvm-*/lib/libc++abi.a 2>/dev/null | sort -V | tail -n 1)
if [ -n "$abi" ]; then
	echo "DEMANGLE_CFLAGS += -DHAVE_CXXABI=1"
	echo "DEMANGLE_LIBS := $abi"
fi
echo "DEMANGLE_LIBS += $(${CC:-cc} -print-file-name=libiberty.a)"

# Static are those of which a program can be made that uses them as ours does; what
# their archives need without us is left out by --gc-sections and need not be there.
cc=${CC:-cc} tmp=$(mktemp -d) static= dynamic=
trap 'rm -rf "$tmp"' EXIT
links() { $cc -o "$tmp/t" "$tmp/t.c" -Wl,--gc-sections "$@" > /dev/null 2>&1; }
# library ARCHIVES LIBRARIES SYMBOLS...: the first if it links with these symbols
library() {
	archives=$1 libraries=$2
	shift 2
	{
		printf 'void %s(void);\n' "$@"
		printf 'void (*used[])(void) = { %s };\n' "$(echo "$@" | tr ' ' ',')"
		echo 'int main(int n, char **v) { (void)v; return !used[n]; }'
	} > "$tmp/t.c"
	if links -Wl,-Bstatic -Wl,--start-group $archives $pack -Wl,--end-group -Wl,-Bdynamic; then
		static="$static $archives"
	elif links $libraries; then
		dynamic="$dynamic $libraries"
	elif [ "$libraries" != -lisal ]; then # the one that is not needed
		echo "symcache: a program cannot be linked with $libraries" >&2
		exit 1
	fi
}
pack="-lzstd -llzma -llz4 -lz -lbz2"
library "-ldw -lelf" "-ldw -lelf" dwarf_begin_elf dwarf_getlocation dwfl_begin elf_begin
library -llmdb -llmdb mdb_env_open
library -lyajl_s -lyajl yajl_gen_alloc yajl_parse
library -lexpat -lexpat XML_ParserCreate
library "-larchive -lnettle" "-larchive -lnettle" archive_read_support_format_tar \
	archive_read_support_format_zip archive_read_support_format_cpio \
	archive_read_support_filter_zstd archive_read_support_filter_lz4 archive_write_add_filter_zstd
library -lsodium -lsodium crypto_sign_verify_detached
library -ldeflate -ldeflate libdeflate_zlib_decompress
library "$pack" "$pack" ZSTD_decompress lzma_code LZ4_decompress_safe inflate BZ2_bzDecompress
case $($cc -dumpmachine) in
x86_64-*) library -lxxhash -lxxhash XXH3_128bits XXH3_128bits_update_dispatch ;;
*) library -lxxhash -lxxhash XXH3_128bits ;;
esac
library -lisal -lisal isal_inflate
echo "STATIC_LIBS :=$static"
echo "DYNAMIC_LIBS :=$dynamic"
