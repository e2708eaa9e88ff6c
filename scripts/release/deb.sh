#!/usr/bin/env bash
# scripts/release/deb.sh DIST OUTPUT: packs what scripts/dist.sh made into a Debian package for amd64. Prints its path. Needs debhelper.
set -euo pipefail

[ $# = 2 ] || { sed -n '2s/^# //p' "$0"; exit 1; }
dist=$(realpath "$1") output=$(realpath -m "$2")
cd "$(dirname "${BASH_SOURCE[0]}")"
read -r version commit <"$dist/VERSION"
date=$(git log -1 --format=%aD 2>/dev/null || date -R)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tracetool/dist" "$output"
cp -r debian "$work/tracetool/debian"
cp -r "$dist"/{tracetool,libagent.so,merge_job.sh,share,licences,README.md} "$work/tracetool/dist"
cat >"$work/tracetool/debian/changelog" <<CHANGELOG
tracetool ($version) unstable; urgency=medium

  * Made of commit $commit.

 -- tracetool developers <tracetool@localhost>  $date
CHANGELOG
(cd "$work/tracetool" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work"/*.deb "$output"
echo "$output"/tracetool_"$version"_amd64.deb
