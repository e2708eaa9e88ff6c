#!/usr/bin/env bash
# ./scripts/gpu_check.sh [OPTION]...: proves the recorder on this machine's GPU and measures its cost, part by part.
# It needs python3, and for most parts nvcc or a PyTorch; --help names the options, --list the parts.
# With --simulate it needs no GPU, but a build of the checkout: its figures mean nothing then.
set -euo pipefail
command -v python3 >/dev/null || { echo "gpu_check: python3 is not installed" >&2; exit 1; }
exec python3 "$(dirname "${BASH_SOURCE[0]}")/gpu_check" "$@"
