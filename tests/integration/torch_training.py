"""A training without a GPU on the stand-in for libtorch_cpu (programs/torch_standin.cpp), and what really happened in it: a line of
JSON for each operator, with the times before and after its begin and its end (CLOCK_MONOTONIC).

  torch_training.py LIBTORCH TRUTH STEPS
"""
import ctypes
import json
import sys
import threading
import time

FUNCTION, BACKWARD, USER = 0, 1, 7
NONE, TENSOR, TENSORS, INTEGER, REAL, BOOLEAN, INTEGERS, OTHER = range(8)
FLOAT, BFLOAT16, LONG = 6, 15, 4
UNNUMBERED, NEXT = -1, -2
LAYERS = 3
MODULE_FILE = "/standin/torch/nn/modules/module.py"
MODULE_SOURCE = """
class Module:
    def _wrapped_call_impl(self, *args):
        return self.forward(*args)
    __call__ = _wrapped_call_impl
"""
exec(compile(MODULE_SOURCE, MODULE_FILE, "exec"))  # torch.nn.Module, as far as stacks go


def frames():
    """[what, function or class, file, line, module] of the caller and its callers, as a recording has them."""
    frame, found = sys._getframe(1), []
    while frame:
        code = frame.f_code
        if code.co_filename == MODULE_FILE:
            module = frame.f_locals["self"]
            found.append(["module", type(module).__name__, None, 0, id(module)])
        else:
            found.append(["python", getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno, 0])
        frame = frame.f_back
    return found


class Input(ctypes.Structure):
    pass


Input._fields_ = [("kind", ctypes.c_int32), ("type", ctypes.c_int32), ("count", ctypes.c_int64),
                  ("numbers", ctypes.POINTER(ctypes.c_int64)), ("real", ctypes.c_double), ("elements", ctypes.POINTER(Input))]


def made(kind, value=None):
    """An input as the stand-in takes it. Tensors: (type, sizes, strides)."""
    one = Input(kind=kind)
    if kind == TENSOR:
        one.type, sizes, strides = value
        one.count, one.numbers = len(sizes), (ctypes.c_int64 * (2 * len(sizes)))(*sizes, *strides)
    elif kind == TENSORS:
        one.count, one.elements = len(value), (Input * len(value))(*(made(TENSOR, each) for each in value))
    elif kind == INTEGERS:
        one.count, one.numbers = len(value), (ctypes.c_int64 * len(value))(*value)
    elif kind == INTEGER:
        one.numbers = (ctypes.c_int64 * 1)(value)
    elif kind == REAL:
        one.real = value
    elif kind == BOOLEAN:
        one.count = value
    return one


def contiguous(*sizes):
    strides, stride = [], 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride *= max(size, 1)
    return tuple(sizes), tuple(strides)


class Call(ctypes.Structure):
    PYTHON = ctypes.CFUNCTYPE(None)
    _fields_ = [("name", ctypes.c_char_p), ("inside", ctypes.c_int), ("python", PYTHON), ("times_ns", ctypes.c_int64 * 4)]


class Torch:
    def __init__(self, path, truth):
        self.library, self.truth, self.lock = ctypes.CDLL(path), truth, threading.Lock()
        self.library.standin_enter.restype = ctypes.c_void_p
        self.library.standin_enter.argtypes = (ctypes.c_char_p, ctypes.c_int, ctypes.c_int64, ctypes.c_uint64,
                                               ctypes.POINTER(Input), ctypes.c_int)
        self.library.standin_leave.argtypes = (ctypes.c_void_p,)
        self.library.standin_call.argtypes = (ctypes.POINTER(Call),)
        for name in ("standin_thread", "standin_sequence"):
            getattr(self.library, name).restype = ctypes.c_uint64

    def wait(self):
        """Until somebody observes; a stand-in that nobody recognizes is given a second."""
        give_up = time.monotonic() + 5
        while self.library.standin_callbacks() == 0 and time.monotonic() < give_up:
            time.sleep(0.01)
        return self.library.standin_callbacks()

    def enter(self, name, scope, sequence=UNNUMBERED, forward_thread=0, inputs=()):
        line = {"name": name, "scope": scope, "tid": threading.get_native_id(), "inputs": inputs,
                "thread": self.library.standin_thread(), "forward_thread": forward_thread,
                "sequence": self.library.standin_sequence() if sequence == NEXT else sequence}
        array = (Input * max(len(inputs), 1))(*(made(*each) for each in inputs))
        line["begin"] = [time.monotonic_ns()]
        line["stack"], line["open"] = frames(), self.library.standin_enter(name.encode(), scope, sequence, forward_thread, array, len(inputs))
        line["begin"].append(time.monotonic_ns())
        return line

    def leave(self, line):
        line["end"] = [time.monotonic_ns()]
        self.library.standin_leave(line.pop("open"))
        line["end"].append(time.monotonic_ns())
        line["end_tid"] = threading.get_native_id()
        with self.lock:
            self.truth.write(json.dumps(line) + "\n")

    def dispatch(self, *calls):
        """(name, how many of those that follow it calls, a Python function that it calls before them or None): operators that call each
        other without Python in between."""
        array = (Call * len(calls))(*((name.encode(), inside, Call.PYTHON(python) if python else Call.PYTHON()) for name, inside, python in calls))
        stack, count = frames(), self.library.standin_call(array)
        assert count == len(calls)
        line = {"scope": FUNCTION, "tid": threading.get_native_id(), "end_tid": threading.get_native_id(), "inputs": (), "stack": stack,
                "thread": self.library.standin_thread(), "forward_thread": 0, "sequence": UNNUMBERED}
        with self.lock:
            for (name, _, _), call in zip(calls, array):
                times = list(call.times_ns)
                self.truth.write(json.dumps({"name": name, **line, "begin": times[:2], "end": times[2:]}) + "\n")

    def call(self, *what, inside=(), **more):
        line = self.enter(*what, **more)
        for each in inside:
            each()
        self.leave(line)
        return line


