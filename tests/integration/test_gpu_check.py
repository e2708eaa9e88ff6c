#!/usr/bin/env python3
"""scripts/gpu_check.sh --simulate, part by part: which parts really ran and which were skipped, with what reason; and that a
recording that is not what the program did fails."""
import importlib
import json
import os
import signal
import subprocess
import sys
import tarfile
from types import SimpleNamespace

from harness import Folder, arguments, check, files_below, finish, first, run, wait_until
from recorded import environment_of
from slow_tables import read_json

ROOM = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
RAN = {"first_minutes", "smoke", "native", "kill", "graphs", "cost", "capture"}
TORCH = "it needs gpu and torch: it is not simulated"
SKIPPED = {"torch": TORCH, "torch_compile": TORCH, "fidelity": TORCH, "operators": TORCH, "memory": TORCH,
           "ranks": "it needs gpu and torch and nccl: it is not simulated"}
# A part, what makes one number of its program's wrong, and what then differs.
SPOILT = (
    ("smoke", lambda done: done["memcpy_bytes"].update(host_to_device=1), "bytes copied in each direction"),
    ("smoke", lambda done: done["kernels"][0].update(grid=[1, 1, 1]), "kernels: names, grids and blocks"),
    ("smoke", lambda done: done.update(event_records=0), "waits for events"),
    ("native", lambda done: done.update(memset_per_step=2), "sets"),
    ("native", lambda done: done["kernels_per_step"].update(gelu_forward=11), "kernels by name, launches in each step"),
)
# A tracetool that counts one kernel less.
LIAR = """#!/usr/bin/env python3
import re, subprocess, sys
done = subprocess.run([{tool!r}, *sys.argv[1:]], capture_output=True, text=True)
print(re.sub(r'"kernel": *([0-9]+)', lambda found: '"kernel": %d' % (int(found[1]) - 1), done.stdout))
"""


def gpu_check(options, folder, *more, build=None):
    """(CompletedProcess, results.json or None)"""
    done = run([f"{ROOM}/gpu_check.sh", "--simulate", "--build", build or options.build, "-o", folder, *more])
    try:
        with open(f"{folder}/results.json", encoding="utf-8") as file:
            return done, json.load(file)
    except OSError:
        return done, None


def check_part(options, folder, name):
    done, found = gpu_check(options, folder, "--only", name)
    parts = {each["name"]: each for each in found["parts"]} if found else {}
    part = parts[name] if found else {"status": done.stderr, "reason": "", "checks": [], "figures": [], "seconds": 0}
    if name in SKIPPED:
        check((part["status"], part["reason"]) == ("skipped", SKIPPED[name]), f"{name} is skipped for its reason", part)
        return
    failed = [each for each in part["checks"] if not each["ok"]]
    what = f"{len(part['checks'])} checks, {len(part['figures'])} figures, {part['seconds']} s"
    check(part["status"] == "ok" and done.returncode == 0, f"{name} ran and held: {what}",
          lambda: f"{part['status']}, {part['reason']}, {first(failed)}")


def check_page(options, folder):
    with open(f"{folder}/results.md", encoding="utf-8") as file:
        page = file.read()
    check("SIMULATED" in page, "the page says that it is simulated", page[:300])
    check(".ring" not in page, "the page names no recording, and so no host", page)


def recorded_by(folder, part):
    import recording
    return recording.read_recording.read(files_below(f"{folder}/{part}/run/traces", ".ring")[0])


def check_comparisons(folder):
    """What smoke and native compare tells one wrong number from all the right ones."""
    import trainings
    for name, spoil, what in SPOILT:
        part = importlib.import_module(f"parts.{name}")
        with open(f"{folder}/{name}/run/stdout", encoding="utf-8") as file:
            done = json.load(file)
        spoil(done)
        found = recorded_by(folder, name)
        wrong = ", ".join(title for title, expected, seen in part.differences(done, found) if expected != seen)
        check(wrong == what, f"{name} finds what is wrong: {what}", wrong)
    found = recorded_by(folder, "smoke")
    windows = [len(trainings.window_events(found, {"begin_ns": begin, "end_ns": 2**63})) for begin in (0, 2**62)]
    timed = sum(found.event_wall(event)[0] is not None for event in found.events)
    check(windows == [timed, 0] and 0 < timed < len(found.events), "a window has the events with a time in it", (windows, len(found.events)))


