#!/bin/sh
# Runs make targets in a fresh Debian that has git, gcc and make, and nothing else.
#
#   scripts/chroot_test.sh [-i "PACKAGES"] [-b OUTSIDE:INSIDE]... SUITE [TARGET...]
#   scripts/chroot_test.sh [-i "PACKAGES"] [-b OUTSIDE:INSIDE]... SUITE -- COMMAND...
#
# SUITE is bookworm (Debian 12) or trixie (Debian 13). What is committed here is cloned to
# /srv/symcache there, and `make TARGET...` (test) or the command runs in the clone. The exit
# status is that of make or the command.
#
#   -i  the packages that are there, instead of git, gcc and make
#   -b  the folder OUTSIDE is seen as INSIDE, read-only: data to test with, say
#
# Needs root, debootstrap and a mirror of Debian. $ROOTS (/var/cache/symcache-roots) keeps a
# pristine root of each suite and all packages, 1 GB: the second time nothing is fetched; remove
# it for newer packages. Mounts are made in a namespace of their own, and the processes in
# there have their own, too: both end with this script, whatever ends it.
set -eu
cd "$(dirname "$0")/.."
usage() { sed -n '2,/^set/{/^# \?/{s///;p}}' "$0" >&2; exit 2; }
roots=${ROOTS:-/var/cache/symcache-roots} mirror=$(scripts/mirror.sh)
packages="git gcc make" binds=
while getopts i:b: o; do
	case $o in
	i) packages=$OPTARG ;;
	b) [ -d "${OPTARG%%:*}" ] || { echo "chroot_test.sh: there is no folder ${OPTARG%%:*}" >&2; exit 2; }
	   binds="$binds $(realpath "${OPTARG%%:*}"):${OPTARG#*:}" ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
suite=${1:-}
case $suite in bookworm|trixie) shift ;; *) usage ;; esac
case ${1:-} in
'') set -- make -j"$(nproc)" test ;;
--) shift ;;
*) set -- make -j"$(nproc)" "$@" ;;
esac
[ "$(id -u)" = 0 ] || { echo "chroot_test.sh: only root can make a root folder (sudo $0 $suite)" >&2; exit 2; }
command -v debootstrap > /dev/null || { echo "chroot_test.sh: there is no debootstrap; apt-get install debootstrap" >&2; exit 2; }

# One run of a suite at a time; what a run that was killed left goes away. The lock is held by
# all that runs inside.
mkdir -p "$roots/debs-$suite/partial"
exec 9> "$roots/$suite.lock"
flock -n 9 || { echo "chroot_test.sh: waiting for another run of $suite" >&2; flock 9; }
root=$roots/run-$suite
trap 'rm -rf --one-file-system "$root" "$roots/$suite.part"' EXIT
trap 'exit 130' INT TERM HUP
rm -rf --one-file-system "$root" "$roots/$suite.part"
if [ ! -d "$roots/$suite" ]; then
	echo "chroot_test.sh: making a root of $suite" >&2
	debootstrap --variant=minbase --cache-dir="$roots/debs-$suite" "$suite" "$roots/$suite.part" "$mirror" \
		> "$roots/$suite.log" 2>&1 || { tail -n 20 "$roots/$suite.log" >&2; exit 1; }
	mv "$roots/$suite.part" "$roots/$suite"
fi
cp -a "$roots/$suite" "$root"
for f in resolv.conf hosts; do [ ! -e /etc/$f ] || cp -L /etc/$f "$root/etc/$f"; done
[ -z "$(git status --porcelain)" ] || echo "chroot_test.sh: changes that are not committed are not tested" >&2
git clone -q --no-hardlinks . "$root/srv/symcache"

# In the namespaces: mounts, packages, the command. It is their first process, so that all end with it.
export root roots suite packages binds
inside='
set -eu
trap "exit 130" INT TERM HUP
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount --bind "$roots/debs-$suite" "$root/var/cache/apt/archives"
for b in $binds; do
	mkdir -p "$root${b#*:}"
	mount --bind -o ro "${b%%:*}" "$root${b#*:}"
done
# The root of the namespace, not a changed root: that may make namespaces itself.
cd "$root"
mkdir -p .outside
pivot_root . .outside
cd /
fresh() {
	env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
umount -l /.outside
rmdir /.outside
[ -z "$packages" ] || fresh apt-get install -qq --no-install-recommends $packages > /tmp/apt.log 2>&1 ||
	{ tail -n 20 /tmp/apt.log >&2; exit 1; }
cd /srv/symcache
fresh "$@"
'
# In the background, as a shell runs traps only while it waits; it dies with this script.
exec 8<&0
setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
	sh -c "$inside" sh "$@" <&8 8<&- &
inner=$!
trap 'kill -KILL $inner 2> /dev/null || true; wait $inner 2> /dev/null || true; rm -rf --one-file-system "$root"' EXIT
status=0
wait $inner || status=$?
[ $status = 0 ] || echo "chroot_test.sh: $suite: '$*' ended with status $status" >&2
exit $status
