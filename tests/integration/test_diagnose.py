#!/usr/bin/env python3
"""`tracetool diagnose`: rules of idle time against a slow program (slow_diagnosis.py) on every trace; what simulated runs have
planted, and nothing in a healthy one; a stuck job and a killed one; what is known of the real sets; that what a finding says can be
followed.

  test_diagnose.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os
import re
import shlex
import signal
import subprocess
import time

import made_late_job
import slow_diagnosis
import slow_tables
from harness import Folder, check, files_below, finish, run, wait_until
from slow_idle import Process, collections_of, of_kineto
from test_analyze import paths, tables
from trace_sets import folders, inputs
from truth import command, is_sanitized, train

IDLE_RULES = ("data-starved", "host-late", "host-sync", "launch-bound", "gpu-idle", "garbage-collection")
KEYS = {"rule", "severity", "title", "ranks", "steps", "saving_ns", "saving_bytes", "evidence", "advice", "source", "next_command"}
TRIES = 8


def diagnose(options, *words, **more):
    done = run([options.tracetool, "diagnose", *map(str, words), "--format", "json"], **more)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr, "findings": []}


def of_rule(diagnosis, rule):
    return [each for each in diagnosis["findings"] if each["rule"] == rule]


def check_form(what, diagnosis):
    found = diagnosis["findings"]
    check("failed" not in diagnosis and all(set(each) == KEYS for each in found), f"{what}: findings have all keys", diagnosis)
    known = [each["saving_ns"] for each in found if each["saving_ns"] is not None]
    check(known == sorted(known, reverse=True), f"{what}: the largest saving first", known)
    check(all(0 <= ns <= diagnosis["length_ns"] for ns in known), f"{what}: nothing saves more than there is", known)
    wrong = [each for each in found for at in each["evidence"] if not 0 <= at["start_ns"] < at["end_ns"] or (at["rank"] not in each["ranks"] and each["rule"] != "stuck")]
    check(not wrong, f"{what}: evidence lies in the trace, of the ranks that are named", wrong)


def idle_of(options, path):
    return [row["idle_ns"] or 0 for row in tables(options, path, "--only", "idle")["idle"]]


def check_slow(options, path):
    """One process, all of its time."""
    events = slow_tables.read_json(path)
    work, calls = of_kineto(events) if events is not None else ([], [])
    if not work:
        return
    name, diagnosis = os.path.basename(path), diagnose(options, path, "--time", "0s-")
    check_form(name, diagnosis)
    said = {each["rule"]: each["saving_ns"] for each in diagnosis["findings"] if each["rule"] in IDLE_RULES}
    true = slow_diagnosis.findings(Process(work, calls, collections_of(events)), slow_diagnosis.loading_ranges(events), diagnosis.get("length_ns", 0))
    if not slow_diagnosis.is_simple(events):
        return check(sum(said.values()) <= max(idle_of(options, path), default=0), f"{name}: findings of idle time together are no more than it is", said)
    check(said == true, f"{name}: idle time as the slow program has it", {"said": said, "true": true})


def follow(options, finding, folder):
    """Its next command, where that is one of ours, finds something to show."""
    words = shlex.split(finding["next_command"])
    if words[0] != "tracetool":
        return
    done = run([options.tracetool, *words[1:]], cwd=folder)
    made = os.path.join(folder, words[words.index("-o") + 1]) if "-o" in words else ""
    check(done.returncode == 0 and (not made or os.path.getsize(made) > 0), f"{finding['rule']}: its next command runs", done.stderr)


def check_real(options, folder):
    """What is known of the real sets."""
    sets = dict(inputs(folder))
    if "modded-nanogpt-8xh100" in sets and len(sets["modded-nanogpt-8xh100"]) == 8:
        files = sets["modded-nanogpt-8xh100"]
        diagnosis = diagnose(options, *files)
        check_form("H100", diagnosis)
        first = diagnosis["findings"][0] if diagnosis["findings"] else {}
        check(first.get("rule") == "straggler" and first["ranks"] == [1] and "cause: host" in first["title"], "H100: rank 1, its host", diagnosis)
        check(all(each["ranks"] == [1] for each in diagnosis["findings"]), "H100: nothing is wrong with the others", diagnosis)
        check(diagnose(options, *files, "--ranks", "3-7")["findings"] == [], "H100: nothing with the healthy ranks", diagnosis)
        with Folder() as out:
            follow(options, first, out)
    if "num_workers_0.pt.trace.json.gz" in sets:
        slow, fast = (diagnose(options, *sets[f"num_workers_{workers}.pt.trace.json.gz"]) for workers in (0, 4))
        check(slow["findings"] and slow["findings"][0]["rule"] == "data-starved", "resnet50: 0 workers are data starved", slow)
        check(of_rule(fast, "data-starved") == [], "resnet50: 4 workers are not", fast)


def check_late_in_turn(options):
    """Two of eight hosts are late by turns: what the others wait for them is not communication to hide, and each of them is one finding."""
    for transfer_ns in (1_200_000, 4_000_000):
        what = f"late in turn, transfers of {transfer_ns} ns"
        with Folder() as folder:
            true = made_late_job.job(folder, transfer_ns)
            diagnosis = diagnose(options, *files_below(folder, ".json"), "--time", "0s-")
            check_form(what, diagnosis)
            length = diagnosis.get("length_ns", 1)
            stragglers = of_rule(diagnosis, "straggler")
            check(sorted(each["ranks"] for each in stragglers) == [[rank] for rank in made_late_job.LATE] and all("cause: host" in each["title"] for each in stragglers),
                  f"{what}: both are found, and why", diagnosis)
            # The idle time of their hosts, which the finding has too, is as much, with microseconds between kernels.
            near = all(true["delayed"][each["ranks"][0]] <= each["saving_ns"] <= true["delayed"][each["ranks"][0]] * 1.03 for each in stragglers)
            check(near, f"{what}: savings as the truth has them", {"true": true, "found": stragglers})
            check(of_rule(diagnosis, "host-late") == [], f"{what}: straggler and host-late of a rank are one finding", diagnosis)
            check(all("aten::linear" in each["evidence"][0]["what"] or "outside" in each["evidence"][0]["what"] for each in stragglers), f"{what}: the cause before the effect", stragglers)
            exposed = of_rule(diagnosis, "comm-exposed")
            if true["transfer"] * 5 < length:
                check(exposed == [], f"{what}: what is waiting is not to be hidden", diagnosis)
            else:
                check(len(exposed) == 1 and exposed[0]["saving_ns"] == true["transfer"] and "waiting for other ranks" in exposed[0]["title"],
                      f"{what}: transfers alone are to be hidden", {"true": true, "found": exposed})
                check(diagnosis["findings"][0]["rule"] == "comm-exposed", f"{what}: the largest saving first", diagnosis)
            # Four of the eight: nobody knows how long they wait for the others.
            some = [path for path in files_below(folder, ".json") if path.endswith(("1.json", "2.json", "3.json", "4.json"))]
            diagnosis = diagnose(options, *some, "--time", "0s-")
            exposed = of_rule(diagnosis, "comm-exposed")
            check(len(exposed) == 1 and exposed[0]["saving_ns"] is None and "unknown" in exposed[0]["title"], f"{what}: of four ranks it is unknown how much is waiting", diagnosis)
            check([each["saving_ns"] is None for each in diagnosis["findings"]] == sorted(each["saving_ns"] is None for each in diagnosis["findings"]), f"{what}: unknown savings last", diagnosis)
    with Folder() as folder:
        made_late_job.job(folder, late=())
        said = run([options.tracetool, "analyze", *files_below(folder, ".json"), "--only", "stragglers"]).stdout
        check("note: no stragglers" in said, "a healthy job has none", said)


def recorded(options, folder, name, *words):
    """The directory of a simulated run, whose loss is not read back but where `words` say so."""
    place = os.path.join(folder, name)
    os.mkdir(place)
    done = train(options, place, "--ranks", 4, "--steps", 12, *(() if "--log-every" in words else ("--log-every", 100)), *words)
    check(done.returncode == 0, f"{name}: it was recorded", done.stderr)
    return f"{place}/traces"


def tried(options, what, holds, *words):
    """A busy machine delays ranks, too: one of several runs has to hold. Its diagnosis."""
    diagnosis = {}
    for _ in range(TRIES):
        with Folder() as folder:
            diagnosis = diagnose(options, recorded(options, folder, "run", *words))
            if holds(diagnosis):
                check_form(what, diagnosis)
                break
    check(holds(diagnosis), what, diagnosis)
    return diagnosis


def names(rule, rank, said):
    return lambda diagnosis: any(each["ranks"] == [rank] and said in each["title"] for each in of_rule(diagnosis, rule))


def check_simulated(options):
    if is_sanitized(options, "what is planted in simulated runs, and what is not"):
        return
    # A busy machine makes the first step slow, too, in which everything is loaded, and now and then another one.
    tried(options, "a healthy run: nothing", lambda diagnosis: {each["rule"] for each in diagnosis["findings"]} <= {"slow-first", "step-outlier"})
    tried(options, "a slow GPU", names("straggler", 2, "cause: slow_kernels"), "--slow-gpu", 2)
    tried(options, "more work on one rank", names("straggler", 3, "cause: more_work"), "--more-work", 3)
    # 24 layers, after each of which rank 1 waits.
    item = ("--item-sync", 1, "--layers", 24, "--step-us", 20_000)
    found = tried(options, "a number read back after each layer", names("host-sync", 1, "times a step, mostly in cudaStreamSynchronize"), *item)
    check(all("cudaStreamSynchronize" in at["what"] for each in of_rule(found, "host-sync") for at in each["evidence"]), "its evidence names the call", found)
    with Folder() as folder:
        traces, whole = recorded(options, folder, "counted", *item), ("--steps", "5-9")
        found = of_rule(diagnose(options, traces, *whole), "host-sync")
        syncs = [row for row in tables(options, traces, "--only", "syncs", *whole)["syncs"] if row["rank"] == 1 and row["stalls"] > 0]
        # A wait behind which the GPU did not idle, because the machine stopped the host in it, is none that costs: at most one in ten here.
        stalls = sum(row["stalls"] for row in syncs)
        check(sum(row["count"] for row in syncs) == 5 * 24 and stalls > 5 * 24 * 0.9, "in chosen steps: 24 waits a step", syncs)
        check(found and f"the GPU {stalls / 5:.3g} times a step" in found[0]["title"] and found[0]["saving_ns"] == sum(row["stalled_ns"] for row in syncs),
              "in chosen steps: its count, and its stalled time as `syncs` has it", {"found": found, "syncs": syncs})
    tried(options, "tiny kernels", lambda diagnosis: bool(of_rule(diagnosis, "launch-bound")), "--tiny-kernels", "--layers", 24)
    tried(options, "slow links", lambda diagnosis: bool(of_rule(diagnosis, "comm-exposed")), "--slow-link", 20)
    tried(options, "a host that is late while its GPU waits", names("straggler", 1, "cause: host"), "--straggler", 1, "--straggler-us", 8_000, "--log-every", 1)


def killed(options, folder, seconds, *words):
    """The directory of a job that was killed so long after its ranks had recorded something."""
    job = subprocess.Popen(command(options, folder, "--ranks", 4, "--steps", 20, *words), cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place = f"{folder}/traces"
    wait_until(lambda: len(files_below(place, ".ring")) == 4)
    time.sleep(seconds)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    return place


def check_stuck(options):
    with Folder() as folder:
        diagnosis = diagnose(options, killed(options, folder, 3.5, "--stuck", 2))
        check_form("stuck", diagnosis)
        first = diagnosis["findings"][0] if diagnosis["findings"] else {}
        check(first.get("rule") == "stuck" and first["ranks"] == [2] and "ranks 0-1, 3 waited" in first["title"] and "which rank 2 had not entered" in first["title"],
              "stuck: who had entered, and who had not", diagnosis)
        # Records that lie in one buffer of CUPTI's with work that runs are not in the file: a few of the last ones may be missing.
        last = [int(re.search(r"last completed collective: all_reduce (\d+) ", at["what"])[1]) for at in first.get("evidence", [])]
        check([at["rank"] for at in first.get("evidence", [])] == [2, 0, 1, 3] and max(last) == 39 and min(last) >= 32, "stuck: the last collective of each rank", first)
        check(any(f" --steps {step} " in first["next_command"] for step in first.get("steps", [])), "stuck: the next command shows the step in which the rank got stuck", first)
    with Folder() as folder:
        diagnosis = diagnose(options, killed(options, folder, 0.05, "--step-us", 200_000))
        check("failed" not in diagnosis and of_rule(diagnosis, "stuck") == [], "a job that was killed in its work is not stuck", diagnosis)


def check_words(options):
    listed = run([options.tracetool, "diagnose", "--list"]).stdout
    rules = [line.split()[0] for line in listed.splitlines()[1:]]
    with open(os.path.join(os.path.dirname(__file__), "../../docs/diagnose.md"), encoding="utf-8") as page:
        text = page.read()
    check(len(rules) >= 8 and all(f"`{rule}`" in text for rule in rules), "docs/diagnose.md has each rule", [rule for rule in rules if f"`{rule}`" not in text])
    refused = run([options.tracetool, "diagnose", "--only", "nonsense", "x"])
    check(refused.returncode == 1 and "--list" in refused.stderr, "an unknown rule is refused", refused.stderr)


def main():
    options = paths()
    check_words(options)
    check_late_in_turn(options)
    with folders(options.traces) as some:
        for folder in some:
            if folder == options.traces:
                check_real(options, folder)
            for _, files in inputs(folder):
                for path in files[:2]:
                    check_slow(options, path)
    if options.agent and options.simulated:
        check_simulated(options)
        check_stuck(options)
    finish()


if __name__ == "__main__":
    main()
