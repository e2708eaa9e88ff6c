#!/usr/bin/env bash
# merge_job.sh [OPTION]... TRACES OUTPUT: merges the recordings of a large run where they are. Started once on each node by the launcher
# of the run: each node merges its own ranks into a part, the first node waits for the parts and merges these.
#
#   TRACES           where the recordings of this node are: a directory of its own, or one that all nodes share
#   OUTPUT           the merged file, in a directory that all nodes share; the parts go to OUTPUT.parts/
#   --nodes N        how many nodes, and which one this is (0 to N-1); else the launcher's variables say it:
#   --node I         srun (SLURM), torchrun, mpirun (Open MPI, MPICH) or a Kubernetes Job with completionMode Indexed and NODES=N
#   --host NAME      whose recordings are merged here (default: this host's): their names begin with it
#   --timeout S      how long the first node waits for the parts (default 600); what is missing then is named, the rest is merged
#
#   srun --nodes=$SLURM_NNODES --ntasks-per-node=1 scripts/merge_job.sh traces/ run.ttrace
#   torchrun --no-python --nnodes=$N --nproc-per-node=1 --rdzv-endpoint=$HOST scripts/merge_job.sh traces/ run.ttrace
#   mpirun --map-by ppr:1:node scripts/merge_job.sh traces/ run.ttrace
#   kubectl: command: ["scripts/merge_job.sh", "/local/traces", "/shared/run.ttrace"], env: NODES=N, completionMode: Indexed
#
# Needs tracetool in PATH, beside this script, or named by TRACETOOL. The node's result is the exit status of its tracetool; the first
# node's is 3 where a part is missing or was left out.
set -euo pipefail

usage() { sed -n '2,20s/^# \{0,1\}//p' "$0"; }
fail() { echo "merge_job: $*" >&2; exit 1; }

# The innermost launcher is the one that started this.
nodes=${GROUP_WORLD_SIZE:-${OMPI_COMM_WORLD_SIZE:-${SLURM_NNODES:-${PMI_SIZE:-${NODES:-}}}}}
node=${GROUP_RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_NODEID:-${PMI_RANK:-${JOB_COMPLETION_INDEX:-}}}}}
job=${TORCHELASTIC_RUN_ID:-${SLURM_JOB_ID:-}}
host=$(hostname)
timeout_s=600
while [ $# -gt 0 ]; do
  case $1 in
    --nodes) nodes=${2:-}; shift 2 ;;
    --node) node=${2:-}; shift 2 ;;
    --host) host=${2:-}; shift 2 ;;
    --timeout) timeout_s=${2:-}; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    -*) fail "$1 is no option; merge_job.sh --help names them" ;;
    *) break ;;
  esac
done
[ $# = 2 ] || fail "TRACES and OUTPUT are needed; merge_job.sh --help tells more"
is_number() { [[ $1 =~ ^[0-9]+$ ]]; }
is_number "$nodes" && is_number "$node" && [ "$node" -lt "$nodes" ] ||
  fail "which node this is, of how many, is not known (node '$node' of '$nodes'): start it by a launcher, or give --node and --nodes"
is_number "$timeout_s" || fail "--timeout $timeout_s is no number of seconds"
traces=$1 output=$2 parts=$2.parts${job:+.$job}

tracetool=${TRACETOOL:-$(command -v tracetool || echo "$(dirname "${BASH_SOURCE[0]}")/tracetool")}
[ -x "$tracetool" ] || fail "there is no tracetool in PATH; set TRACETOOL to its path"

# Of the newest run that this host has recordings of, in TRACES or a folder of it.
own_recordings() {
  local hex newest
  hex=$(printf '[0-9a-f]%.0s' {1..8})  # of the boot id, behind the host's name
  newest=$(find "$traces" -maxdepth 2 -name "$host-$hex-*.ring" -printf '%T@ %h\n' 2>/dev/null | sort -rn | head -1 | cut -d' ' -f2-)
  [ -z "$newest" ] || find "$newest" -maxdepth 1 -name "$host-$hex-*.ring" | sort
}

part_of() { printf '%s/part-%05d' "$parts" "$1"; }
mkdir -p "$parts"
part=$(part_of "$node")
rm -f "$part.ttrace" "$part.failed"
mapfile -t rings < <(own_recordings)
if [ ${#rings[@]} = 0 ]; then
  echo "there are no recordings of host $host in $traces" >"$part.failed"
elif ! said=$("$tracetool" merge --partial "${rings[@]}" -o "$part.ttrace" 2>&1); then
  tail -1 <<<"$said" >"$part.failed"
fi
[ ! -e "$part.failed" ] || echo "merge_job: node $node: $(cat "$part.failed")" >&2
if [ "$node" != 0 ]; then
  [ ! -e "$part.failed" ] || exit 3
  exit 0
fi

ended() { find "$parts" -maxdepth 1 \( -name 'part-*.ttrace' -o -name 'part-*.failed' \) | wc -l; }
deadline=$((SECONDS + timeout_s))
while [ "$(ended)" -lt "$nodes" ] && [ $SECONDS -lt $deadline ]; do sleep 0.2; done

status=0 found=()
for ((i = 0; i < nodes; ++i)); do
  part=$(part_of "$i")
  if [ -e "$part.ttrace" ]; then
    found+=("$part.ttrace")
  else
    status=3
    echo "merge_job: the part of node $i is missing: $(cat "$part.failed" 2>/dev/null || echo "it did not come within $timeout_s s")" >&2
  fi
done
[ ${#found[@]} -gt 0 ] || fail "no node has a part in $parts"
"$tracetool" merge "${found[@]}" -o "$output" || status=$?
[ $status != 0 ] || rm -r "$parts"
exit $status
