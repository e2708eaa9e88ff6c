// The agent's one thread: collects from CUPTI once a flush period, and does the periodic tasks of flusher.cpp's table. It blocks
// all signals and is gone before the file is closed.
#pragma once

namespace agent {

// Once per process; later calls do nothing. Thread-safe.
void start_flusher() noexcept;
// Wakes it; it collects all that CUPTI has, finished or not, and ends. Waits for that five seconds at most, and no longer
// than agent/clocks/clocks.h leaves: a hung driver must not hang the exit.
// False: there was no thread.
bool stop_flusher() noexcept;
// In a forked child that is recorded itself: there is no thread.
void forget_flusher() noexcept;

}  // namespace agent
