"""memory: allocations of PyTorch's allocator against the history that PyTorch itself records in the same process, and a failed allocation."""
import json
import os

from workers import FIRST_ANSWER_S, Worker

STEPS = 3
END_S = 60
FAILED_BYTES = 1 << 45  # programs/torch_steps.py


def run(part):
    part.attempt("what was allocated", compare_with_history)


def compare_with_history(part):
    worker = Worker(part, "recorded", TRACETOOL_TORCH="memory", TRACETOOL_BUFFER="256M")
    worker.ask("run", "main", 3, timeout_s=FIRST_ANSWER_S)
    path = os.path.join(part.folder, "history.json")
    worker.ask("remember", "main", STEPS, path)
    part.check(worker.end(END_S) == 0, "the program ends with 0", worker.last_words)
    found = worker.recordings()
    if not part.check(len(found) == 1, "one recording", len(found)):
        return
    events = sorted((event for event in found[0].events if event.kind == "allocator"), key=lambda event: event.time)
    end = next((at for at, event in enumerate(events) if event.action == "fail"), None)
    if part.check(end is not None, "the failed allocation is recorded", len(events)):
        with open(path, encoding="utf-8") as file:
            check_same(part, events[:end], events[end], json.load(file))
    os.remove(path)


def check_same(part, events, failed, told):
    theirs = {action: [line for line in told["history"] if line[0] == action] for action in ("alloc", "free_requested", "oom")}
    for action, their_action in (("allocate", "alloc"), ("release", "free_requested")):
        ours, lines = [event for event in events if event.action == action], theirs[their_action]
        ours = ours[len(ours) - len(lines):]  # those before the history began come first
        wrong = [(event.address, event.bytes, line) for event, line in zip(ours, lines) if event.address != line[1] or event.bytes < line[2]]
        part.check(lines and len(ours) == len(lines) and not wrong, f"each {action}: as PyTorch's history has it", lambda: (len(ours), len(lines), wrong[:3]))
    last = events[-1]
    part.check((last.allocated_bytes, last.reserved_bytes) == (told["allocated"], told["reserved"]), "the totals at the end: as PyTorch says",
               (last.allocated_bytes, last.reserved_bytes, told["allocated"], told["reserved"]))
    asked = [(line[2], line[3]) for line in theirs["oom"]]
    part.check(failed.bytes == FAILED_BYTES and asked == [(failed.bytes, failed.address)], "the failed allocation: as PyTorch's history has it", (failed, asked))
    allocations = [event for event in events if event.action == "allocate"]
    part.figure("allocations in a step", len(theirs["alloc"]) / STEPS, "")
    part.figure("allocations with a Python stack", 100 * sum(bool(event.stack) for event in allocations) / len(allocations), "%")
