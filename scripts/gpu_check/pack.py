"""Results and evidence in one file that is small enough to be carried away: a machine may be lent for minutes, and give back a
few small files only."""
import os
import tarfile
import zlib

MOST_BYTES = 15 << 20
MOST_READ = 256 << 20  # of a file that is looked at: a recording is that long, and mostly empty
SMALL = 1 << 20
NOT_ABOUT_US = {"inductor", "__pycache__"}  # folders with what compilers leave


def files(folder):
    """(bytes, path) of what is in the folder, without compiled programs."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_ABOUT_US]
        for path in (os.path.join(at, name) for name in names):
            if os.path.isfile(path) and not os.path.islink(path) and not is_program(path):
                yield os.path.getsize(path), path


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def order(folder, parts):
    """Paths in the order of their use: texts and fixtures, small first; then recordings of parts that failed."""
    failed = {part["name"] for part in parts if part["status"] == "failed"}
    found = sorted(files(folder))
    yield from (path for size, path in found if size <= SMALL)
    yield from (path for size, path in found if SMALL < size <= MOST_READ
                and os.path.relpath(path, folder).split(os.sep)[0] in failed)


def packed_bytes(path):
    with open(path, "rb") as file:
        return len(zlib.compress(file.read(), 1)) + tarfile.BLOCKSIZE


def write(target, folder, parts, most_bytes=MOST_BYTES):
    """Makes `target` anew, as a whole. What found no room is named in left_out.txt beside the results."""
    left_out = []
    with tarfile.open(target + ".new", "w:gz", compresslevel=6) as archive:
        for path in order(folder, parts):
            name = os.path.relpath(path, folder)
            if path in (target, target + ".new") or name == "left_out.txt":
                continue
            if archive.fileobj.fileobj.tell() + packed_bytes(path) > most_bytes:
                left_out.append(name)
            else:
                archive.add(path, arcname=name)
        with open(os.path.join(folder, "left_out.txt"), "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in left_out))
        archive.add(file.name, arcname="left_out.txt")
    os.replace(target + ".new", target)
