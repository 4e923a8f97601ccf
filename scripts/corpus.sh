#!/bin/bash
# Fetches large files with debug information into ./corpus (git ignores it).
#
#   scripts/corpus.sh ceph|kernel|binutils|machines|programs...   fetch
#   scripts/corpus.sh list                      what is there to compare, one path a line
#
#   ceph      ceph-osd of ceph-osd-dbg: C++, 230 MB, compressed (512 MB to download)
#   kernel    vmlinux and the modules of linux-image-cloud-amd64-dbg (282 MB; 1.7 GB)
#   binutils  binutils-x86-64-linux-gnu-dbg: dwz with a supplementary file (40 MB)
#   machines  libc6-dbg and libc6 of arm64, armhf, i386, s390x, ppc64el, mips64el (50 MB):
#             the C library's debug file, and its code next to it as FILE.code
#   programs  ceph-osd and python3.11 as they are installed, with .eh_frame (19 MB)
#
# apt-get downloads the packages; nothing is installed. Of each package the files
# are taken out once; to fetch anew, remove the folder.
set -eu
cd "$(dirname "$0")/.."
usage() { sed -n 's/^# \{0,1\}//p' "$0" | sed -n 3,14p >&2; exit 2; }

# The newest package that the empty package $1 depends on.
behind() { apt-cache depends "$1" | sed -n 's/.*Depends: *//p' | head -n 1; }

# fetch PACKAGES NAME PATTERN...: extracts what fits the patterns into corpus/NAME.
fetch() {
	local package=$1 name=$2 tmp
	shift 2
	if [ -d "corpus/$name" ]; then
		echo "corpus/$name is there" >&2
		return
	fi
	mkdir -p corpus
	tmp=$(mktemp -d corpus/tmp.XXXXXX)
	( cd "$tmp" && apt-get download -q $package >&2 )
	# What does not fit is never written: such packages unpack to gigabytes.
	for deb in "$tmp"/*.deb; do dpkg-deb --fsys-tarfile "$deb"; done |
		tar -x -i -C "$tmp" --wildcards "$@"
	rm "$tmp"/*.deb
	mv "$tmp" "corpus/$name"
}

# Of the modules five, as they differ in kind; of binutils what is large.
list() {
	find corpus/ceph corpus/kernel corpus/binutils -type f \( -name 'vmlinux-*' -o \
		-name xfs.ko -o -name btrfs.ko -o -name kvm.ko -o -name nf_tables.ko -o \
		-name virtio_net.ko -o -path '*/.build-id/*' -size +1M \) 2> /dev/null | sort || true
	find corpus/machines -name '*.debug' 2> /dev/null | sort || true
}

# apt-get of another architecture, with lists of its own: dpkg here knows nothing of it.
foreign_apt() {
	local arch=$1 root=$2
	shift 2
	mkdir -p "$root/lists/partial" "$root/archives/partial"
	: > "$root/status"
	apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State::lists="$root/lists" -o Dir::State::status="$root/status" \
		-o Dir::Cache::archives="$root/archives" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 \
		-o Acquire::Languages=none "$@" >&2
}

# The debug file of the C library of architecture $1, and its code.
machine() {
	local arch=$1 to=corpus/machines/$1 tmp lib id
	[ ! -d "$to" ] || { echo "$to is there" >&2; return; }
	mkdir -p corpus/machines
	tmp=$(realpath "$(mktemp -d corpus/tmp.XXXXXX)")
	foreign_apt "$arch" "$tmp/apt" update || true # one list of several may be missing
	( cd "$tmp" && foreign_apt "$arch" "$tmp/apt" download libc6 libc6-dbg )
	for deb in "$tmp"/*.deb; do dpkg-deb -x "$deb" "$tmp/tree"; done
	lib=$(realpath "$(find "$tmp/tree/lib" -name 'libc.so.6' | head -n 1)")
	id=$(readelf -n "$lib" | sed -n 's/.*Build ID: *//p')
	mkdir "$tmp/keep"
	cp "$tmp/tree/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" "$tmp/keep/libc-$arch.debug"
	cp "$lib" "$tmp/keep/libc-$arch.debug.code"
	mv "$tmp/keep" "$to"
	rm -rf "$tmp"
}

# Keeps the largest file below corpus/$1.
keep_largest() {
	find "corpus/$1" -type f -printf '%s %p\n' | sort -rn | sed 1d | cut -d' ' -f2- |
		xargs -d '\n' -r rm
}

# Makes supplementary files of dwz findable by build ID, for tools that look for them
# under /usr/lib/debug only.
link_dwz() {
	local f id
	find "$1/.dwz" -type f | while read -r f; do
		id=$(readelf -n "$f" 2> /dev/null | sed -n 's/.*Build ID: *//p')
		mkdir -p "$1/.build-id/${id:0:2}"
		ln -sf "../../${f#"$1/"}" "$1/.build-id/${id:0:2}/${id:2}.debug"
	done
}

[ $# -gt 0 ] || usage
for what; do
	case $what in
	ceph)
		fetch ceph-osd-dbg ceph './usr/lib/debug/.build-id/*'
		keep_largest ceph ;;
	kernel)
		fetch "$(behind linux-image-cloud-amd64-dbg)" kernel './usr/lib/debug/*' ;;
	binutils)
		fetch binutils-x86-64-linux-gnu-dbg binutils './usr/lib/debug/*'
		link_dwz corpus/binutils/usr/lib/debug ;;
	programs)
		fetch "ceph-osd python3.11-minimal" programs ./usr/bin/ceph-osd ./usr/bin/python3.11 ;;
	machines)
		for arch in arm64 armhf i386 s390x ppc64el mips64el; do machine $arch; done ;;
	list) list ;;
	*) usage ;;
	esac
done
