"""The files of libraw_capture.so (capture/raw_capture_file.h) and what lies beside them in tests/unit/agent/fixtures.

  captures.py FILE.rawcapture              what is in it
  captures.py --expected TRUTH > FILE.expected    of a simulated training's truth (examples/simulated_training)
"""
import collections
import json
import struct
import sys

MAGIC = b"TTRAWCAP"
HEADER, SECTION, NVTX = struct.Struct("<8s4I2i4Q"), struct.Struct("<2I2Q"), struct.Struct("<4IQ40s")
DEVICE, CLOCKS, TEXT, RECORDS, BUFFER, NVTX_CALL, TOTALS = range(1, 8)
TOTAL_NAMES = ("buffers", "buffers_left_out", "records", "cupti_dropped", "nvtx", "nvtx_left_out")
OWN_CALLS = ("cuDeviceGetName",)  # of libraw_capture.so, at its first buffer
KINDS = {1: "memcpy", 2: "memset", 10: "kernel"}  # CUpti_ActivityKind; the others by number


def sections(data):
    """(type, content) of each whole section."""
    at = HEADER.unpack_from(data)[2]
    while at + SECTION.size <= len(data):
        kind, _, size, _ = SECTION.unpack_from(data, at)
        at += SECTION.size
        if at + size > len(data):
            return
        yield kind, data[at:at + size]
        at += (size + 7) // 8 * 8


def summary(path):
    """What is in a capture: device, versions, bytes, records by kind of activity, NVTX calls with payloads by name."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER.size or data[:8] != MAGIC:
        raise ValueError(f"{path}, offset 0: expected {MAGIC!r} and a header of {HEADER.size} bytes; this is no capture")
    header = HEADER.unpack_from(data)
    found = {"device": "", "cupti": header[3], "driver": header[5], "bytes": len(data), "clocks": 0, "whole": False,
             "records": collections.Counter(), "nvtx": 0, "payloads": collections.Counter()}
    for kind, content in sections(data):
        add_section(found, kind, content)
    return found


def add_section(found, kind, content):
    if kind == DEVICE:
        found["device"] = content.decode("utf-8", "replace")
    elif kind == CLOCKS:
        found["clocks"] += 1
    elif kind == RECORDS:
        found["records"].update(KINDS.get(activity, str(activity)) for _, activity in struct.iter_unpack("<2I", content))
    elif kind == NVTX_CALL:
        add_nvtx(found, content)
    elif kind == TOTALS:
        found.update(whole=True, totals=dict(zip(TOTAL_NAMES, struct.unpack_from("<6Q", content))))


def add_nvtx(found, content):
    call, attributes, message, payload, schema, domain = NVTX.unpack_from(content)
    found["nvtx"] += 1
    if payload:
        at = NVTX.size + attributes
        name = content[at:at + message].decode("utf-8", "replace") or f"pop of schema {schema}"
        found["payloads"][f"{domain.rstrip(bytes(1)).decode()}: {name}"] += 1


def expected_lines(rows):
    """The text of a .expected file from (kind, count, bytes, name); None is "-": not known."""
    written = [" ".join("-" if value is None else str(value) for value in row) for row in rows]
    return "\n".join(["# KIND COUNT BYTES NAME: what the program says it did", *written]) + "\n"


def expected_of_truth(lines):
    """Rows of a simulated training's truth."""
    kernels, moved, nccl = collections.Counter(), {}, {}
    for line in lines:
        event = json.loads(line)
        if event["kind"] == "nccl_call":
            add_moved(nccl, event["name"], event["bytes"])
        elif event.get("fate") != "emitted" or event.get("name") in OWN_CALLS:
            continue
        elif event["kind"] == "kernel":
            kernels[event["name"]] += 1
        else:
            add_moved(moved, event["kind"], event.get("bytes", 0) if event["kind"].startswith("mem") else 0)
    counted = {kind: (count, size if kind in ("memcpy", "memcpy_peer", "memset") else None)
               for kind, (count, size) in moved.items() if kind not in ("context", "stream", "device")}
    return ([("kernel", sum(kernels.values()), None, None)] + [(kind, *both, None) for kind, both in sorted(counted.items())] +
            [("nccl", *both, name) for name, both in sorted(nccl.items())])


def add_moved(totals, name, size):
    count, before = totals.get(name, (0, 0))
    totals[name] = (count + 1, before + size)


def expected_of_known_work(done):
    """Rows of what examples/cuda/known_work.cu prints."""
    copied = sum(done["memcpy_bytes"].values())
    return ([("kernel", done["kernel"], None, None)] +
            [("kernel", kernel["count"], None, kernel["name"]) for kernel in done["kernels"]] +
            [("memcpy", done["memcpy"], copied, None), ("memset", done["memset"], done["memset_bytes"], None)])


def expected_of_calls(calls):
    """Rows of what a rank asked of NCCL: [[group, op, bytes], ...]."""
    nccl = {}
    for _, name, size in calls:
        add_moved(nccl, name, size)
    return [("nccl", *both, name) for name, both in sorted(nccl.items())]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--expected":
        with open(sys.argv[2], encoding="utf-8") as file:
            print(expected_lines(expected_of_truth(file)), end="")
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        print(json.dumps(summary(sys.argv[1]), indent=1))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
