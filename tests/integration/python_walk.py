"""Walks Python's frames as the agent does (programs/python_walk.cpp), on five threads, through functions, methods, generators, lambdas,
C functions that call back, and eval; and compares each walk with sys._getframe(). Prints what it found, as JSON.

  python_walk.py LIBRARY
"""
import ctypes
import json
import random
import sys
import threading
import time

held, released = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL(sys.argv[1])  # with the GIL, and without
said = {"minor": held.walk_begin(), "walks": 0, "wrong": [], "checks": 0, "wrong_checks": 0}
stop = threading.Event()


def frames():
    frame, found = sys._getframe(1), []
    while frame:
        found.append([getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_code.co_filename, str(frame.f_lineno)])
        frame = frame.f_back
    return found


def look(library):
    text = ctypes.create_string_buffer(1 << 17)
    true, count = frames(), library.walk(text, len(text))
    walked = [line.split("\t") for line in text.value.decode().splitlines()]
    true[0][2] = walked[0][2] if walked else None  # the two look from two lines
    said["walks"] += 1
    if walked != true or count != len(true):
        said["wrong"].append([count, walked[:4], true[:4]])


class Methods:
    def method(self, depth):
        return call(depth)

    @property
    def attribute(self):
        look(held)
        return 1


def generator(depth):
    yield call(depth)


def call(depth):
    if depth == 0:
        look(held)
        look(released)
        return Methods().attribute
    how = depth % 5
    if how == 0:
        return Methods().method(depth - 1)
    if how == 1:
        return next(generator(depth - 1))
    if how == 2:
        return sorted([1], key=lambda _: call(depth - 1))[0]
    if how == 3:
        return eval(f"call({depth - 1})")
    return list(map(call, [depth - 1]))[0]


def work():
    while not stop.is_set():
        call(random.randrange(20))


def main():
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 1
    while time.monotonic() < end:
        call(random.randrange(40))
        said["checks"] += 1
        said["wrong_checks"] += held.walk_check() <= 0
    stop.set()
    for thread in threads:
        thread.join()


if said["minor"]:
    main()
said["wrong"] = said["wrong"][:3]
print(json.dumps(said))
