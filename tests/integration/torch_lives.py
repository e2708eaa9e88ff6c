"""Programs that fork, exec, end, raise or are looked at in the middle of an operator; what they print and how they end is the same with and
without an observer.

  torch_lives.py LIBTORCH HOW      LIBTORCH: the stand-in for libtorch_cpu, or "torch" for a real PyTorch; HOW: a function below
"""
import atexit
import contextlib
import cProfile
import ctypes
import faulthandler
import gc
import io
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import tracemalloc

import torch_training

TIMES = 20


class Nothing:
    """A file that keeps nothing."""

    def write(self, text):
        pass


class Standin:
    def __init__(self, path):
        self.torch = torch_training.Torch(path, Nothing())
        self.torch.lock = contextlib.nullcontext()  # a handler may come anywhere
        if "TRACETOOL_TORCH" in os.environ:
            self.torch.wait()

    def operator(self, inside=lambda: None):
        """`inside` is called while an operator is open."""
        line = self.torch.enter("aten::linear", torch_training.FUNCTION, sequence=torch_training.NEXT)
        try:
            inside()
        finally:
            self.torch.leave(line)

    def plain(self):
        for _ in range(TIMES):
            self.operator()


class Real:
    def __init__(self, _):
        import torch
        self.torch = torch
        torch.set_num_threads(1)
        self.layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())

    def operator(self, inside=lambda: None):
        """In a hook of a backward operator, within the module's call where the gradient is asked for."""
        out = self.layer(self.torch.ones(2, 4))

        def hook(_):
            inside()
        out.register_hook(hook)
        out.sum().backward()

    def plain(self):
        for _ in range(TIMES):
            self.layer(self.torch.ones(2, 4)).sum()


def prepared():
    backend = (Real if sys.argv[1] == "torch" else Standin)(sys.argv[1])
    backend.plain()
    if "TRACETOOL_TORCH" in os.environ:
        time.sleep(0.5)  # for what an observer finds out of Python
    backend.plain()
    backend.operator()  # which brings in what is imported late
    return backend


def say(*words):
    print(*words, flush=True)


def forked(torch, child):
    pid = os.fork()
    if pid == 0:
        child()
    say("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def fork_and_leave(torch):
    torch.operator(lambda: forked(torch, lambda: os._exit(5)))


def fork_and_go_on(torch):
    """The child ends the operator that it was born in, runs others, and ends as a program does."""
    parent = os.getpid()
    torch.operator(lambda: forked(torch, lambda: None) if sys.argv[1] != "torch" else None)
    if os.getpid() == parent:
        forked(torch, lambda: None)
    if os.getpid() != parent:
        torch.plain()
        say("in the child")
        sys.exit(6)
    torch.plain()


def fork_and_exec(torch):
    torch.operator(lambda: forked(torch, lambda: os.execv(sys.executable, [sys.executable, "-c", "print('another'); raise SystemExit(8)"])))
    torch.plain()


def run_in_worker(number):
    torch = prepared()
    gc.collect()
    return number + (torch is not None)


def pool(method):
    with multiprocessing.get_context(method).Pool(2) as workers:
        say(workers.map(run_in_worker, range(4)))


def pool_fork(torch):
    torch.operator(lambda: pool("fork") if sys.argv[1] != "torch" else None)
    torch.plain()


def pool_spawn(torch):
    torch.operator(lambda: pool("spawn"))


def pool_forkserver(torch):
    pool("forkserver")
    torch.plain()


def exec_inside(torch):
    torch.operator(lambda: os.execv(sys.executable, [sys.executable, "-c", "import gc; gc.collect(); print('second'); raise SystemExit(9)"]))


def leave_at_once(torch):
    torch.operator(lambda: os._exit(4))


def exit_inside(torch):
    torch.operator(lambda: sys.exit(3))


def abort_inside(torch):
    torch.operator(os.abort)


def raise_inside(torch):
    def fail():
        raise ValueError("inside")
    for _ in range(TIMES):
        try:
            torch.operator(fail)
        except ValueError as error:
            say("caught", error)
    torch.plain()


def raise_unseen(torch):
    torch.operator(lambda: {}["not there"])


def raise_deep(torch):
    def deeper():
        torch.plain()
        deeper()
    sys.setrecursionlimit(300)
    try:
        deeper()
    except RecursionError:
        say("too deep")


def forever(torch):
    while True:
        torch.operator(gc.collect)


def daemons(torch):
    for _ in range(3):
        threading.Thread(target=forever, args=(torch,), daemon=True).start()
    time.sleep(0.3)
    say("main ends")


def threads(torch):
    def late():
        time.sleep(0.2)
        torch.plain()
        say("thread ends")
    threading.Thread(target=late).start()
    say("main ends")


def ended_from_thread(torch):
    """exit(3) of the C library, on another thread, in an operator, while others run."""
    for _ in range(2):
        threading.Thread(target=forever, args=(torch,), daemon=True).start()
    threading.Thread(target=lambda: torch.operator(lambda: ctypes.PyDLL(None).exit(11))).start()
    time.sleep(20)


def at_the_end(torch):
    atexit.register(lambda: (torch.plain(), say("at exit")))

    class Late:
        def __del__(self, torch=torch):
            torch.plain()
    sys.modules["late"] = Late()
    sys.modules["late"].me = sys.modules["late"]


def terminated(torch):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(12))
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    while True:
        torch.plain()


