"""For gdb: runs the program to its end and prints, at each call of the functions named in $STACKS_AT, one line of JSON with the
thread and its frames, the innermost first: of each the file and the address in it, as the loader has placed it."""
import json
import os

import gdb


def mapped():
    """(begin, end, path, begin of the file's first mapping), of all that is mapped from files."""
    found, first = [], {}
    with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf-8") as lines:
        for line in lines:
            words = line.split(None, 5)
            if len(words) < 6 or not words[5].startswith("/"):
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            path = words[5].strip()
            if int(words[2], 16) == 0:
                first.setdefault(path, begin)
            found.append((begin, end, path, first.get(path, begin)))
    return found


def frames():
    maps, frame = mapped(), gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME:
            pc = frame.pc()
            place = next(((path, pc - base) for begin, end, path, base in maps if begin <= pc < end), (None, pc))
            yield place
        frame = frame.older()


class At(gdb.Breakpoint):
    def stop(self):
        thread = gdb.selected_thread().ptid[1]
        print("STACK " + json.dumps({"tid": thread, "frames": list(frames())}), flush=True)
        return False


for command in ("set pagination off", "set breakpoint pending on", "set backtrace past-main on", "set backtrace past-entry on",
                "set debuginfod enabled off", "handle all nostop noprint pass"):
    gdb.execute(command)
for name in os.environ["STACKS_AT"].split():
    At(name)
gdb.execute("run")