def inputs_of(layer):
    """Of all kinds; sizes behind a pointer, strides that do not follow from the sizes, no elements, no dimensions."""
    return ((TENSOR, (BFLOAT16, *contiguous(2, 3, 4 + layer))), (TENSOR, (FLOAT, (8, 16), (1, 8))), (NONE,),
            (TENSOR, (FLOAT, *contiguous(1, 2, 3, 4, 5, 6))), (TENSOR, (LONG, *contiguous())), (TENSOR, (FLOAT, *contiguous(0, 7))),
            (INTEGER, -layer - 1), (REAL, 0.1), (REAL, 2.0), (BOOLEAN, 1), (BOOLEAN, 0), (INTEGERS, (1, -2, 3)), (INTEGERS, ()),
            (TENSORS, ((FLOAT, *contiguous(2, 2)), (BFLOAT16, (3, 5), (1, 3)))), (OTHER,))


class Layer(Module):  # noqa: F821
    def __init__(self, forward):
        self.forward = forward


class Stack(Module):  # noqa: F821
    def __init__(self, *layers):
        self.layers = layers

    def forward(self):
        for layer in self.layers:
            layer()


def dispatched(torch, number):
    """Operators whose Python stack is that of the one that called them, and such as look as if it were."""
    def one():
        torch.dispatch(("aten::linear", 3, None), ("aten::t", 1, None), ("aten::transpose", 0, None), ("aten::addmm", 0, None))

    def other():
        torch.dispatch(("aten::relu", 1, None), ("aten::clamp_min", 0, None))
        one()

    one()
    one()  # from another line, where everything else is the same
    torch.dispatch(("CustomFunction", 3, other), ("aten::mul", 1, None), ("aten::empty", 0, other), ("aten::add", 0, None))
    outer = torch.enter("outer range", USER)  # Python goes on while it is open
    inner = torch.enter("aten::sub", FUNCTION)
    torch.leave(inner)
    torch.leave(outer)
    if number == 6:  # enough for the next block
        torch.dispatch(("aten::many", 60, None), *((f"{number}{at}" * 1000, 0, None) for at in range(60)))


def step(torch, number):
    forward = []

    def layer(index):
        def inner():
            torch.call("aten::mm", FUNCTION, inputs=((TENSOR, (FLOAT, *contiguous(64, 32 + index))), (TENSOR, (FLOAT, (32, 16), (1, 32)))))
        forward.append(torch.call("aten::linear", FUNCTION, sequence=NEXT, inputs=inputs_of(index), inside=[inner]))

    def backward():
        for line in reversed(forward):
            torch.call("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, sequence=line["sequence"],
                       forward_thread=line["thread"],
                       inside=[lambda: torch.call("aten::mm", FUNCTION, inputs=((TENSOR, (FLOAT, *contiguous(16, 8))),))])

    model = Stack(*(Layer(lambda index=index: layer(index)) for index in range(LAYERS)))
    torch.call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", USER)
    torch.call("DistributedDataParallel.forward", USER, inside=[model])
    thread = threading.Thread(target=backward)
    thread.start()
    thread.join()
    dispatched(torch, number)
    torch.call(f"Schritt {number} größer", USER)
    torch.call("Optimizer.step#AdamW.step", USER,
               inside=[lambda: torch.call("aten::_foreach_add_", FUNCTION, inputs=((TENSORS, ((FLOAT, *contiguous(4, 4)),) * 3), (INTEGER, 1)))])


def main():
    path, truth, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(truth, "w", encoding="utf-8") as out:
        torch = Torch(path, out)
        print(json.dumps({"observed": torch.wait()}), flush=True)
        time.sleep(0.5)  # for what an observer finds out of Python
        for number in range(steps):
            step(torch, number)
        late = torch.enter("gloo:all_reduce", USER)  # an asynchronous range ends where its work is done
        thread = threading.Thread(target=torch.leave, args=(late,))
        thread.start()
        thread.join()
    print(json.dumps({"observed": torch.library.standin_callbacks()}))


if __name__ == "__main__":
    main()
