#!/usr/bin/env bash
# ./scripts/release.sh [DIRECTORY]: makes all that a release has in DIRECTORY (release/):
#   tracetool-VERSION-linux-x86_64.tar.gz         what scripts/dist.sh makes
#   tracetool_gpu-VERSION-py3-none-*.whl          for pip, pipx and uv
#   tracetool_VERSION_amd64.deb                   for Debian 12, Ubuntu 24.04 and newer
#   SHA256SUMS
# To be run on Debian 12, as scripts/dist.sh. Needs debhelper for the Debian package.
set -euo pipefail

[ $# -le 1 ] && [[ ${1:-} != -* ]] || { sed -n '2,7s/^# //p' "$0"; exit 1; }
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../release}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/dist.sh dist
read -r version _ <dist/VERSION
rm -rf "$out"
mkdir -p "$out"

name=tracetool-$version-linux-x86_64
tar --transform "s,^dist,$name," --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -czf "$out/$name.tar.gz" dist
python3 scripts/release/wheel.py dist "$out" >/dev/null
scripts/release/deb.sh dist "$out" >/dev/null
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
