"""The processes of programs/torch_steps.py, which are asked for one window of steps after the other."""
import json
import os
import selectors
import signal
import subprocess
import time

import recording
from places import EXAMPLES, PROGRAMS

STEPS = os.path.join(PROGRAMS, "torch_steps.py")
FIRST_ANSWER_S = 300  # torch.compile may take minutes
ANSWER_S = 90
LAST_WORDS_S = 3


class WorkerFailed(Exception):
    """A process ended, or did not answer in time; the text has its last words."""


class Worker:
    """One process. `prefix` comes before the interpreter (nsys), `settings` are environment variables."""

    def __init__(self, part, name, arguments=(), prefix=(), record=True, **settings):
        self.part, self.name, self.folder = part, name, os.path.join(part.folder, name)
        self.traces = os.path.join(self.folder, "traces")
        os.makedirs(self.folder, exist_ok=True)
        chosen = recording.environment(part, record, GPU_CHECK_EXAMPLES=EXAMPLES, TRACETOOL_DIR=self.traces, **settings)
        self.asked, self.read = "start", b""  # read: and not yet given out
        self.words_path = os.path.join(self.folder, "stderr")
        with open(self.words_path, "wb") as words:
            self.process = subprocess.Popen([*prefix, part.machine.python, STEPS, *arguments], bufsize=0, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=words, env=chosen, cwd=self.folder)

    def send(self, *words):
        """A command, whose answer is to be received later."""
        self.asked = " ".join(map(str, words))
        try:
            self.process.stdin.write(self.asked.encode() + b"\n")
        except BrokenPipeError as error:
            raise WorkerFailed(f"{self.name}: {self.asked}: {self.last_words()}") from error

    def receive(self, timeout_s=ANSWER_S):
        """The answer to the command that was sent, a dict."""
        try:
            return json.loads(self.line(timeout_s))
        except ValueError as error:
            raise WorkerFailed(f"{self.name}: {self.asked}: {self.last_words()}") from error

    def ask(self, *words, timeout_s=ANSWER_S):
        self.send(*words)
        return self.receive(timeout_s)

    def line(self, timeout_s):
        """The next line that is an answer: nsys writes lines of its own between them."""
        until = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                line, found, rest = self.read.partition(b"\n")
                if found:
                    self.read = rest
                    if line.startswith(b"{"):
                        return line
                    continue
                if not selector.select(max(0, until - time.monotonic())):
                    raise WorkerFailed(f"{self.name}: {self.asked}: no answer within {timeout_s} s: {self.where()}")
                more = os.read(self.process.stdout.fileno(), 1 << 20)
                if not more:
                    raise WorkerFailed(f"{self.name}: it ended: {self.last_words()}")
                self.read += more

    def where(self):
        """Of a process that hangs: PYTHONFAULTHANDLER has it say where, and it ends."""
        self.process.send_signal(signal.SIGABRT)
        try:
            self.process.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self.last_words()

    def last_words(self):
        return recording.last_words(self.words_path)

    def quit(self):
        """Tells it to end, and does not wait."""
        try:
            self.process.stdin.write(b"quit\n")
        except (BrokenPipeError, ValueError):  # it has ended; it was ended before
            pass

    def end(self, timeout_s=120):
        """Its exit status; a process that does not end is killed: None."""
        self.quit()
        try:
            self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.where()
            self.process.communicate()
            return None
        except (BrokenPipeError, ValueError):  # it has ended; it was ended before
            pass
        return self.process.wait()

    def recordings(self):
        return recording.Recorded(self.part, None, self.traces, 0).recordings()


def end_all(workers, timeout_s):
    """{name: exit status} of {name: Worker}. All end side by side: one after the other a GPU's processes take seconds each."""
    for worker in workers.values():
        worker.quit()
    return {name: worker.end(timeout_s) for name, worker in workers.items()}
