#!/usr/bin/env bash
# ./scripts/demo.sh [DIR]: sets up, builds, records a training of 8 ranks with libagent.so, merges and exports it.
# Leaves DIR/traces, DIR/run.ttrace and DIR/run.json.gz (DIR: out). Needs no GPU. Can be run again.
set -euo pipefail

out=$(realpath -m "${1:-out}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m --relative-base="$PWD" "$out")
. scripts/setup.sh ""

tracetool=build/cli/tracetool
training=build/examples/simulated_training/simulated_training
stamp=$out/.made-by-demo

say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

build() {
  say "Building"
  local options=(-Dagent=$agent)
  if [ -f build/build.ninja ]; then
    meson configure build "${options[@]}"
  else
    meson setup build "${options[@]}" -Dtests=disabled -Dunity=on >/dev/null
  fi
  ninja -C build --quiet || { echo "demo: the build failed; its messages are above" >&2; exit 1; }
  ls -1sh "$tracetool" $([ $agent = disabled ] || echo build/agent/libagent.so)
}

# Removes what an earlier demo left here, and nothing else.
clear_own_outputs() {
  mkdir -p "$out"
  if [ ! -e "$stamp" ] && { [ -e "$out/traces" ] || [ -e "$out/run.ttrace" ] || [ -e "$out/run.json.gz" ]; }; then
    echo "demo: $out holds traces that this script did not make: name another directory: ./scripts/demo.sh DIR" >&2
    exit 1
  fi
  touch "$stamp"
  rm -rf "$out/traces" "$out/run.ttrace" "$out/run.json.gz"
}

without_agent() {
  say "Cannot record"
  echo "libagent.so needs the CUDA headers, and there are none. $tracetool is built and reads PyTorch's own traces:"
  echo "  $tracetool info worker0.pt.trace.json.gz"
  exit 1
}

main_job() {
  say "Recording 8 ranks of a simulated training through the shipped libagent.so"
  run env TRACETOOL_BUFFER=16M $training --ranks 8 --steps 20 --dir "$out/traces"
  say "What was recorded"
  run $tracetool info "$out/traces"
  say "All ranks on one time axis"
  run $tracetool merge "$out/traces" -o "$out/run.ttrace"
  say "Where the time went"
  run $tracetool analyze "$out/run.ttrace"
  say "For Perfetto"
  run $tracetool export --perfetto "$out/run.ttrace" -o "$out/run.json.gz"
}

next_steps() {
  say "What there is now"
  du -sh "$out/traces" "$out/run.ttrace" "$out/run.json.gz"
  say "What to do next"
  echo "Look at it:        open https://ui.perfetto.dev and drop $out/run.json.gz on it"
  echo "Read the steps:    $tracetool analyze $out/run.ttrace --only steps"
  echo "Read every record: $tracetool dump $out/run.ttrace | less"
  echo "Record your own:   CUDA_INJECTION64_PATH=$PWD/build/agent/libagent.so torchrun --nproc-per-node=8 train.py"
  echo "                   (traces appear in ./traces; TRACETOOL_VERBOSE=1 says where and what was found)"
  if nvidia-smi -L >/dev/null 2>&1; then
    echo "This machine has a GPU: the last line records it for real."
  fi
}

build
[ "$agent" = enabled ] || without_agent
clear_own_outputs
main_job
next_steps
