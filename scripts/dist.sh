#!/usr/bin/env bash
# ./scripts/dist.sh [DIRECTORY]: makes DIRECTORY (dist/), which runs on any Linux with glibc 2.34 or newer:
#   libagent.so          the recorder for this machine's processor, and aarch64/libagent.so where the cross compiler is
#   tracetool            with fmt, CLI11, zstd, simdjson, ISA-L, SQLite, protozero, libdw and libstdc++ inside; it needs glibc and nothing else
#   gpu_check.sh         with gpu_check/: checks the recorder on a GPU; needs python3 there (docs/gpu/README.md, beside it)
#   merge_job.sh         merges a large run, on all of its nodes
#   share/               manual pages, and completions of bash, zsh and fish
#   README.md VERSION LICENSE licences/
# To be run on Debian 12 or an older system with its packages (a newer glibc writes newer symbols into what it links).
# It is incremental: build-dist/ keeps what was built. tests/integration/test_dist.py checks the result.
set -euo pipefail

[ $# -le 1 ] && [[ ${1:-} != -* ]] || { sed -n '2,10s/^# //p' "$0"; exit 1; }
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../dist}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh --dist
[ "$agent" = enabled ] || exit 1
. scripts/dist/libraries.sh

build=build-dist

# configure DIRECTORY OPTION...
configure() {
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || meson setup "$folder" -Dtests=disabled -Dwerror=true -Dunity=on "$@"
}

build_here() {
  local libraries=$PWD/$build/libraries
  configure $build -Dprefer_static=true --pkg-config-path "$libraries" \
    -Dcpp_link_args="-static-libstdc++ -static-libgcc $libraries/older_glibc.o"
  ninja -C $build agent/libagent.so cli/tracetool scripts/gpu_check/capture/libraw_capture.so
}

build_aarch64() {
  configure $build-aarch64 --cross-file scripts/aarch64.ini -Dcli=disabled
  ninja -C $build-aarch64 agent/libagent.so
}

# What is copied beside the programs. Licences first: who cannot give them gives nothing.
collect() {
  rm -rf "$out"
  mkdir -p "$out/licences"
  cp LICENSE "$out"
  cp $build/libraries/licences/* "$out/licences"
  python3 scripts/dist/readme.py . >"$out/README.md"
  printf '%s %s\n' "$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)" \
    "$(git rev-parse --short HEAD 2>/dev/null || echo 'from no git repository')" >"$out/VERSION"
  cp scripts/merge_job.sh "$out"
  strip -o "$out/libagent.so" $build/agent/libagent.so
  strip -o "$out/tracetool" $build/cli/tracetool
  "$out/tracetool" pages "$out/share"
}

# The programs, the examples that they are made of, and the reader; no source of what is built here, no test.
collect_gpu_check() {
  local folder=$out/gpu_check example
  mkdir -p "$folder/parts" "$folder/programs" "$folder/examples"
  cp scripts/gpu_check.sh "$out"
  cp scripts/gpu_check/*.py "$folder"
  cp scripts/gpu_check/parts/*.py "$folder/parts"
  cp scripts/gpu_check/programs/*.* "$folder/programs"
  cp examples/*.py "$folder/examples"
  for example in cuda pytorch nccl; do cp -r "examples/$example" "$folder/examples"; done
  find "$folder" -name __pycache__ -prune -exec rm -r {} +
  cp docs/gpu/README.md "$folder"
  strip -o "$folder/libraw_capture.so" $build/scripts/gpu_check/capture/libraw_capture.so
}

build_static_libraries $build/libraries
build_here
collect
collect_gpu_check
if have_command aarch64-linux-gnu-g++; then
  build_aarch64
  mkdir "$out/aarch64"
  aarch64-linux-gnu-strip -o "$out/aarch64/libagent.so" $build-aarch64/agent/libagent.so
else
  echo "dist: no agent for aarch64: aarch64-linux-gnu-g++ is not installed (package g++-aarch64-linux-gnu)" >&2
fi
echo "newest glibc that is asked for: $(readelf -WV "$out/tracetool" "$out/libagent.so" "$out/gpu_check/libraw_capture.so" | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -1)"
(cd "$out" && find . -type f ! -path './licences/*' -printf '%s bytes  %P\n' | sort -k3)
