#!/usr/bin/env python3
"""The cost guard: ten seconds above a limit, and the agent records only what `light` has, says so once and writes it
down. What was recorded before stays whole; below the limits nothing happens."""
import concurrent.futures
import os
import sys

from harness import Folder, arguments, check, finish, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples"))
import read_recording  # noqa: E402  (after the path)


def record(args, folder, **environment):
    """One rank for some 13 s, so that the guard's window of 10 s ends in it."""
    done = run([args.simulated, "--ranks", "1", "--steps", "1300", "--step-us", "10000", "--dir", folder, "--agent",
                args.agent, "--truth", os.path.join(folder, "truth")], **environment)
    check(done.returncode == 0, "the job ends well", done.stderr)
    rings = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".ring")]
    return read_recording.read(rings[0]), done.stderr


def calls_and_kernels_after(recording, mono_ns):
    clock = recording.header["created_clock"]
    from_ns = mono_ns - clock.mono_ns + clock.cupti_ns + 500_000_000
    late = [e for e in recording.events if getattr(e, "start", None) and e.start > from_ns]
    return [e for e in late if e.kind in ("runtime", "driver")], [e for e in late if e.kind == "kernel"]


def test_steps_down(args):
    with Folder() as folder:
        recording, said = record(args, folder, TRACETOOL_GUARD_RATE=1000)
        told = [run([args.tracetool, *command, folder]) for command in (["info"], ["doctor"], ["analyze", "--only", "temporal"], ["diagnose"])]
        check(all("reduced to light from now on" in done.stdout + done.stderr for done in told), "info, doctor, analyze and diagnose say so", told)
    notices = [e for e in recording.events if e.kind == "notice" and e.code == "reduced_to_light"]
    check(len(notices) == 1, "stepping down is written once", notices)
    check(said.count("reduced to light from now on") == 1, "and said once", said)
    calls, kernels = calls_and_kernels_after(recording, notices[0].time)
    check(not calls, "no API call is recorded after it", calls[:3])
    check(len(kernels) > 100, "kernels are", len(kernels))


def test_busy_cupti(args):
    """What CUPTI's own threads take counts, whatever they do."""
    with Folder() as folder:
        recording, said = record(args, folder, SIM_CUPTI_BUSY_PCT=20)
    notices = [e for e in recording.events if e.kind == "notice" and e.code == "reduced_to_light"]
    check(len(notices) == 1 and said.count("reduced to light from now on") == 1,
          "a busy thread of CUPTI's: stepping down is written and said", (notices, said))


def test_stays(args):
    with Folder() as folder:
        recording, said = record(args, folder, TRACETOOL_GUARD_CPU=100)
    check(not [e for e in recording.events if e.kind == "notice"], "below the limits nothing is written")
    check("tracetool:" not in said, "nor said", said)


def main():
    args = arguments("agent", "simulated", "tracetool")
    test_busy_cupti(args)  # alone, for its share of a core decides
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(test, args) for test in (test_steps_down, test_stays)]:
            done.result()
    finish()


if __name__ == "__main__":
    main()
