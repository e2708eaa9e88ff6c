#!/usr/bin/env python3
"""The agent's walk over Python's frames is what Python itself says: on this Python, on each python3.9 to python3.14 in PATH, and on
those that TRACETOOL_PYTHONS names (paths, with : between). Other versions and free-threaded builds are not walked.

  test_python_frames.py --walk PATH
"""
import json
import os
import shutil
import subprocess
import sys

from harness import arguments, check, finish, run

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_walk.py")
KNOWN = range(9, 15)


def pythons():
    named = os.environ.get("TRACETOOL_PYTHONS", "")
    found = [sys.executable, *(shutil.which(f"python3.{minor}") for minor in KNOWN), *named.split(":")]
    return dict.fromkeys(os.path.realpath(path) for path in found if path)


def version_of(python):
    """[minor, 1 if it is free-threaded]. None: it cannot be run (a pyenv shim of a version that was not chosen)."""
    asked = "import sys, sysconfig; print(sys.version_info[1], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()] if done.returncode == 0 else None


def main():
    options = arguments("walk")
    for python in pythons():
        version = version_of(python)
        if version is None:
            continue
        minor, is_free_threaded = version
        done = run([python, PROGRAM, options.walk])
        if not check(done.returncode == 0, f"3.{minor}: it runs", done.stderr[-2000:]):
            continue
        said = json.loads(done.stdout)
        if is_free_threaded or minor not in KNOWN:
            check(said["minor"] == 0, f"3.{minor}{'t' if is_free_threaded else ''}: is not known, and not walked", said)
            continue
        check(said["minor"] == minor and said["walks"] > 100 and not said["wrong"], f"3.{minor}: {said['walks']} walks are as Python says", said)
        check(said["checks"] > 0 and said["wrong_checks"] == 0, f"3.{minor}: {said['checks']} checks under load find the frames of all threads", said)
    finish()


if __name__ == "__main__":
    main()
