#!/usr/bin/env python3
"""Packages and what is installed: the wheel in a folder of its own, the Debian package, `meson install`, manual pages, completions of shells.

  test_packages.py --tracetool PATH --agent PATH
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

from harness import Folder, arguments, check, finish, run

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def made_dist(options, folder):
    """What scripts/dist.sh makes, from this build."""
    dist = f"{folder}/dist"
    os.makedirs(f"{dist}/licences")
    for path in (options.tracetool, options.agent, f"{ROOT}/LICENSE", f"{ROOT}/README.md", f"{ROOT}/scripts/merge_job.sh"):
        shutil.copy(path, dist)
    with open(f"{dist}/VERSION", "w", encoding="utf-8") as file:
        file.write("0.1.0 0123abc\n")
    with open(f"{dist}/licences/zstd.txt", "w", encoding="utf-8") as file:
        file.write("a licence\n")
    done = run([options.tracetool, "pages", f"{dist}/share"])
    check(done.returncode == 0 and not done.stdout, "pages are written", done)
    return dist


def check_installed(tracetool, what, **environment):
    done = run([tracetool, "--version"], **environment)
    check(done.returncode == 0 and done.stdout.startswith("tracetool 0."), f"{what}: tracetool runs", done)
    done = run([tracetool, "doctor"], **environment)
    check(re.match(r"OK +agent +/.*libagent\.so$", done.stdout.split("\n")[0]) is not None, f"{what}: it finds its recorder", done.stdout)


def check_wheel(dist, folder):
    if importlib.util.find_spec("pip") is None:
        print("skipped: this Python has no pip")
        return
    wheels = [run([sys.executable, f"{ROOT}/scripts/release/wheel.py", dist, f"{folder}/{name}"]).stdout.split() for name in ("wheels", "again")]
    contents = []
    for paths in wheels:
        with open(paths[0], "rb") as file:
            contents.append(file.read())
    check(contents[0] == contents[1], "wheel: the same input gives the same bytes")
    target = f"{folder}/installed"
    done = run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", target, wheels[0][0]])
    if not check(done.returncode == 0, "wheel: pip installs it", done.stderr[-2000:]):
        return
    check_installed(f"{target}/bin/tracetool", "wheel", PYTHONPATH=target)
    done = run([sys.executable, "-m", "tracetool", "agent-path"], PYTHONPATH=target)
    check(done.stdout == f"{target}/tracetool/libagent.so\n" and os.path.exists(done.stdout.strip()), "wheel: python -m tracetool agent-path", done)
    check(os.path.exists(f"{target}/share/man/man1/tracetool.1"), "wheel: it has the manual pages")
    os.mkdir(f"{dist}/aarch64")
    shutil.copy(f"{dist}/libagent.so", f"{dist}/aarch64")
    paths = run([sys.executable, f"{ROOT}/scripts/release/wheel.py", dist, f"{folder}/both"]).stdout.split()
    check([os.path.basename(path).rsplit("_", 1)[1] for path in paths] == ["64.whl", "aarch64.whl"], "wheel: one for each processor", paths)


def check_debian(dist, folder):
    if not shutil.which("dpkg-buildpackage") or not shutil.which("dh"):
        print("skipped: the Debian package: no debhelper here")
        return
    done = run([f"{ROOT}/scripts/release/deb.sh", dist, f"{folder}/deb"])
    if not check(done.returncode == 0, "deb: it is made", done.stderr[-2000:]):
        return
    package, root = done.stdout.strip(), f"{folder}/root"
    run(["dpkg-deb", "--extract", package, root])
    check_installed(f"{root}/usr/bin/tracetool", "deb")
    if shutil.which("lintian"):
        done = run(["lintian", "--allow-root", "--fail-on", "error,warning", package])
        # This build may be of another compiler than releases, and its programs are not stripped.
        said = [line for line in done.stdout.splitlines() if "unstripped" not in line and "embedded-library" not in line]
        check(not said, "deb: lintian has no complaint", done.stdout)


def check_meson_install(options, folder):
    build = os.path.dirname(os.path.dirname(options.tracetool))
    destination = f"{folder}/destination"
    done = run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", destination])
    if not check(done.returncode == 0, "meson install", (done.stdout + done.stderr)[-2000:]):
        return
    places = {name: os.path.join(place, name) for place, _, names in os.walk(destination) for name in names}
    check({"tracetool", "libagent.so", "tracetool.1", "_tracetool", "tracetool.fish"} <= set(places), "meson install: programs, pages and completions", sorted(places))
    programs = [f"{place}/tracetool" for place, _, names in os.walk(destination) if "tracetool" in names and place.endswith("/bin")]
    check_installed(programs[0], "meson install")


def visible_commands(tracetool):
    text = run([tracetool, "--help"]).stdout
    return re.findall(r"^  (\w+) ", text[text.index("Subcommands:"):text.index("\n\n", text.index("Subcommands:"))], re.M)


def check_pages(tracetool, share):
    """Each page and each completion has all options that --help lists, and no page is of a hidden command."""
    commands = visible_commands(tracetool)
    check({"record", "diagnose", "help"} < set(commands) and "pages" not in commands, "--help lists the commands", commands)
    pages = {name for name in os.listdir(f"{share}/man/man1")}
    check(pages == {"tracetool.1"} | {f"tracetool-{name}.1" for name in commands}, "there is a page for each command", pages)
    scripts = {}
    for name in ("bash-completion/completions/tracetool", "zsh/site-functions/_tracetool", "fish/vendor_completions.d/tracetool.fish"):
        with open(f"{share}/{name}", encoding="utf-8") as file:
            scripts[name] = file.read()
    missing = []
    for name in commands:
        with open(f"{share}/man/man1/tracetool-{name}.1", encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        for option in re.findall(r"^  (?:-\w,)?--([a-z-]+)", run([tracetool, "help", name]).stdout, re.M):
            missing += [(name, option, "page")] * (f"--{option}" not in page)
            missing += [(name, option, script) for script, text in scripts.items() if not re.search(rf"(--|-l ){option}\b", text)]
    check(not missing, "pages and completions have each option", missing[:5])
    check(all("hidden" not in text and "pages" not in re.findall(r"\w+", text) for text in scripts.values()), "completions have no hidden command")


def check_shells(share):
    tried = {"bash": ["bash", "-n", f"{share}/bash-completion/completions/tracetool"], "zsh": ["zsh", "-n", f"{share}/zsh/site-functions/_tracetool"],
             "fish": ["fish", "--no-execute", f"{share}/fish/vendor_completions.d/tracetool.fish"]}
    for shell, command in tried.items():
        if shutil.which(shell):
            done = run(command)
            check(done.returncode == 0 and not done.stderr, f"{shell} reads its completion", done.stderr)
    asked = f"source {share}/bash-completion/completions/tracetool; COMP_WORDS=(tracetool {{}}); COMP_CWORD=$((${{{{#COMP_WORDS[@]}}}} - 1)); _tracetool; echo ${{{{COMPREPLY[@]}}}}"
    for words, answer in (("dia", "diagnose"), ("analyze --format ''", "text json csv md"), ("analyze --form", "--format"), ("diagnose ''", "")):
        said = subprocess.run(["bash", "-c", asked.format(words)], capture_output=True, text=True, check=False).stdout.strip()
        check(said == answer, f"bash completes `tracetool {words}`", said)
    if shutil.which("man"):
        warned = [name for name in os.listdir(f"{share}/man/man1")
                  if run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", f"{share}/man/man1/{name}"]).stderr]
        check(not warned, "man has no complaint", warned)


def main():
    options = arguments("tracetool", "agent")
    with Folder() as folder:
        dist = made_dist(options, folder)
        check_pages(options.tracetool, f"{dist}/share")
        check_shells(f"{dist}/share")
        check_wheel(dist, folder)
        check_debian(dist, folder)
        check_meson_install(options, folder)
    finish()


if __name__ == "__main__":
    main()