def check_operators(options, folder):
    """What the part operators compares, of stand-ins: a recording and its Kineto export, whose External ids are those of torch.profiler's
    kind. A kernel of another operator is found."""
    import operators_compare as compare
    import recording
    programs = f"{options.build}/tests/integration/programs"
    places = SimpleNamespace(agent=f"{options.build}/agent/libagent.so", simulated=f"{options.build}/examples/simulated_training/simulated_training")
    done = run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators_on_gpu.py"), f"{programs}/libtorch_cpu.so", f"{programs}/libkernel_launch.so", "5"],
               cwd=folder, **environment_of(places, folder, TRACETOOL_TORCH="all", TRACETOOL_BUFFER="16M", TORCH_LAYOUT="2.9", SIM_TRUTH=None))
    run([f"{options.build}/cli/tracetool", "export", "--kineto", f"{folder}/traces", "-o", f"{folder}/kineto"])
    if not check(done.returncode == 0, "operators: stand-ins are recorded", done):
        return
    events = read_json(files_below(f"{folder}/kineto")[0])
    found = compare.Recorded(recording.read_recording.read(files_below(f"{folder}/traces", ".ring")[0]), {"begin_ns": 0, "end_ns": 2**63})
    ours, theirs = found.seen(), compare.profiled(events)
    check(ours.operators == theirs.operators and ours.claimed == theirs.claimed and ours.kernels == theirs.kernels == len(json.loads(done.stdout)["launched"]) > 0 and found.unfinished == 0,
          f"operators: {ours.kernels} kernels by their operator, in {sum(ours.operators.values())} operators", lambda: (ours, theirs))
    kernel = next(event for event in events if event.get("cat") == "kernel" and event["args"].get("External id"))
    del kernel["args"]["External id"]
    different = compare.differences(ours.claimed, compare.profiled(events).claimed)
    check(len(different) == 2 and None in different, "operators: a kernel without its operator is found", different)


def check_options(options, folder):
    done, _ = gpu_check(options, folder, "--only", "smoke,juggle")
    check(done.returncode == 1 and "juggle" in done.stderr, "an unknown part is a usage error", done)
    done, _ = gpu_check(options, folder, "--only", "ranks", "--no-skips")
    check(done.returncode == 4, "with --no-skips a part that is skipped fails", done)
    done, found = gpu_check(options, f"{folder}/late", "--only", "kill", "--limit", "1")
    reason = found["parts"][0]["reason"] if found else None
    check(done.returncode == 4 and reason == "it did not end within 1 s", "a part that takes too long fails",
          f"{reason}, {done}")


def check_short_loan(options, folder):
    """What has no time is skipped, what was found earlier stays, and all of it is in one file."""
    gpu_check(options, folder, "--only", "smoke")
    done, found = gpu_check(options, folder, "--only", "native,cost,smoke", "--within", "70", "--pack", f"{folder}/all.tar.gz")
    statuses = {part["name"]: (part["status"], part["reason"]) for part in found["parts"]}
    check(done.returncode == 0 and statuses == {"smoke": ("ok", ""), "native": ("ok", ""), "cost": (
        "skipped", "no time was left of 70 s")}, "with --within a part without time is skipped", f"{statuses}, {done}")
    with tarfile.open(f"{folder}/all.tar.gz") as archive:
        packed = set(archive.getnames())
    wanted = {"results.json", "results.md", "machine.txt", "smoke/part.json", "native/run/stderr"}
    check(wanted <= packed, "--pack has the results and the evidence of both runs", sorted(packed))


def check_end(options, folder):
    """Who ends gpu_check ends its part too, and all that this has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        before = f"{folder}/{number}"
        command = [f"{ROOM}/gpu_check.sh", "--simulate", "--build", options.build, "-o", before, "--only", "cost"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: os.path.exists(f"{before}/cost/run3"), 60)
            process.send_signal(number)
        wait_until(lambda: not processes_with(before), 5)  # killed is not yet gone
        left = processes_with(before)
        check(process.returncode != 0 and not left, f"after {number.name} nothing goes on", f"{process.returncode}, {left}")


def processes_with(text):
    """Pids of the processes that have the text in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += [pid] if text.encode() in file.read() else []
        except OSError:
            continue  # it has ended
    return found


def check_broken_expectation(options, folder):
    """Everything is as it should be but for one count of tracetool's."""
    build = os.path.join(folder, "build")
    os.makedirs(f"{build}/cli")
    for name in set(os.listdir(options.build)) - {"cli"}:
        os.symlink(os.path.join(options.build, name), os.path.join(build, name))
    with open(f"{build}/cli/tracetool", "w", encoding="utf-8") as file:
        file.write(LIAR.format(tool=f"{options.build}/cli/tracetool"))
    os.chmod(f"{build}/cli/tracetool", 0o755)
    done, found = gpu_check(options, f"{folder}/out", "--only", "smoke", build=build)
    failed = [each["what"] for part in found["parts"] for each in part["checks"] if not each["ok"]] if found else None
    check(done.returncode == 4 and failed == ["kernel: as many as were done"], "a count that is wrong fails",
          f"{failed}, {done}")
    with open(f"{folder}/out/smoke/run/recordings.txt", encoding="utf-8") as file:
        said = file.read()
    check("tracetool info" in said and "tracetool doctor" in said and "clean" in said, "what failed has its recordings told",
          said[-500:])


def main():
    options = arguments("build")
    sys.path.insert(0, f"{ROOM}/gpu_check")
    from table import PARTS
    names = [row.name for row in PARTS]
    check(set(names) == RAN | set(SKIPPED), "what is expected of each part is known", f"{names}, {RAN}, {SKIPPED}")
    with Folder() as folder:
        for name in names:
            check_part(options, f"{folder}/out", name)
        check_comparisons(f"{folder}/out")
        check_page(options, f"{folder}/out")
        os.mkdir(f"{folder}/operators")
        check_operators(options, f"{folder}/operators")
        check_options(options, f"{folder}/options")
        check_end(options, f"{folder}/end")
        check_short_loan(options, f"{folder}/short")
        check_broken_expectation(options, f"{folder}/liar")
    finish()


main()
