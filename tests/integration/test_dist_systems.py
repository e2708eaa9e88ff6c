#!/usr/bin/env python3
"""dist/, the wheel and the Debian package in bare systems: Ubuntu 22.04 (glibc 2.35), Debian 12 (2.36) and Ubuntu 24.04 (2.39), as
scripts/dist/roots.sh makes them. In each one tracetool reads, libagent.so records a training, gpu_check reports with that system's
python3 what it would do, and pip and dpkg install a tracetool that finds its agent and answers with one command.

Without TRACETOOL_ROOTS (a folder with the systems, or where they are to be made) it is skipped: they are a download of
minutes, and chroot(2) needs root."""
import json
import os
import re
import shutil
import sys

from harness import arguments, check, finish, run, skip

ROOTS_SH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "dist", "roots.sh")
ENTER = 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"; exec chroot "$0" "$@"'
SYSTEMS = {"jammy": (2, 35), "bookworm": (2, 36), "noble": (2, 39)}
MADE_FOR_DEB = {"bookworm", "noble"}  # see scripts/release/deb.sh
RELEASE = os.path.join(os.path.dirname(ROOTS_SH), "..", "release")


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


def check_answer(system, name, tracetool):
    done = system.run(tracetool, "doctor")
    check(re.match(r"OK +agent +/.*libagent\.so$", done.stdout.split("\n")[0]) is not None, f"{name}: {tracetool} finds its agent", done)
    done = system.run(tracetool, "/tried/traces")
    lines = done.stdout.splitlines()
    check(done.returncode == 0 and len(lines) < 30 and any(line.startswith("next:") for line in lines + done.stderr.splitlines()),
          f"{name}: {tracetool} PATH answers in fewer than 30 lines and prints the next command", done)


def check_wheel(system, name):
    wheel = os.path.basename(run([sys.executable, f"{RELEASE}/wheel.py", f"{system.root}/tried/dist", f"{system.root}/tried"]).stdout.split()[0])
    done = system.run("python3", "-m", "venv", "/tried/venv")
    if not check(done.returncode == 0, f"{name}: a virtual environment is made", done):
        return
    done = system.run("/tried/venv/bin/pip", "install", "--no-index", "--disable-pip-version-check", f"/tried/{wheel}")
    if check(done.returncode == 0, f"{name}: pip installs the wheel", done):
        check_answer(system, name, "/tried/venv/bin/tracetool")


def check_debian(system, name):
    if name not in MADE_FOR_DEB or not shutil.which("dh"):
        return print(f"{name}: the Debian package is not tried: it is made for {sorted(MADE_FOR_DEB)}, with debhelper")
    package = run([f"{RELEASE}/deb.sh", f"{system.root}/tried/dist", f"{system.root}/tried"]).stdout.strip()
    done = system.run("dpkg", "--install", f"/tried/{os.path.basename(package)}")
    if check(done.returncode == 0, f"{name}: dpkg installs the package", done):
        check_answer(system, name, "/usr/bin/tracetool")
    done = system.run("dpkg", "--purge", "tracetool")
    check(done.returncode == 0, f"{name}: dpkg removes it", done)


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
        check_wheel(system, name)
        check_debian(system, name)
        system.close()
    finish()


main()
