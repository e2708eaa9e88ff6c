#!/usr/bin/env bash
# ./scripts/dist/roots.sh DIRECTORY: makes DIRECTORY/jammy (Ubuntu 22.04, glibc 2.35) and DIRECTORY/noble (24.04, glibc 2.39), small
# systems with python3 to try dist/ in (tests/integration/test_dist_systems.py), 150 MB each. Needs root, network and
# debootstrap; installs nothing. What is there is kept.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0"; exit 1; }
mirror=https://archive.ubuntu.com/ubuntu
keyring=ubuntu-keyring_2023.11.28.1_all.deb  # Debian has none; this comes over TLS, the rest is checked with it
scripts=${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts
mkdir -p "$1"
cd "$1"

if [ ! -f keys/usr/share/keyrings/ubuntu-archive-keyring.gpg ]; then
  curl -fsS --retry 3 -o "$keyring" "$mirror/pool/main/u/ubuntu-keyring/$keyring"
  dpkg -x "$keyring" keys
fi
for system in jammy noble; do
  [ ! -f "$system/ready" ] || continue
  rm -rf "${PWD:?}/$system"
  "${DEBOOTSTRAP:-debootstrap}" --variant=minbase --include=python3,libstdc++6 \
    --keyring="$PWD/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$system" "$PWD/$system" "$mirror" "$scripts/jammy"
  touch "$system/ready"
done
