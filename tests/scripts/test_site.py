#!/usr/bin/env python3
"""The site of docs/: mkdocs builds it without a warning and without a network, and its pages load nothing from other hosts.

Needs a Python with scripts/site_requirements.txt: the one that runs the test, or that of TRACETOOL_MKDOCS_PYTHON."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIPPED = 77  # meson's exit code for a test that could not run
PYTHON = os.environ.get("TRACETOOL_MKDOCS_PYTHON", sys.executable)
NO_NETWORK = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}
LOADED = re.compile(r"""<(?:script|img|iframe)[^>]*\ssrc=["']?(https?:[^"' >]+)|<link[^>]*\shref=["']?(https?:[^"' >]+)""")


def pinned():
    """{package: version} of the site's requirements."""
    with open(f"{ROOT}/scripts/site_requirements.txt", encoding="utf-8") as file:
        return dict(line.strip().split("==") for line in file if not line.startswith("#"))


def main():
    versions = pinned()
    if not versions["mkdocs"].startswith("1.") or "mkdocs-material" not in versions:
        sys.exit(f"scripts/site_requirements.txt pins mkdocs {versions['mkdocs']}")
    if subprocess.run([PYTHON, "-c", "import mkdocs, material"], capture_output=True).returncode != 0:
        print(f"skipped: {PYTHON} has no mkdocs and mkdocs-material: pip install -r scripts/site_requirements.txt")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PYTHON, "-m", "mkdocs", "build", "--strict", "--site-dir", f"{folder}/site"], cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, **NO_NETWORK, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode != 0 or re.search("^(WARNING|ERROR)", done.stderr, re.M):
            sys.exit(f"mkdocs build --strict: status {done.returncode}:\n{done.stdout}{done.stderr}")
        pages = glob.glob(f"{folder}/site/**/*.html", recursive=True)
        for path in pages:
            with open(path, encoding="utf-8") as file:
                loaded = LOADED.findall(file.read())
            if loaded:
                sys.exit(f"{os.path.relpath(path, folder)} loads {loaded[0][0] or loaded[0][1]}")
    print(f"{len(pages)} pages without a warning")


if __name__ == "__main__":
    main()
