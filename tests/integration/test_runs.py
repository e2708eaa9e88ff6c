#!/usr/bin/env python3
"""A directory in which several runs lie, and more than traces: what each command takes of it, and what it says.

  test_runs.py --agent PATH --simulated PATH --tracetool PATH
"""
import json
import os
import shutil
import subprocess

from harness import Folder, arguments, check, clean_environment, files_below, finish, run

RANKS, STEPS = 2, 4


class Place:
    """A directory of recordings, `traces`, in a folder of its own."""

    def __init__(self, paths, folder):
        self.paths, self.folder = paths, folder
        self.traces = os.path.join(folder, "traces")

    def record(self, **environment):
        done = run([self.paths.simulated, "--ranks", RANKS, "--steps", STEPS, "--dir", self.traces],
                   CUDA_INJECTION64_PATH=self.paths.agent, **{"TRACETOOL_BUFFER": "2M", **environment})
        assert done.returncode == 0, done.stderr
        return self.names()[-1]

    def names(self):
        """Of the runs, the newest last, by the clock in their folders' names."""
        return sorted(name for name in os.listdir(self.traces) if name.startswith("simulated-"))

    def tool(self, *words):
        return run([self.paths.tracetool, *words], cwd=self.folder)

    def info(self, *words):
        done = self.tool("info", "--json", *words)
        return (json.loads(done.stdout) if done.returncode == 0 else {"ranks": []}), done

    def runs_read(self, *words):
        return {rank["run_id"] for rank in self.info(*words)[0]["ranks"]}


def run(command, **more):
    """`command` with its words as text."""
    return subprocess_run([str(word) for word in command], **more)


def subprocess_run(command, cwd=None, **environment):
    return subprocess.run(command, cwd=cwd, env=clean_environment(**environment), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=240)


def check_readme(place, count):
    """The three commands of the README, as they stand there, with `count` runs in the directory."""
    newest = place.names()[-1]
    done = place.tool("merge", "traces/", "-o", "run.ttrace")
    check(done.returncode == 0, f"run {count}: merge traces/", done)
    said = [line for line in done.stderr.splitlines() if f"{count} runs" in line]
    check((len(said) == 1 and newest in said[0] and "--run" in said[0]) if count > 1 else not said,
          f"run {count}: says in one line which run it took, where there are several", done.stderr)
    check(place.runs_read("run.ttrace") == {newest}, f"run {count}: which is the newest", done)
    done = place.tool("export", "--perfetto", "run.ttrace", "-o", "run.json.gz")
    check(done.returncode == 0 and "next: open run.json.gz in ui.perfetto.dev" in done.stderr,
          f"run {count}: export", done)
    for command in (["info", "traces/"], ["doctor", "traces/"], ["runs", "traces/"]):
        done = place.tool(*command)
        check(done.returncode == 0 and newest in done.stdout + done.stderr or count == 1 and done.returncode == 0,
              f"run {count}: {command[0]}", done)


def check_named(place):
    first, *_, last = place.names()
    for words, wanted in (([], {last}), (["--run", "latest"], {last}), (["--run", first], {first}),
                          (["--run", "all"], set(place.names()))):
        found = place.runs_read("traces", *words)
        check(found == wanted, f"info {' '.join(words)} reads {len(wanted)} run", found)
    done = place.tool("export", "--pftrace", "traces", "--run", first, "-o", "first.pftrace")
    check(done.returncode == 0, "export takes --run", done)
    done = place.tool("merge", "traces", "--run", "nothing", "-o", "x.ttrace")
    check(done.returncode == 1 and first in done.stderr and last in done.stderr, "an unknown run: those there are", done)
    done = place.tool("merge", "traces", "--run", "all", "-o", "x.ttrace")
    check(done.returncode == 1 and "different runs" in done.stderr and "--run" in done.stderr,
          "runs that contradict each other are not merged", done)
    done = place.tool("info", files_below(place.traces, ".ring")[0], "--run", first)
    check(done.returncode == 1 and "--run" in done.stderr, "--run beside a file alone is refused", done)
    done = place.tool("doctor", "traces", "--run", first)
    check(done.returncode == 0 and f"run {first}" in done.stdout, "doctor takes --run", done)
    done = place.tool("doctor", "traces", "--run", "all")
    check(done.returncode == 0 and all(f"run {name}" in done.stdout for name in place.names()), "or all of them", done)
    done = place.tool("doctor", "traces", "--run", "nothing")
    check(done.returncode == 1, "doctor refuses an unknown run", done)


