"""Loads what really happened (simulated_training --truth FILE, described in examples/simulated_training/README.md), and
the recordings of the same job."""
import collections
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

from harness import files_below, run  # noqa: E402

CUPTI_KINDS = ("kernel", "memcpy", "memcpy_peer", "memset", "runtime", "driver")  # in every training
MORE_CUPTI_KINDS = ("sync", "cuda_event", "overhead", "graph_launch", "memory", "memory_pool")  # where they are asked for
ALL_CUPTI_KINDS = CUPTI_KINDS + MORE_CUPTI_KINDS
DEFINED_KINDS = ("device", "context", "stream")  # CUPTI hands them over too; they become definitions
OTHER_KINDS = ("host_pause", "graph_node", "resource_name", "nvtx_category", "communicator", "external_correlation", "unknown",
               "other_profiler")
HOST_KINDS = ("nvtx_push", "nvtx_pop", "nvtx_start", "nvtx_end", "nvtx_mark", "nccl_call")
AGENTS_OWN = ("clock", "notice")  # kinds of which the truth knows nothing
AGENTS_CALLS = ("cuDriverGetVersion", "cuDeviceGetPCIBusId", "cuDeviceGetUuid", "cuDeviceGetUuid_v2",
                "cuDeviceGetAttribute", "cuDeviceGetName")  # the program makes none of these
FOREVER = 2**64


class Rank:
    """The truth of one process. Every line is a dict; CUPTI's kinds say what became of them in `fate`."""

    def __init__(self, rank, pid, path, killed=False):
        self.rank, self.pid, self.lines, self.handed, self.clock = rank, pid, [], [], {}
        for line in read_lines(path):
            kind = line["kind"]
            if kind == "handed":
                self.handed.append(line)
            elif kind == "clock":
                self.clock = line
            elif kind in ALL_CUPTI_KINDS + HOST_KINDS + DEFINED_KINDS + OTHER_KINDS:
                self.lines.append(line)
            else:
                raise ValueError(f"{path}: a line of an unknown kind: {line}")
        self.bracket_calls()
        self.leave_out_own_calls()
        if not killed:  # which may have been between the hand-over and its line
            self.keep_what_was_handed()

    def bracket_calls(self):
        """An NVTX call of a thread happens after its own line was written and before the thread's next one."""
        last = {}
        for line in self.lines:
            if line["kind"] not in HOST_KINDS:
                continue
            line["before"], line["after"] = line["mono"], FOREVER
            if line["tid"] in last:
                last[line["tid"]]["after"] = line["mono"]
            last[line["tid"]] = line

    def leave_out_own_calls(self):
        """What the agent itself asks the driver is not the program's: it is not recorded."""
        for line in self.lines:
            if line["kind"] == "driver" and line["name"] in AGENTS_CALLS and line["fate"] == "emitted":
                line["fate"] = "the agent's own"

    def keep_what_was_handed(self):
        """CUPTI's overhead of its last flushes stays in buffers that nobody asks for any more."""
        handed = {seq for each in self.handed for begin, end in each["seqs"] for seq in range(begin, end + 1)}
        for line in self.lines:
            if line["kind"] == "overhead" and line["fate"] == "emitted" and line["seq"] not in handed:
                line["fate"] = "kept by CUPTI"

    def captured(self):
        """What was open when nodes of CUDA graphs were made: {node: (captured node or 0, range, NCCL call, tid)}, range
        and call the lines of the innermost ones or None. NCCL's own ranges are not ranges here; the outermost end of a group
        makes the nodes of its calls, of which the first is told."""
        found, stacks, groups = {}, collections.defaultdict(list), collections.defaultdict(list)
        depth = collections.Counter()
        for line in sorted(self.lines, key=lambda line: line["seq"]):
            tid = line.get("tid")
            stack, group = stacks[tid], groups[tid]
            if line["kind"] in ("nvtx_push", "nccl_call"):
                stack.append(line)
                if line["kind"] == "nccl_call" and depth[tid] > 0:
                    group.append(line)
                if line["domain"] == "NCCL" and line["name"] == "ncclGroupStart":
                    depth[tid] += 1
                    del group[:len(group) if depth[tid] == 1 else 0]
                if line["domain"] == "NCCL" and line["name"] == "ncclGroupEnd":
                    depth[tid] -= 1
            elif line["kind"] == "nvtx_pop":
                at = max((i for i, each in enumerate(stack) if each["domain"] == line["domain"]), default=None)
                del stack[at:at + 1 if at is not None else 0]
            elif line["kind"] == "graph_node":
                ranges = [each for each in stack if each["domain"] != "NCCL"]
                calls = [each for each in stack if each["kind"] == "nccl_call"]
                if depth[tid] == 0 and stack and stack[-1]["name"] == "ncclGroupEnd":
                    calls = group[:1]
                found[line["node"]] = (line["captured_node"], ranges[-1] if ranges else None,
                                       calls[-1] if calls else None, line["tid"])
        return found

    def of(self, *kinds, fate=("emitted", None)):
        return [line for line in self.lines if line["kind"] in kinds and line.get("fate") in fate]

    def counts(self, fate=("emitted", None)):
        """Of what becomes an event."""
        return collections.Counter(line["kind"] for line in self.of(*ALL_CUPTI_KINDS, *HOST_KINDS, fate=fate))


def read_lines(path):
    """All whole lines: a killed process may leave half of one at the end, or have written none."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        content = file.read()
    return json.loads("[" + ",".join(content.split("\n")[:-1]) + "]")  # all at once: line by line takes a third longer


def load(path, killed=False):
    """The ranks of the job whose index is the file `path`."""
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    folder = os.path.dirname(path)
    return [Rank(each["rank"], each["pid"], os.path.join(folder, each["file"]), killed) for each in index["ranks"]]


def wait_for_pids(path, job):
    """The pids of the ranks, by rank, as soon as the index of the truth is written."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up and job.poll() is None:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as index:
                text = index.read()
            if text.endswith("]}\n"):
                return [rank["pid"] for rank in json.loads(text)["ranks"]]
        time.sleep(0.002)
    job.kill()
    raise SystemExit(f"the training did not start: {job.communicate()}")


def is_sanitized(options, what):
    """Says so where the agent is built with a sanitizer: hosts are several times as slow, so that GPUs idle for them in any run."""
    with open(options.agent, "rb") as file:
        if b"__asan_init" not in file.read():
            return False
    print(f"left out: {what}: a sanitizer slows the host, and takes memory of its own", flush=True)
    return True


def command(options, folder, *arguments):
    """How a training is started that leaves traces/ and truth in `folder`."""
    return [options.simulated, "--agent", options.agent, "--dir", os.path.join(folder, "traces"), "--truth",
            os.path.join(folder, "truth"), *map(str, arguments)]


def train(options, folder, *arguments, **environment):
    """Runs a training to its end; its result. With sanitizers, or on a busy machine, the agent takes more of a core than it allows itself."""
    return run(command(options, folder, *arguments), cwd=folder, **{"TRACETOOL_GUARD_CPU": 0, "TRACETOOL_GUARD_RATE": 0, **environment})


def recordings(folder):
    """pid -> Recording of every file below folder/traces."""
    found = [read_recording.read(path) for path in files_below(os.path.join(folder, "traces"), ".ring")]
    return {recording.header["pid"]: recording for recording in found}
