#!/usr/bin/env python3
"""Every C++ file is as clang-format 14 writes it (.clang-format). Other versions differ in details, so the test then skips."""
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FOLDERS = ("agent", "cli", "common", "examples", "scripts", "tests")


def main():
    program = next((path for name in ("clang-format-14", "clang-format") if (path := shutil.which(name))), None)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip() if program else "none"
    if "version 14." not in version:
        print(f"clang-format 14 is needed; there is {version}")
        sys.exit(77)
    files = [path for folder in FOLDERS for ending in ("h", "cpp") for path in glob.glob(f"{ROOT}/{folder}/**/*.{ending}", recursive=True)]
    if len(files) < 500:
        sys.exit(f"only {len(files)} files were found")
    done = subprocess.run([program, "--dry-run", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "clang-format-violations" in line})
    if wrong:
        sys.exit(f"clang-format -i {' '.join(wrong)}")


main()
