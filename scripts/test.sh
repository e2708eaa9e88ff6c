#!/usr/bin/env bash
# ./scripts/test.sh [--all]: sets up, builds with warnings as errors, and runs every test.
#   (nothing)  g++ with every suite
#   --all      besides: every file alone with clang++, the unit tests on aarch64 (qemu), where these are installed; dist/; a
#              clone that sees no real traces; every suite with ASan + UBSan (of clang++, where it is), the unit tests with TSan
# Every skip must be on scripts/expected_skips.txt. The last line counts: N passed, M failed[, K skipped].
set -euo pipefail

all=no
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    *) sed -n '2,6s/^# //p' "$0"; exit 1 ;;
  esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh --tests

results=build-test-results
rm -rf "$results"
mkdir "$results"

note() { python3 scripts/test_results.py step "$results" "$@"; }

# attempt CONFIG STEP COMMAND...: runs it quietly and notes how it went; on failure shows the end of what it said.
attempt() {
  local config=$1 name=$2 log="$results/$1-${2// /-}.log"
  shift 2
  if "$@" >"$log" 2>&1; then
    note "$config" "$name" OK
  else
    note "$config" "$name" FAIL
    echo "$config: $name failed: $*"
    grep -A20 "^FAILED" "$log" || tail -60 "$log"
    return 1
  fi
}

configure() {
  local folder=$1
  shift
  if [ -f "$folder/build.ninja" ]; then meson configure "$folder" "$@"; else meson setup "$folder" "$@"; fi &&
    { [ "${targets:-}" != "$each_alone" ] || python3 scripts/each_alone.py "$folder"; }
}

# The targets that make nothing: the compiler only says what is wrong.
each_alone='-f each_alone.ninja each_alone'

# with_clang COMMAND...: where there is clang++, it is the compiler of what that configures.
with_clang() { if have_command clang++; then CC=clang CXX=clang++ "$@"; else "$@"; fi; }

# build CONFIG FOLDER OPTION...: all of it, or the targets that `targets` names.
build() {
  local config=$1 folder=$2
  shift 2
  printf '\n== %s: building in %s\n' "$config" "$folder"
  attempt "$config" configure configure "$folder" "$@" && attempt "$config" build ninja -k 0 -C "$folder" ${targets:-}
}

# ahead FOLDER OPTION...: builds there what `targets` names with the time that tests leave, until `end_ahead`. What fails, the
# build that follows says.
ahead() {
  local folder=$1
  shift
  [ $all = yes ] && have_command chrt && configure "$folder" "$@" >/dev/null 2>&1 || return 0
  chrt --idle 0 ninja -k 0 -C "$folder" ${targets:-} >/dev/null 2>&1 &
  ahead_of=$!
}

end_ahead() {
  [ -n "${ahead_of:-}" ] || return 0
  kill "$ahead_of" 2>/dev/null || true  # ninja removes what is not whole
  wait "$ahead_of" || true
  ahead_of=
}
trap end_ahead EXIT

# copy_programs FROM TO PATH...
copy_programs() { (cd "$1" && cp -R --parents "${@:3}" "$2"); }

