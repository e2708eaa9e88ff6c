"""Files as people really have them, made after public bug reports and the habits of public tools: what is odd in each is
one change of a small sound profile."""
import copy
import gzip
import json
import os

START, PERIOD, STEPS, STREAM = 1715000000000000, 150, 4, 7
PER_STEP = 5


def base(pid=4000, device=0, rank=0, world=2, start=START):
    """Four steps of five kernels of 100 us: 20 kernels, 2.000 ms, busy 2.000 of 3.700 ms."""
    events = []
    number = 0
    for step in range(STEPS):
        begin = start + 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{10 + step}", "pid": pid, "tid": pid,
                       "ts": begin, "dur": 990.0})
        for i in range(PER_STEP):
            number += 1
            at = begin + 20 + PERIOD * i
            launch = {"pid": pid, "tid": pid, "ts": at + 5}
            work = {"pid": device, "tid": STREAM, "ts": at + 25}
            arrow = {"id": number, "cat": "ac2g", "name": "ac2g"}
            events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": pid, "ts": at, "dur": 30.0,
                        "args": {"External id": number}},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **launch, "dur": 10.0,
                        "args": {"correlation": number, "External id": number}}, {"ph": "s", **arrow, **launch},
                       {"ph": "X", "cat": "kernel", "name": f"sgemm_{i}", **work, "dur": 100.0,
                        "args": {"device": device, "context": 1, "stream": STREAM, "correlation": number, "External id": number}},
                       {"ph": "f", "bp": "e", **arrow, **work}]
    head = {"schemaVersion": 1, "deviceProperties": [{"id": device, "name": "NVIDIA H100 80GB HBM3"}]}
    if rank is not None:
        head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return {**head, "traceEvents": events}


def each(change, trace=None, kinds=("kernel", "ac2g")):
    """The base, with `change` made to each event of these categories that is on the GPU."""
    trace = trace or base()
    for event in trace["traceEvents"]:
        if event.get("cat") in kinds and event["tid"] == STREAM:
            change(event)
    return trace


def more(*events, trace=None):
    trace = trace or base()
    trace["traceEvents"] += events
    return trace


def text_with(*lines):
    """The base as text, with these raw events behind its own, each on a line."""
    lines_of_base = [json.dumps(event) for event in base()["traceEvents"]]
    return ('{"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [\n'.encode() +
            b",\n".join([line.encode() for line in lines_of_base] + [line if isinstance(line, bytes) else line.encode() for line in lines]) +
            b"\n]}\n")


def frame(name, at):
    return f'{{"ph":"X","cat":"python_function","name":"{name}","pid":4000,"tid":4000,"ts":{START + 5000 + at},"dur":1}}'


def copy_event(bandwidth, number):
    return (f'{{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":{START + 5000 + 10 * number},"dur":0,'
            f'"args":{{"device":0,"stream":7,"correlation":{9000 + number},"bytes":200,"memory bandwidth (GB/s)": {bandwidth}}}}}')


def two_processes(prefixed):
    """What serving tools make of two ranks: pids with a prefix, or with an offset and the devices all 0."""
    trace = base(5000, 0, None)
    for event in base(5001, 0, None)["traceEvents"]:
        other = copy.deepcopy(event)
        if other["pid"] == 0:
            other["pid"] = 1000000
        trace["traceEvents"].append(other)
    if prefixed:
        for event in trace["traceEvents"]:
            event["pid"] = f"[TP0{int(event['pid'] in (5001, 1000000))}] {event['pid'] % 1000000}"
    return trace


def device_rows(process, row, pid, tid):
    """GPU work without a category, as JAX and Ascend's profiler write it."""
    head = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": process}},
            {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": row}}]
    work = [{"ph": "X", "pid": pid, "tid": tid, "ts": str(START + 100 * i + 0.125), "dur": "40.25", "name": f"MatMul_{i}"} for i in range(10)]
    return {"traceEvents": head + work + [{}]}


def graph_launches(launches, with_work):
    events = []
    for i in range(launches):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 4000, "tid": 4000, "ts": START + 100 * i,
                       "dur": 10, "args": {"correlation": i + 1}})
        if i < with_work:
            events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": START + 100 * i + 20, "dur": 50,
                           "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    return {"traceEvents": events}


def set_stream(value):
    return lambda event: event.update(tid=value)


def set_pid(value):
    return lambda event: event.update(pid=value)


def at_zero(event):
    event.update(ts=0, dur=0, pid=0, tid=9)


def untimed_kernels():
    spare = [copy.deepcopy(event) for event in base()["traceEvents"] if event.get("cat") == "kernel"][:15]
    for event in spare:
        at_zero(event)
        event["args"]["correlation"] = 0
    return more(*spare)


def overrun():
    trace = base()
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    kernels[3]["dur"] = 1600000.0
    return trace


def negative_times():
    trace = base()
    for event in trace["traceEvents"]:
        event["ts"] -= START + 2500
    return trace


def async_spans():
    spans = []
    for i in range(3):
        where = {"cat": "request", "name": f"req{i}", "id": i, "pid": 4000, "tid": 4000}
        spans += [{"ph": "b", **where, "ts": START + 100 * i}, {"ph": "e", **where, "ts": START + 100 * i + 1500}]
    return more(*spans)


def xpu():
    trace = base()
    for event in trace["traceEvents"]:
        if event.get("cat") == "cuda_runtime":
            event.update(cat="xpu_runtime", name="urEnqueueKernelLaunchWithArgsExp")
    return trace


def ranks(names, content=False, start=START, pids=None):
    """A profile for each name, of one device and pid unless said."""
    return {name: base(pids[i] if pids else 5000 + i, 0, i if content else None, len(names), start + i) for i, name in enumerate(names)}


def write(folder, files):
    """Writes {name: trace, bytes or text} below `folder`; returns its paths."""
    paths = []
    for name, trace in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = trace if isinstance(trace, bytes) else trace.encode() if isinstance(trace, str) else json.dumps(trace).encode()
        with open(path, "wb") as out:
            out.write(gzip.compress(data) if name.endswith(".gz") and not data.startswith(b"\x1f\x8b") else data)
        paths.append(path)
    return paths