def check_list(place):
    done = place.tool("runs", "traces", "--json")
    rows = json.loads(done.stdout)["runs"]
    check([row["run"] for row in rows] == place.names(), "runs: all of them, the newest last", done)
    for row in rows:
        files = files_below(os.path.join(place.traces, row["run"]))
        good = (row["ranks"] == list(range(RANKS)) and row["world_size"] == RANKS and row["state"] == "ended" and
                row["lost"] == row["overwritten"] == 0 and row["bytes"] == sum(map(os.path.getsize, files)))
        check(good and row["span_ns"] > 0 and row["start_ns"] > 0, f"runs: {row['run']}", row)
        first = min(rank["start_ns"] for rank in place.info("traces", "--run", row["run"])[0]["ranks"])
        check(0 <= first - row["start_ns"] < row["span_ns"], "a run begins before its first event", row)
    check(not place.tool("runs", "run.ttrace").stdout, "runs wants a directory")


def check_time_of_headers(place):
    """The newest run is that of the newest recording, whatever its files' times say."""
    first, last = place.names()[0], place.names()[-1]
    for path in files_below(os.path.join(place.traces, last)):
        os.utime(path, (1, 1))
    check(place.runs_read("traces") == {last}, "the newest by the headers' time, not the files'", (first, last))


def check_foreign(place):
    """What lies beside recordings is skipped with a line, and an error where it is named itself."""
    clean, _ = place.info("traces")
    foreign = {"trainer_state.json": '{"epoch": 1, "log_history": [{"loss": 2.5}]}', "rank8.ring": "",
               "config.json.gz": "not gzip"}
    for name, text in foreign.items():
        with open(os.path.join(place.traces, name), "w", encoding="utf-8") as out:
            out.write(text)
    place.tool("merge", "traces", "-o", "traces/run.ttrace")
    place.tool("export", "--perfetto", "run.ttrace", "-o", "traces/run.json.gz")
    place.tool("export", "--kineto", "run.ttrace", "-o", "traces/profiles")
    found, done = place.info("traces")
    check(found["ranks"] == clean["ranks"] and not found["notes"], "what is no recording changes nothing", done)
    for name in [*foreign, "run.ttrace", "run.json.gz", "profiles"]:
        lines = [line for line in done.stderr.splitlines() if f"skipped traces/{name}" in line]
        check(len(lines) == 1, f"{name} is skipped with one line", done.stderr)
    for command in (["merge", "traces", "-o", "y.ttrace"], ["export", "--pftrace", "traces", "-o", "y.pftrace"],
                    ["info", "traces/*"], ["runs", "traces"], ["doctor", "traces"]):
        done = place.tool(*command)
        check(done.returncode == 0, f"{command[0]} {command[1]} goes on", done)
    for name in foreign:
        done = place.tool("info", os.path.join("traces", name))
        check(done.returncode == 3 and name in done.stderr, f"{name} named itself is an error", done)
    done = place.tool("info", "traces/profiles")
    check(done.returncode == 0, "an export is read where it is named", done)
    check(place.runs_read("traces/profiles") == {place.names()[-1]}, "and knows its run")
    only = os.path.join(place.folder, "only")
    os.mkdir(only)
    shutil.copy(os.path.join(place.traces, "trainer_state.json"), only)
    done = place.tool("info", "only")
    check(done.returncode == 2 and "trainer_state.json" in done.stderr, "a directory without a trace is an error", done)


def check_merged_alone(place):
    """A merged file stands for recordings that are gone, or of which some are."""
    newest = place.names()[-1]
    rings = files_below(os.path.join(place.traces, newest), ".ring")
    os.remove(rings[0])
    found, done = place.info("traces")
    check(len(found["ranks"]) == RANKS and {rank["run_id"] for rank in found["ranks"]} == {newest},
          "a merged file that has more than the recordings is read instead of them", done)
    for path in rings[1:]:
        os.remove(path)
    found, done = place.info("traces")
    check(len(found["ranks"]) == RANKS, "and alone", done)


def check_losses(paths):
    """A ring that was overwritten: every command that reads it says so."""
    with Folder() as folder:
        place = Place(paths, folder)
        done = run([paths.simulated, "--ranks", RANKS, "--steps", 40, "--dir", place.traces],
                   CUDA_INJECTION64_PATH=paths.agent, TRACETOOL_BUFFER="256K")
        assert done.returncode == 0, done.stderr
        process = place.info("traces")[0]["ranks"][0]
        kernels = process["overwritten_by_kind"].get("kernel", 0)
        kept = sum(process["counts"].values())
        share = 100.0 * process["overwritten"] / (process["overwritten"] + kept)
        check(kernels > 0, "the ring was overwritten", process)
        ring = files_below(place.traces, ".ring")[0]
        for words in (["merge", "traces", "-o", "m.ttrace"], ["export", "--pftrace", "traces", "-o", "m.pftrace"],
                      ["export", "--pftrace", "m.ttrace", "-o", "n.pftrace"], ["dump", "m.ttrace"], ["dump", ring]):
            done = place.tool(*words)
            lines = [line for line in done.stderr.splitlines() if f"{kernels:,} kernels" in line
                     and ("rank 0: " in line or ring in line)]
            check(done.returncode == 0 and len(lines) == 1, f"{words[0]} {words[1]}: one line of rank 0's losses", done.stderr)
            if words[0] != "dump":
                check(f"{share:.1f} %" in lines[0] and "the first event is " in lines[0],
                      f"{words[0]}: the share, and since when", done.stderr)
        row = json.loads(place.tool("runs", "traces", "--json").stdout)["runs"][0]
        check(row["overwritten"] == sum(rank["overwritten"] for rank in place.info("traces")[0]["ranks"]),
              "runs counts what was overwritten as info does", row)


