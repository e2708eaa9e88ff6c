// The agent's only thread: collects from CUPTI once per flush period, and runs the periodic tasks in flusher.cpp's
// table. It blocks all signals and ends before the file is closed.
#pragma once

namespace agent {

// Hang detection: no GPU work ended and no PyTorch operator began for TRACETOOL_HANG_STACKS seconds, although they did
// before. The stacks of the Python threads are then recorded once, until the process continues.

// A periodic task of our own thread, about once a second.
void watch_hang() noexcept;

// A periodic task of our own thread, about once a second.
void guard_cost() noexcept;

// Starts the thread once per process; later calls do nothing. Thread-safe.
void start_flusher() noexcept;
// Wakes the thread, which collects all of CUPTI's records, finished or not, and ends. Waits at most five seconds, and
// not longer than the limit in agent/clocks/clocks.h, so that a hung driver does not block the exit. Returns false if
// there was no thread.
bool stop_flusher() noexcept;
// Called in a forked child that is recorded itself, because it has no thread.
void forget_flusher() noexcept;

}  // namespace agent
