#!/bin/sh
# Prints where this machine gets Debian's packages from: $MIRROR, else what apt is set up with.
#
#   scripts/mirror.sh [security]
set -eu
[ "${1:-}" = security ] || [ -z "${MIRROR:-}" ] || { echo "$MIRROR"; exit; }
uris=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null | sort -u | sed 's|/$||')
if [ "${1:-}" = security ]; then
	echo "$uris" | grep -m 1 security
else
	echo "$uris" | grep -m 1 -E '/debian$' || echo "$uris" | grep -v security | head -n 1
fi
