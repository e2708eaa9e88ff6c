// The agent's one thread: collects from CUPTI once a flush period, beats the heart, reads the clocks, keeps spare
// buffers. It blocks all signals and is gone before the file is closed.
#pragma once

namespace agent {

void start_flusher() noexcept;
// Wakes it and waits for its end, two seconds at most: a hung driver must not hang the exit. False: it hangs, and so
// would whoever calls CUPTI now.
bool stop_flusher() noexcept;

}  // namespace agent