def check_cut_ring(paths):
    """A recording that was cut by a copy or a full disk is read as far as it goes, and what is missing is said."""
    with Folder() as folder:
        place = Place(paths, folder)
        place.record(TRACETOOL_BUFFER="128K")
        whole = place.info("traces")[0]["ranks"][0]
        ring = files_below(place.traces, ".ring")[0]
        size = os.path.getsize(ring)
        os.truncate(ring, size // 2)
        cut = place.info("traces")[0]["ranks"][0]
        kept, had = sum(cut["counts"].values()), sum(whole["counts"].values())
        check(0 < kept < had and all(cut["counts"][kind] <= whole["counts"][kind] for kind in whole["counts"]),
              f"a ring that was cut: {kept} of {had} events are read", cut)
        for words in (["merge", "traces", "-o", "m.ttrace"], ["export", "--pftrace", "traces", "-o", "m.pftrace"],
                      ["dump", ring], ["export", "--pftrace", "m.ttrace", "-o", "n.pftrace"]):
            done = place.tool(*words)
            lines = [line for line in done.stderr.splitlines() if f"byte {size // 2}: the file ends here" in line]
            check(done.returncode == 0 and len(lines) == 1 and f"{size} bytes were written" in lines[0] and
                  "blocks in use are missing" in lines[0], f"{words[0]} {words[1]} says so", done.stderr)
        done = place.tool("doctor", "traces")
        check(done.returncode == 0 and "the file ends here" in done.stdout, "and doctor", done)
        os.truncate(ring, 100)
        done = place.tool("info", ring)
        check(done.returncode == 3 and "byte 100" in done.stderr, "within its header it is refused", done)


def check_destroyed_header(paths):
    """The page of the header was lost: the blocks tell where they are, and their events are all there."""
    for size in ("128K", "1000000", "32M"):
        with Folder() as folder:
            place = Place(paths, folder)
            place.record(TRACETOOL_BUFFER=size)
            whole = place.info("traces")[0]["ranks"]
            ring = next(path for path in files_below(place.traces, ".ring") if path == whole[0]["source"] or
                        os.path.basename(path) in whole[0]["source"])
            with open(ring, "r+b") as file:
                file.write(bytes(4096))
            found = place.info("traces")[0]["ranks"]
            what = f"a header that was destroyed, {os.path.getsize(ring)} bytes"
            check(len(found) == len(whole) and found[0]["rank"] == whole[0]["rank"], f"{what}: the rank is known", found)
            check(found[0]["counts"] == whole[0]["counts"] and found[0]["overwritten"] == whole[0]["overwritten"],
                  f"{what}: all {sum(whole[0]['counts'].values())} events are there", found[0])
            check(found[0]["state"] == "unknown" and not found[0]["host"], f"{what}: how it ended and where are unknown",
                  found[0])
            for words in (["merge", "traces", "-o", "m.ttrace"], ["dump", ring]):
                done = place.tool(*words)
                check(done.returncode == 0 and done.stderr.count("the header is destroyed") == 1, f"{what}: {words[0]} says so",
                      done.stderr)
            with open(ring, "r+b") as file:
                file.truncate(os.path.getsize(ring) - 1000)
            done = place.tool("info", ring)
            check(done.returncode == 3 and "no magic" in done.stderr, f"{what}, and cut: nobody knows", done)


def check_live(paths):
    with Folder() as folder:
        place = Place(paths, folder)
        job = subprocess.Popen([paths.simulated, "--ranks", "1", "--steps", "100000", "--dir", place.traces],
                               env=clean_environment(CUDA_INJECTION64_PATH=paths.agent, TRACETOOL_BUFFER="2M"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            while not files_below(place.traces, ".ring") and job.poll() is None:
                pass
            row = json.loads(place.tool("runs", "traces", "--json").stdout)["runs"][0]
            check(row["state"] == "live", "a run that goes on is live", row)
        finally:
            os.killpg(job.pid, 9)
            job.wait()


def main():
    paths = arguments("agent", "simulated", "tracetool")
    with Folder() as folder:
        place = Place(paths, folder)
        for count in (1, 2, 3):
            place.record()
            check_readme(place, count)
        check_named(place)
        check_list(place)
        check_time_of_headers(place)
        check_foreign(place)
        check_merged_alone(place)
    check_losses(paths)
    check_cut_ring(paths)
    check_destroyed_header(paths)
    check_live(paths)
    finish()


main()
