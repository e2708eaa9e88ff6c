#!/usr/bin/env bash
# ./scripts/dist/roots.sh DIRECTORY: makes DIRECTORY/jammy (Ubuntu 22.04, glibc 2.35), DIRECTORY/bookworm (Debian 12, glibc 2.36) and
# DIRECTORY/noble (Ubuntu 24.04, glibc 2.39), small systems with python3 and venv in which tests/integration/test_dist_systems.py tries
# dist/ and the packages, 200 MB each. Needs root, network and debootstrap; installs nothing. A system that is there is kept.
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
make_system() {  # NAME MIRROR SCRIPT COMPONENTS [--keyring=FILE]
  [ ! -f "$1/ready" ] || return 0
  rm -rf "${PWD:?}/$1"
  "${DEBOOTSTRAP:-debootstrap}" --variant=minbase --components="$4" --include=python3,python3-venv,libstdc++6 "${@:5}" "$1" "$PWD/$1" "$2" "$scripts/$3"
  touch "$1/ready"
}
for system in jammy noble; do
  make_system "$system" "$mirror" jammy main,universe "--keyring=$PWD/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
done
make_system bookworm https://deb.debian.org/debian bookworm main
