#!/usr/bin/env bash
# ./scripts/soak.sh [OPTION VALUE]...: what is too long for every run of the tests. Builds in build/, needs no GPU.
#   --kills N     SIGKILLs at random moments (1000), 100 for each seed
#   --seed N      the first seed (the time of day): repeats the moments of an earlier run
#   --records N   records through a small ring and through a spool file (30000000)
#   --strings N   NVTX texts that are all different (10000000)
#   --shapes N    launch shapes that are all different, through a ring of 64 bytes for each (1000000)
#   --minutes M   when all this is done, more kills with other seeds until M minutes have gone since the start (0)
#   --build DIR   takes what is built there, as it is
# A part with 0 is left out. What a part said is in build-soak-results/; the last lines tell how each one ended.
set -euo pipefail

usage() { sed -n '2,10s/^# //p' "$0"; exit 1; }

kills=1000 seed=$(date +%s) records=30000000 strings=10000000 shapes=1000000 minutes=0 build=
while [ $# -gt 0 ]; do
  [[ $# -ge 2 && ($1 = --build || $2 =~ ^[0-9]+$) ]] || usage
  case $1 in
    --build) build=$(realpath "$2") ;;
    --kills) kills=$2 ;;
    --seed) seed=$2 ;;
    --records) records=$2 ;;
    --strings) strings=$2 ;;
    --shapes) shapes=$2 ;;
    --minutes) minutes=$2 ;;
    *) usage ;;
  esac
  shift 2
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=build-soak-results
rm -rf "$results"
mkdir "$results"

build_all() {
  . scripts/setup.sh --tests
  [ "$agent" = enabled ] || { echo "soak: there is no agent to be tested" >&2; exit 1; }
  build=build
  if [ -f build/build.ninja ]; then meson configure build -Dtests=enabled; else meson setup build -Dtests=enabled -Dunity=on; fi >/dev/null
  ninja --quiet -C build
}

[ -n "$build" ] || build_all
small=$build/tests/integration/programs
programs=(--agent "$build/agent/libagent.so" --simulated "$build/examples/simulated_training/simulated_training")
summary=()
failed=0

# part NAME COMMAND...: runs it, with its words in a file, and notes how it ended and how long it took.
part() {
  local name=$1 log="$results/${1// /-}.log" ended=held started=$SECONDS
  shift
  printf '== %s\n' "$name"
  "$@" >"$log" 2>&1 || { ended="FAILED: $log" failed=$((failed + 1)); grep '^FAIL' "$log" | cut -c1-300 | head -5 || tail -5 "$log"; }
  summary+=("$(printf '%-34s %5d s  %s' "$name" $((SECONDS - started)) "$ended")")
  tail -40 "$log" | grep -E '^(\{|note|all held|[0-9]+ failed)' || true
}

kill_some() { part "$1 kills, seed $2" env TRACETOOL_KILLS="$1" TRACETOOL_SEED="$2" python3 tests/integration/test_kill.py "${programs[@]}"; }

kill_all() {
  local left=$kills
  while [ "$left" -gt 0 ]; do
    kill_some $((left < 100 ? left : 100)) "$seed"
    left=$((left - 100)) seed=$((seed + 1))
  done
}

kill_until() {
  while [ $SECONDS -lt $((minutes * 60)) ]; do
    kill_some 100 "$seed"
    seed=$((seed + 1))
  done
}

volume() {
  [ "$records" = 0 ] || part "$records records" python3 tests/integration/test_volume.py "${programs[@]}" \
    --tracetool "$build/cli/tracetool" --programs "$small" --records "$records"
}

different_names() {
  [ "$strings" = 0 ] || part "$strings different names" env TRACETOOL_NVTX_STRINGS="$strings" \
    python3 tests/integration/test_nvtx.py --agent "$build/agent/libagent.so" --program "$small/nvtx_calls"
}

different_shapes() {
  [ "$shapes" = 0 ] || part "$shapes different shapes" env TRACETOOL_SHAPES="$shapes" \
    python3 tests/integration/test_threads.py "${programs[@]}" --programs "$small"
}

echo "the first seed is $seed"
kill_all
volume
different_names
different_shapes
kill_until
printf '\n== Summary\n'
printf '%s\n' "${summary[@]}"
printf '%d parts, %d failed\n' ${#summary[@]} $failed
[ $failed = 0 ]
