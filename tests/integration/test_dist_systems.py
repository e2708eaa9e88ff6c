#!/usr/bin/env python3
"""dist/ in other systems: Ubuntu 22.04 (glibc 2.35) and 24.04 (glibc 2.39), as scripts/dist/roots.sh makes them. There
tracetool reads, libagent.so records a training, and gpu_check says with that system's python3 what it would do.

Without TRACETOOL_ROOTS (a folder with the systems, or where they are to be made) it is skipped: they are a download of
minutes, and chroot(2) needs root."""
import json
import os
import shutil

from harness import arguments, check, finish, run, skip

ROOTS_SH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "dist", "roots.sh")
ENTER = 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"; exec chroot "$0" "$@"'
SYSTEMS = {"jammy": (2, 35), "noble": (2, 39)}


class System:
    """One of the roots, with dist/ and the simulated training in its /tried."""

    def __init__(self, root, options):
        self.root, tried = root, f"{root}/tried"
        shutil.rmtree(tried, ignore_errors=True)
        shutil.copytree(options.dist, f"{tried}/dist")
        os.mkdir(f"{tried}/standin")
        shutil.copy(options.simulated, tried)
        standins = os.path.join(os.path.dirname(options.simulated), "standin")
        for name in filter(lambda name: ".so" in name and not name.endswith(".p"), os.listdir(standins)):
            shutil.copy(f"{standins}/{name}", f"{tried}/standin/{name}")

    def run(self, *command, **environment):
        """In the root, with a /proc and a /dev that go when it ends."""
        return run(["unshare", "--mount", "sh", "-ec", ENTER, self.root, *command], PATH="/usr/sbin:/usr/bin:/sbin:/bin",
                   HOME="/tmp", **environment)

    def close(self):
        shutil.rmtree(f"{self.root}/tried")


def check_glibc(system, name, version):
    said = system.run("python3", "-c", "import os; print(os.confstr('CS_GNU_LIBC_VERSION'))").stdout.split()
    check(said[:1] == ["glibc"] and tuple(map(int, said[1].split("."))) == version, f"{name}: its glibc is {version}", said)


def check_recording(system, name):
    done = system.run("/tried/simulated_training", "--agent", "/tried/dist/libagent.so", "--dir", "/tried/traces", "--ranks",
                      "2", "--steps", "3", "--ring-bytes", "1M")
    check(done.returncode == 0 and not done.stderr, f"{name}: libagent.so records a training", done)
    done = system.run("/tried/dist/tracetool", "info", "--json", "/tried/traces")
    if check(done.returncode == 0, f"{name}: tracetool reads the recording", done):
        ranks = json.loads(done.stdout)["ranks"]
        check(len(ranks) == 2 and all(rank["state"] == "clean" and rank["counts"]["kernel"] > 10 for rank in ranks),
              f"{name}: it is whole", ranks)
    done = system.run("/tried/dist/tracetool", "info", "/there/is/no/such/file")
    check(done.returncode == 2 and "no such file" in done.stderr, f"{name}: an error that is thrown is caught", done)


def check_capture(system, name):
    done = system.run("/tried/simulated_training", "--agent", "/tried/dist/gpu_check/libraw_capture.so", "--dir", "/tried/raw",
                      "--ranks", "1", "--steps", "1", RAW_CAPTURE_DIR="/tried/standin")
    found = [file for file in os.listdir(f"{system.root}/tried/standin") if file.endswith(".rawcapture")]
    check(done.returncode == 0 and len(found) == 1, f"{name}: libraw_capture.so captures a training", done)


def check_gpu_check(system, name):
    done = system.run("/tried/dist/gpu_check.sh", "--list")
    check(done.returncode == 0 and "smoke" in done.stdout, f"{name}: gpu_check lists its parts", done)
    done = system.run("/tried/dist/gpu_check.sh", "-o", "/tried/results")
    check(done.returncode == 4 and "nvidia-smi names no GPU" in done.stdout, f"{name}: gpu_check runs, and says what is missing",
          done)


def main():
    options = arguments("dist", "simulated")
    roots = os.environ.get("TRACETOOL_ROOTS")
    if not roots or os.geteuid() != 0:
        skip("TRACETOOL_ROOTS names no folder for other systems, or this is not root")
    done = run([ROOTS_SH, roots], timeout=1500, **{name: os.environ.get(name) for name in ("DEBOOTSTRAP", "DEBOOTSTRAP_DIR")})
    if done.returncode != 0:
        skip(f"the systems cannot be made: {done.stderr.strip()[-200:]}")
    for name, version in SYSTEMS.items():
        system = System(os.path.join(os.path.abspath(roots), name), options)
        check_glibc(system, name, version)
        check_recording(system, name)
        check_capture(system, name)
        check_gpu_check(system, name)
        system.close()
    finish()


main()