def alarmed(torch):
    """A handler runs operators wherever the program is."""
    count, busy = [0], [False]

    def on_alarm(*_):
        if not busy[0]:
            busy[0] = True
            count[0] += 1
            torch.operator()
            gc.collect(0)
            busy[0] = False
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        torch.plain()
    signal.setitimer(signal.ITIMER_REAL, 0)
    say(count[0] > 5)


def garbage(torch):
    class Node:
        def __init__(self):
            self.me = self

        def __del__(self):
            torch.operator()
    for _ in range(200):
        Node()
        gc.collect(0)
    gc.callbacks.clear()
    gc.collect()


def stands_still(torch):
    """Longer than TRACETOOL_HANG_STACKS, without and with the GIL."""
    time.sleep(2.5)
    torch.plain()
    ctypes.PyDLL(None).usleep(2_500_000)


def with_cprofile(torch):
    profile = cProfile.Profile()
    profile.runcall(torch.plain)
    say(any("plain" in str(entry.code) for entry in profile.getstats()))


def with_setprofile(torch):
    calls = [0]

    def tell(*_):
        calls[0] += 1
    sys.setprofile(tell)
    threading.setprofile(tell)
    torch.plain()
    thread = threading.Thread(target=torch.plain)
    thread.start()
    thread.join()
    sys.setprofile(None)
    say(calls[0])


def with_settrace(torch):
    lines = [0]

    def tell(*_):
        lines[0] += 1
        return tell
    sys.settrace(tell)
    torch.plain()
    sys.settrace(None)
    say(lines[0])


def with_monitoring(torch):
    if not hasattr(sys, "monitoring"):
        return
    starts = [0]

    def tell(*_):
        starts[0] += 1
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.PROFILER_ID, "test")
    monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, tell)
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    torch.plain()
    monitoring.set_events(monitoring.PROFILER_ID, 0)
    say(starts[0])


def with_coverage(torch):
    """coverage of PyPI, if it is installed, with each of its tracers: the same lines and arcs."""
    try:
        import coverage
    except ImportError:
        return
    for core in ("ctrace", "pytrace", "sysmon"):
        os.environ["COVERAGE_CORE"] = core
        for branch in (False, True):
            seen = coverage.Coverage(data_file=None, config_file=False, branch=branch)
            seen.start()
            torch.plain()
            gc.collect()
            seen.stop()
            data = seen.get_data()
            for path in sorted(data.measured_files()):
                say(core, os.path.basename(path), sorted(data.arcs(path) if branch else data.lines(path)))


def with_faulthandler(torch):
    """Its timer looks while nothing moves: else it may read what is gone, and ends the program itself."""
    faulthandler.enable()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        faulthandler.dump_traceback_later(0.4, file=out)
        torch.operator(lambda: time.sleep(0.8))
        out.seek(0)
        said = out.read()
        say(said.count("Thread 0x"), said.count("in prepared"), said.count("in with_faulthandler"))
    torch.plain()


def with_tracemalloc(torch):
    tracemalloc.start(10)
    torch.plain()
    kept = [bytes(1000) for _ in range(10)]  # what PyTorch itself keeps varies
    say(len(kept) == 10 and len(tracemalloc.take_snapshot().traces) > 0)


def with_profiler(torch):
    """torch.profiler with stacks; of a stand-in there is none."""
    if isinstance(torch, Real):
        profiler = torch.torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=True) as profile:
            torch.plain()
        say(sorted(each.key for each in profile.key_averages()))  # of one in another in one microsecond 2.1 counts one or two


class Items:
    def __init__(self, torch):
        self.torch = torch

    def __len__(self):
        return 12

    def __getitem__(self, at):
        return self.torch.full((3,), float(at)).relu()


def loader(torch, method):
    if isinstance(torch, Real):
        data = torch.torch.utils.data
        batches = data.DataLoader(Items(torch.torch if method == "fork" else __import__("torch")), batch_size=3, num_workers=2, multiprocessing_context=method)
        say([batch.sum().item() for batch in batches])
        say([batch.sum().item() for batch in batches])


def loader_fork(torch):
    loader(torch, "fork")


def loader_left(torch):
    """In the middle of an epoch, with workers alive."""
    if isinstance(torch, Real):
        for batch in torch.torch.utils.data.DataLoader(Items(torch.torch), num_workers=2):
            say(batch.sum().item())
            break
    sys.exit(13)


def output_to(torch):
    sys.stdout = io.StringIO()
    torch.plain()
    sys.stdout = sys.__stdout__


WAYS = [fork_and_leave, fork_and_go_on, fork_and_exec, pool_fork, pool_spawn, pool_forkserver, exec_inside, leave_at_once, exit_inside, abort_inside, raise_inside,
        raise_unseen, raise_deep, daemons, threads, ended_from_thread, at_the_end, terminated, alarmed, garbage, stands_still, with_cprofile, with_setprofile,
        with_settrace, with_monitoring, with_coverage, with_faulthandler, with_tracemalloc, with_profiler, loader_fork, loader_left, output_to]
OF_REAL = {with_profiler, loader_fork, loader_left}
UNSTEADY = {daemons, ended_from_thread}  # a real PyTorch ends these by a signal or not, with nobody looking on


if __name__ == "__main__":
    globals()[sys.argv[2]](prepared())
