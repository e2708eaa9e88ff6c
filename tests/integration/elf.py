"""What an ELF file asks of the machine it is loaded on: checks for the tests of symbols and of dist/."""
import re

from harness import check, run

GLIBC = re.compile(r"(libc\.so\.6|lib(m|pthread|dl|rt)\.so\.\d+|ld-linux[-\w]*\.so\.\d+)$")
NEWEST = (2, 34)


def readelf(option, path):
    found = run(["readelf", "-W", option, path])
    check(found.returncode == 0, f"readelf {option} reads {path}", found.stderr)
    return found.stdout


def check_needed(path):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d", path))
    check(needed and all(GLIBC.match(name) for name in needed), "it needs glibc's libraries only", needed)


def newer_symbols(path):
    """The names that a glibc of version NEWEST does not have."""
    found = re.findall(r"UND (\w+)@+GLIBC_([\d.]+)", readelf("--dyn-syms", path))
    return sorted(f"{name}@{version}" for name, version in found if tuple(map(int, version.split("."))) > NEWEST)


def check_versions(path):
    wanted = set(re.findall(r"Name: (\S+)\s+Flags:", readelf("-V", path)))
    numbered = {name for name in wanted if re.match(r"GLIBC_[\d.]+$", name)}
    glibc = {tuple(map(int, name[6:].split("."))) for name in numbered}
    check(glibc and max(glibc) <= NEWEST, "it needs no glibc newer than 2.34", lambda: newer_symbols(path))
    check(wanted == numbered, "it needs numbered versions of glibc only", sorted(wanted - numbered))