# run_suites CONFIG FOLDER [SUITE...]: the tests of these suites (of all, where none is named).
run_suites() {
  local config=$1 folder=$2 tests
  shift 2
  mapfile -t tests < <(python3 scripts/test_results.py select "$config" "$folder" "$@")
  [ ${#tests[@]} -gt 0 ] || { note "$config" "tests of ${*:-every suite}" FAIL; return 0; }
  printf '== %s: %s tests\n' "$config" ${#tests[@]}
  rm -f "$folder/meson-logs/testlog.json"
  # One more than there are cores, because many tests wait.
  meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier "$patience" \
    --num-processes $(($(nproc) + 1)) "${tests[@]}" || true
  cp "$folder/meson-logs/testlog.json" "$results/$config.json" || note "$config" "run of the tests" FAIL
}

test_gcc() {
  build g++ build -Dagent=$agent -Dtests=enabled -Dwerror=true -Dunity=on || return 0
  [ $agent = enabled ] || note g++ "the agent" SKIP
  ! have_command clang++ || targets=$each_alone with_clang ahead build-clang "${clang_options[@]}"
  run_suites g++ build
  end_ahead
}

# Each file alone here, so that it has to include what it needs. What clang++ makes of them runs with ASan + UBSan.
clang_options=(-Dagent=$agent -Dwerror=true -Dunity=off)
test_clang() {
  have_command clang++ || { note clang++ "clang++" SKIP; return 0; }
  targets=$each_alone with_clang build clang++ build-clang "${clang_options[@]}" || return 0
}

# The agent alone: tracetool's libraries are not there for another machine. Unit tests need Catch2 2, which is headers.
test_aarch64() {
  local qemu options=(--cross-file scripts/aarch64.ini -Dcli=disabled -Dtests=disabled -Dwerror=true -Dunity=on)
  [ $agent = enabled ] && have_command aarch64-linux-gnu-g++ || { note aarch64 "aarch64-linux-gnu-g++" SKIP; return 0; }
  qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
  if [ -z "$qemu" ] || [ ! -f /usr/share/pkgconfig/catch2.pc ]; then
    note aarch64 "qemu-aarch64 and Catch2 2" SKIP
    qemu=
  else
    printf "[binaries]\nexe_wrapper = ['%s', '-L', '/usr/aarch64-linux-gnu']\n" "$qemu" >"$results/qemu.ini"
    options+=(--cross-file "$results/qemu.ini" -Dtests=enabled)
  fi
  rm -rf build-aarch64
  build aarch64 build-aarch64 "${options[@]}" || return 0
  attempt aarch64 symbols python3 tests/integration/test_symbols.py --agent build-aarch64/agent/libagent.so || true
  [ -z "$qemu" ] || run_suites aarch64 build-aarch64 unit
}

# dist/, as scripts/dist.sh makes it, with the training that the first build has.
test_dist() {
  [ $agent = enabled ] || { note dist "dist/" SKIP; return 0; }
  local glibc
  glibc=$(getconf GNU_LIBC_VERSION)
  [ "$(printf '%s\nglibc 2.36\n' "$glibc" | sort -V | tail -1)" = 'glibc 2.36' ] || { note dist "an old glibc" SKIP; return 0; }
  printf '\n== dist: building in build-dist\n'
  local ended=0
  scripts/dist.sh build-dist/dist >"$results/dist-build.log" 2>&1 || ended=$?
  [ $ended != 75 ] || { note dist "source packages" SKIP; return 0; }
  [ $ended = 0 ] || { note dist build FAIL; tail -60 "$results/dist-build.log"; return 0; }
  note dist build OK
  attempt dist portable python3 tests/integration/test_dist.py --dist build-dist/dist \
    --simulated build/examples/simulated_training/simulated_training || true
  # Ubuntu 22.04 and 24.04 and Debian 12, which are downloaded into that folder.
  [ -n "${TRACETOOL_ROOTS:-}" ] || { note dist "other systems" SKIP; return 0; }
  attempt dist "other systems" python3 tests/integration/test_dist_systems.py --dist build-dist/dist \
    --simulated build/examples/simulated_training/simulated_training || true
}

# What is committed, where nothing lies beside it: the tests of Kineto traces, and those of the scripts and documents,
# with the programs of the first build.
test_stranger() {
  git rev-parse --verify -q HEAD >/dev/null || { note stranger "a git repository" SKIP; return 0; }
  local folder programs=(cli/tracetool)
  folder=$(mktemp -d)
  attempt stranger clone git clone -q --depth 1 "file://$PWD" "$folder/tracetool" || return 0
  [ ! -d .venv ] || ln -s "$PWD/.venv" "$folder/tracetool/.venv"  # the headers of CUDA that setup.sh fetched
  printf '\n== stranger: in %s\n' "$folder/tracetool/build"
  [ $agent = disabled ] || programs+=(agent/libagent.so examples/simulated_training/{simulated_training,standin})
  if attempt stranger configure meson setup "$folder/tracetool/build" "$folder/tracetool" -Dagent=$agent &&
    attempt stranger programs copy_programs build "$folder/tracetool/build" "${programs[@]}"; then
    run_suites stranger "$folder/tracetool/build" traces scripts
  fi
  rm -rf "$folder"
}

# With line numbers alone and, with ASan and UBSan, not optimised: compilers take several times as long otherwise, the tests
# hardly less; and g++ takes twice as long for these as clang++.
sanitizer_options=(-Dagent=$agent -Dunity=on -Dbuildtype=plain -Db_lundef=false)
# clang++ alone checks the types of functions, and the agent gives NVTX and CUPTI some that take a void* for their handles.
address_options=("${sanitizer_options[@]}" -Db_sanitize=address,undefined
  "-Dcpp_args=-g1$(! have_command clang++ || printf ' -fno-sanitize=function')")
thread_options=("${sanitizer_options[@]}" -Dcpp_args=-g1 -Doptimization=1 -Db_sanitize=thread)
thread_targets='tests/unit/unit_common tests/unit/unit_cli'
[ $agent = disabled ] || thread_targets+=' tests/unit/unit_agent'

# The agent leaves its memory to the end of the process on purpose, so leaks are looked for in the unit tests only.
test_addresses() {
  with_clang build asan build-asan "${address_options[@]}" || return 0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  targets=$thread_targets ahead build-tsan "${thread_options[@]}"
  ASAN_OPTIONS=abort_on_error=1 run_suites asan build-asan unit fuzz bench
  [ $agent = disabled ] ||
    # Kills and large traces are slow there, and come with g++.
    TRACETOOL_KILLS=12 TRACETOOL_SMALL_TRACES=1 ASAN_OPTIONS=abort_on_error=1:detect_leaks=0 run_suites asan-integration build-asan integration
  end_ahead
}

# The unit tests alone run under it, of which there is one program per room.
# TSan does not know pthread_clockjoin_np(3), and takes threads that were joined by it for leaked ones.
test_threads() {
  targets=$thread_targets build tsan build-tsan "${thread_options[@]}" || return 0
  TSAN_OPTIONS=die_after_fork=0:halt_on_error=1:report_thread_leaks=0 run_suites tsan build-tsan unit
}

# timed NAME COMMAND...: notes what that configuration took.
timed() {
  local TIMEFORMAT="  %0R s (%0U s + %0S s of a core)  $1"
  shift
  { time "$@" 2>&3; } 3>&2 2>>"$results/times"
}

patience=1
[ $all = yes ] || export TRACETOOL_KILLS=${TRACETOOL_KILLS:-20}  # a hundred take a minute and a half
timed g++ test_gcc
if [ $all = yes ]; then
  timed clang++ test_clang
  patience=5 timed aarch64 test_aarch64
  timed dist test_dist
  timed stranger test_stranger
  patience=5 timed asan test_addresses
  patience=5 timed tsan test_threads
fi
printf '\nTook:\n'
cat "$results/times"
python3 scripts/test_results.py summary "$results"
