#!/bin/sh
# Makes a folder of Debian 12's C library, its debug file, libgcc and libstdc++, which recorded core
# files and logs were made with: of links where this machine has them, else of packages that are
# fetched, 20 MB, and not installed.
#
#   scripts/debian12.sh FOLDER
#
# FOLDER gets lib/x86_64-linux-gnu and usr/lib/debug; what was made before is left alone. Fetched
# it is only where ../shared has what was recorded, and not with DEPS=no. $MIRROR: of Debian, in place of apt's.
set -eu
cd "$(dirname "$0")/.."
build_id=93ac61ec5a8eb1396f9fbd350e3169a558528a40 # of libc.so.6 in 2.36-9+deb12u14
debug=usr/lib/debug/.build-id/93/${build_id#93}.debug
[ ! -e "$1/$debug" ] || exit 0
mkdir -p "$(dirname "$1")"
tmp=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
root=$tmp/root
mkdir -p "$root"
if [ -e "/$debug" ]; then
	ln -s /lib /lib64 /usr "$root"
elif [ "${DEPS:-}" = no ] || [ ! -d ../shared/data ] || ! command -v apt-get > /dev/null; then
	exit 0
else
	mkdir -p "$tmp/state/lists/partial" "$tmp/cache/archives/partial" "$tmp/debs"
	: > "$tmp/state/status"
	signed=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb [arch=amd64 $signed] $(scripts/mirror.sh) bookworm main" > "$tmp/sources.list"
	apt() {
		apt-get -qq -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=- \
			-o Dir::State="$tmp/state" -o Dir::State::Status="$tmp/state/status" \
			-o Dir::Cache="$tmp/cache" -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
			-o APT::Sandbox::User= "$@" > "$tmp/said" 2>&1 || { cat "$tmp/said" >&2; return 1; }
	}
	case $tmp in /*) ;; *) tmp=$PWD/$tmp root=$PWD/$root ;; esac
	apt update
	(cd "$tmp/debs" && apt download libc6 libc6-dbg libgcc-s1 libstdc++6)
	for deb in "$tmp"/debs/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	[ -e "$root/$debug" ] || { echo "debian12.sh: the mirror has another libc than $build_id" >&2; exit 1; }
fi
rm -rf "$1"
mv "$root" "$1"
