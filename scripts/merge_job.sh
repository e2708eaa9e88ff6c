#!/usr/bin/env bash
# merge_job.sh [OPTION]... TRACES OUTPUT: merges the recordings of a large run on its nodes. The launcher of the run starts it once on
# each node: each node merges its own ranks into a part; the first node waits for all parts and merges them.
#
#   TRACES           directory of this node's recordings: its own, or one shared by all nodes
#   OUTPUT           merged file, in a directory shared by all nodes; the parts are written to OUTPUT.parts/
#   --nodes N        number of nodes (default: from the variables of the launcher)
#   --node I         number of this node, 0 to N-1 (default: from the variables of the launcher)
#   --host NAME      host whose recordings are merged here (default: this host); their names begin with it
#   --timeout S      seconds that the first node waits for the parts (default: 600); it lists missing parts and merges the others
#
#   srun --nodes=$SLURM_NNODES --ntasks-per-node=1 scripts/merge_job.sh traces/ run.ttrace
#   torchrun --no-python --nnodes=$N --nproc-per-node=1 --rdzv-endpoint=$HOST scripts/merge_job.sh traces/ run.ttrace
#   mpirun --map-by ppr:1:node scripts/merge_job.sh traces/ run.ttrace    # Open MPI, MPICH
#   kubectl: command: ["scripts/merge_job.sh", "--host", "$(TRAINED_ON)", "/local/traces", "/shared/run.ttrace"], completionMode: Indexed,
#     with NODES and TRAINED_ON in env; TRAINED_ON is the name of the host (or pod) that trained here
#
# Needs tracetool in PATH, next to this script, or in TRACETOOL. Exit status: on the first node that of `tracetool merge`, 3 if a part is
# missing; on the others always 0, because launchers end the whole job if one node fails: the first node reports their failures.
set -euo pipefail

usage() { sed -n '2,21s/^# \{0,1\}//p' "$0"; }
fail() { echo "merge_job: $*" >&2; exit 1; }

# The innermost launcher is the one that started this.
nodes=${GROUP_WORLD_SIZE:-${OMPI_COMM_WORLD_SIZE:-${SLURM_NNODES:-${PMI_SIZE:-${NODES:-}}}}}
node=${GROUP_RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_NODEID:-${PMI_RANK:-${JOB_COMPLETION_INDEX:-}}}}}
host=$(hostname)
timeout_s=600
while [ $# -gt 0 ]; do
  case $1 in
    --nodes|--node|--host|--timeout) [ $# -ge 2 ] || fail "$1 needs a value" ;;&
    --nodes) nodes=$2; shift 2 ;;
    --node) node=$2; shift 2 ;;
    --host) host=$2; shift 2 ;;
    --timeout) timeout_s=$2; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    -*) fail "unknown option $1; merge_job.sh --help lists the options" ;;
    *) break ;;
  esac
done
[ $# = 2 ] || fail "missing TRACES or OUTPUT; see merge_job.sh --help"
is_number() { [[ $1 =~ ^[0-9]+$ ]]; }
is_number "$nodes" && is_number "$node" && [ "$node" -lt "$nodes" ] ||
  fail "which node this is, of how many, is not known (node '$node' of '$nodes'): start it by a launcher, or give --node and --nodes"
is_number "$timeout_s" || fail "--timeout $timeout_s is no number of seconds"
traces=${1%/}/ output=$2

tracetool=${TRACETOOL:-$(command -v tracetool || echo "$(dirname "${BASH_SOURCE[0]}")/tracetool")}
[ -x "$tracetool" ] || fail "there is no tracetool in PATH; set TRACETOOL to its path"

# Recordings of this host: its name, then the boot id. Of a host node1, not those of node1-2.
hex=$(printf '[0-9a-f]%.0s' {1..8})
# The directory of the newest run that has some: TRACES, or a folder of it.
newest_run() { find "$traces" -maxdepth 2 -name "$host-$hex-*.ring" -printf '%T@ %h\n' 2>/dev/null | sort -n | tail -1 | cut -d' ' -f2-; }

# Parts of another run, of an earlier job for example, lie in another directory. A node without recordings knows of no run, and leaves
# its word above them.
run=$(newest_run)
parts=$output.parts/$(basename "${run:-.}")
name_of() { printf 'node-%05d' "$1"; }
failed="$output.parts/$(name_of "$node").failed"
mkdir -p "$parts"
rm -f "$parts/$(name_of "$node").ttrace" "$failed"
[ "$node" != 0 ] || find "$output.parts" -maxdepth 1 -name '*.failed' -mmin +1 -delete  # of an earlier attempt
if [ -z "$run" ]; then
  echo "there are no recordings of host $host in $traces" >"$failed"
else
  mapfile -t rings < <(find "$run/" -maxdepth 1 -name "$host-$hex-*.ring" | sort)
  said=$("$tracetool" merge --partial "${rings[@]}" -o "$parts/$(name_of "$node").ttrace" 2>&1) || tail -1 <<<"$said" >"$failed"
  grep warning <<<"$said" >&2 || true
fi
[ ! -e "$failed" ] || echo "merge_job: node $node: $(cat "$failed")" >&2
[ "$node" = 0 ] || exit 0
[ -n "$run" ] || fail "node 0 has no recordings, so the run is unknown"

# found: the parts that are there; missing: the nodes that have none, and have not failed.
look() {
  found=() missing=()
  local i
  for ((i = 0; i < nodes; ++i)); do
    if [ -e "$parts/$(name_of "$i").ttrace" ]; then
      found+=("$parts/$(name_of "$i").ttrace")
    elif [ ! -e "$output.parts/$(name_of "$i").failed" ]; then
      missing+=("$i")
    fi
  done
}
deadline=$((SECONDS + timeout_s))
look
while [ ${#missing[@]} -gt 0 ] && [ $SECONDS -lt $deadline ]; do
  sleep 0.5
  look
done

status=0
for i in "${missing[@]}"; do echo "merge_job: the part of node $i is missing: it did not come within $timeout_s s" >&2; done
for ((i = 0; i < nodes; ++i)); do
  failed="$output.parts/$(name_of "$i").failed"
  [ ! -e "$failed" ] || echo "merge_job: the part of node $i is missing: $(cat "$failed")" >&2
done
[ ${#found[@]} = "$nodes" ] || status=3
[ ${#found[@]} -gt 0 ] || fail "no node has a part in $parts"
"$tracetool" merge "${found[@]}" -o "$output" || status=$?
[ $status != 0 ] || rm -rf "$output.parts" || true
exit $status
