# Sourced by dist.sh: build_static_libraries DIRECTORY makes there, once, what Debian has only as shared libraries, each
# with a pkg-config file that hides the shared one, and the licences of everything that ends up in tracetool.
#   fmt, simdjson, ISA-L   built from the sources of Debian's own packages
#   zstd, SQLite, libdw    the archives of libzstd-dev, libsqlite3-dev, libdw-dev and of what these need
#   older_glibc.o          see older_glibc.c
# The versions are those of the installed headers, so the headers stay where they are.

. scripts/sources.sh

# unpack DIRECTORY NAME: DIRECTORY/NAME_*.orig.tar.* becomes DIRECTORY/NAME.
unpack() {
  mkdir -p "$1/$2"
  tar -xf "$1/$2"_*.orig.tar.* -C "$1/$2" --strip-components=1
}

# describe DIRECTORY NAME CFLAGS LIBS: a pkg-config file with the version of the installed headers.
describe() {
  printf 'Name: %s\nDescription: for dist.sh\nVersion: %s\nCflags: %s\nLibs: %s\n' \
    "$2" "$(pkg-config --modversion "$2")" "$3" "$4" >"$1/$2.pc"
}

# build_one DIRECTORY NAME SOURCE INCLUDE: DIRECTORY/libNAME.a of one source file.
build_one() {
  local flags
  flags=$(pkg-config --cflags "$2")
  g++ -std=c++17 -O3 -DNDEBUG $flags -I"$1/$4" -c "$1/$3" -o "$1/$2.o"
  ar rcs "$1/lib$2.a" "$1/$2.o"
  describe "$1" "$2" "$flags" "-L$PWD/$1 -l$2"
}

build_fmt() {
  unpack "$1" fmtlib
  build_one "$1" fmt fmtlib/src/format.cc fmtlib/include
}

build_simdjson() {
  unpack "$1" simdjson
  build_one "$1" simdjson simdjson/singleheader/simdjson.cpp simdjson/singleheader
}

build_isal() {
  unpack "$1" libisal
  make -C "$1/libisal" -f Makefile.unx -j2 units='crc igzip' lib >"$1/libisal.log" 2>&1 || { tail -20 "$1/libisal.log"; false; }
  cp "$1/libisal/bin/isa-l.a" "$1/libisal.a"
  describe "$1" libisal '' "-L$PWD/$1 -lisal"
}

copy_licences() {
  mkdir -p "$1/licences"
  cp "$1/simdjson/LICENSE" "$1/licences/simdjson.txt"
  cp "$1/libisal/LICENSE" "$1/licences/isa-l.txt"
  [ ! -f .venv/libunwind/COPYING ] || cp .venv/libunwind/COPYING "$1/licences/libunwind.txt"
  local pair
  for pair in libfmt-dev:fmt libcli11-dev:cli11 libzstd-dev:zstd libprotozero-dev:protozero \
      libsqlite3-dev:sqlite libdw-dev:elfutils zlib1g-dev:zlib libbz2-dev:bzip2 liblzma-dev:xz "libstdc++-$(g++ -dumpversion)-dev:libstdc++"; do
    cp -L "/usr/share/doc/${pair%:*}/copyright" "$1/licences/${pair#*:}.txt"
  done
}

build_static_libraries() {
  [ -f "$1/ready" ] || build_all "$1"
  copy_licences "$1"
}

build_all() {
  rm -rf "$1"
  mkdir -p "$1"
  fetch_sources "$1" libfmt-dev libsimdjson-dev libisal-dev || { echo "dist: this system's package sources hold no source packages, or cannot be reached" >&2; exit 75; }
  build_fmt "$1"
  build_simdjson "$1"
  build_isal "$1"
  gcc -O2 -fPIE -Wall -Wextra -Werror -c scripts/dist/older_glibc.c -o "$1/older_glibc.o"
  touch "$1/ready"
}
