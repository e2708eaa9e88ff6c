#!/usr/bin/env python3
"""Packs what scripts/dist.sh made into wheels for pip, pipx and uv.

  wheel.py DIST OUTPUT    prints the path of each wheel

The wheel for x86-64 has tracetool and libagent.so; that for aarch64 (if DIST has its agent) has libagent.so. The same input gives the same bytes.
Format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""
import base64
import hashlib
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can have
PLATFORM = "manylinux_2_34"  # tests/integration/test_dist.py checks that nothing asks for a newer glibc
METADATA = """Metadata-Version: 2.1
Name: tracetool-gpu
Version: {version}
Summary: See where GPU time goes in distributed training, rank by rank
License: Apache-2.0
Requires-Python: >=3.7
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: tracetool
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def tree(folder, below):
    """{name in the wheel: its bytes} of all files in a folder."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            found[os.path.join(below, os.path.relpath(path, folder))] = read(path)
    return found


def write_wheel(dist, output, machine, programs):
    version = read(f"{dist}/VERSION").decode().split()[0]
    platform = f"{PLATFORM}_{machine}"
    info, data = f"tracetool_gpu-{version}.dist-info", f"tracetool_gpu-{version}.data"
    files = {f"tracetool/{name}": read(f"{HERE}/tracetool/{name}") for name in ("__init__.py", "__main__.py")}
    files.update({f"tracetool/{os.path.basename(path)}": read(f"{dist}/{path}") for path in programs})
    if "tracetool" in programs:
        files.update(tree(f"{dist}/share", f"{data}/data/share"))
    files.update(tree(f"{dist}/licences", f"{info}/licenses"))
    files[f"{info}/licenses/LICENSE"] = read(f"{dist}/LICENSE")
    files[f"{info}/METADATA"] = METADATA.format(version=version, readme=read(f"{dist}/README.md").decode()).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(platform=platform).encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\ntracetool = tracetool:main\n"
    record = "".join(record_line(name, files[name]) for name in sorted(files))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = f"{output}/tracetool_gpu-{version}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            entry = zipfile.ZipInfo(name, FIRST_DATE)
            is_program = name.startswith("tracetool/") and not name.endswith(".py")
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, files[name])
    return path


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    dist, output = sys.argv[1:]
    os.makedirs(output, exist_ok=True)
    print(write_wheel(dist, output, "x86_64", ["tracetool", "libagent.so", "merge_job.sh"]))
    if os.path.exists(f"{dist}/aarch64/libagent.so"):
        print(write_wheel(dist, output, "aarch64", ["aarch64/libagent.so"]))


if __name__ == "__main__":
    main()
