"""capture: CUPTI's buffers and NVTX's and NCCL's payloads as they come, by libraw_capture.so, as fixtures of the tests: what
is in fixtures/ afterwards is to be copied to tests/unit/agent/fixtures (docs/gpu/README.md)."""
import glob
import json
import os
import re
import shutil

import build
import captures
import recording
from parts import ranks

KERNELS, GRAPHS = 20, 3
MOST_BYTES = 300 << 10
# Of the training: a capture keeps 64 KiB of NVTX, and NCCL says several hundred bytes for each call, groups included.
SMALL = ("--steps", "2", "--layers", "2", "--width", "128")


def run(part):
    part.attempt("known_work", known_work)
    if part.simulate:
        part.attempt("training", simulated_training)
    elif part.machine.torch is None or not part.machine.torch["gpu"] or not part.machine.torch["nccl"]:
        part.note("NCCL's payloads: skipped, there is no PyTorch with NCCL and a GPU")
    else:
        part.attempt("torch", torch_ranks)


def captured(part, name, command, **settings):
    """(what the program printed, its captures) of a program that runs with libraw_capture.so instead of the recorder."""
    folder = os.path.join(part.folder, name, "raw")
    os.makedirs(folder)
    ran = recording.run(part, name, command, record=False, CUDA_INJECTION64_PATH=part.places.capture, RAW_CAPTURE_DIR=folder,
                        TRACETOOL_CUPTI=part.machine.cupti, **settings)
    part.check(ran.done.returncode == 0, f"{name}: it ends with 0", ran.done.stderr[-500:])
    return ran.done.stdout, sorted(glob.glob(f"{folder}/*.rawcapture"))


def known_work(part):
    program = build.program(part, "known_work")
    printed, files = captured(part, "known_work_run", [program, "--kernels", KERNELS, "--graphs", GRAPHS])
    if not part.check(len(files) == 1, "known_work: one capture", files):
        return
    done, found = json.loads(printed), captures.summary(files[0])
    for kind in ("kernel", "memcpy", "memset"):
        part.check(found["records"][kind] == done[kind], f"known_work: {kind}: as many records as were done",
                   f"{done[kind]} done, {found['records'][kind]} captured")
    part.check(found["nvtx"] >= 2 * len(done["nvtx_ranges"]), "known_work: both ends of its NVTX ranges", found["nvtx"])
    keep(part, "known_work", files[0], captures.expected_of_known_work(done))


def simulated_training(part):
    program = os.path.join(part.places.build, "examples/simulated_training/simulated_training")
    truth = os.path.join(part.folder, "truth")
    _, files = captured(part, "training", [program, "--ranks", 1, "--steps", 1, "--layers", 1, "--buckets", 1, "--step-us",
                                           1000, "--memory", "--graphs", "--agent", part.places.capture, "--dir",
                                           os.path.join(part.folder, "unused"), "--truth", truth])
    if part.check(len(files) == 1, "training: one capture", files):
        with open(truth + ".rank0", encoding="utf-8") as file:
            rows = captures.expected_of_truth(file)
        check_nccl(part, "training", files[0], rows)
        keep(part, "training", files[0], rows)


def torch_ranks(part):
    """Two ranks on the one GPU, as the part ranks has them; one of the two captures is kept."""
    folder = os.path.join(part.folder, "torch")
    os.makedirs(folder)
    processes = ranks.start(part, "ddp", 2, 29650, folder, SMALL, CUDA_INJECTION64_PATH=part.places.capture,
                            RAW_CAPTURE_DIR=folder)
    ends = ranks.wait(processes, min(ranks.JOB_S, part.left_s() - 10))
    files = sorted(glob.glob(f"{folder}/*.rawcapture"))
    if not part.check(ends == [0, 0] and len(files) == 2, "torch: two ranks, two captures",
                      lambda: f"{ends}, {files}: {ranks.last_words(folder, ends)}"):
        return
    with open(os.path.join(folder, "rank0.json"), encoding="utf-8") as file:
        rows = captures.expected_of_calls(json.load(file)["calls"])
    check_nccl(part, "torch", files[0], rows)
    keep(part, "torch", files[0], rows)


def check_nccl(part, name, path, rows):
    found = captures.summary(path)["payloads"]
    for kind, count, _, call in rows:
        if kind == "nccl":
            seen = sum(times for what, times in found.items() if what.endswith(f": {call}"))
            part.check(seen == count, f"{name}: a payload for each {call}", f"{count} asked, {seen} captured")


def keep(part, name, path, rows):
    """A copy under the name of the device, with what the program says it did beside it."""
    found = captures.summary(path)
    part.check(found["whole"] and not found["totals"]["cupti_dropped"], f"{name}: the capture is whole", found.get("totals"))
    part.check(0 < found["bytes"] <= MOST_BYTES, f"{name}: small enough to be committed", found["bytes"])
    part.check(found["device"], f"{name}: it names the device", found["device"])
    part.figure(f"capture of {name}", found["bytes"], "bytes")
    part.result["cupti"] = str(found["cupti"])
    folder = os.path.join(part.folder, "fixtures")
    os.makedirs(folder, exist_ok=True)
    device = re.sub(r"[^a-z0-9]+", "_", found["device"].lower()).strip("_")
    target = os.path.join(folder, f"{device}_cupti{found['cupti']}_{name}")
    shutil.copyfile(path, target + ".rawcapture")
    with open(target + ".expected", "w", encoding="utf-8") as file:
        file.write(captures.expected_lines(rows))
