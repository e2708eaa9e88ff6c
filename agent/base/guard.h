// Protects every entry from foreign code. A Guard keeps errno, refuses re-entry (our own NVTX or CUDA calls, a signal
// handler that interrupts us) and refuses a forked child. Recording functions take a Guard as proof, so that unguarded
// recording does not compile.
#pragma once
#include <pthread.h>

#include <cerrno>

namespace agent {

// Prevents pthread_cancel(3) from ending the calling thread during its lifetime. Otherwise file operations and messages
// could end it while it holds our locks. A cancelled thread ends at the program's next cancellation point, as it would
// without the agent.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(Uncancelled&&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Maps the page that the kernel clears in every child process, even after a raw clone(2). Called once, before recording
// starts.
bool install_fork_page() noexcept;
// Makes a forked child that is recorded itself count as not forked.
bool revive_fork_page() noexcept;
// Returns false in a forked child, and before install_fork_page().
bool is_recorded_process() noexcept;

inline thread_local bool t_inside __attribute__((tls_model("initial-exec"))) = false;

class Guard {
 public:
  Guard() noexcept : errno_(errno), entered_(!t_inside && is_recorded_process()) {
    if (entered_) t_inside = true;
  }
  ~Guard() {
    if (entered_) t_inside = false;
    errno = errno_;
  }
  Guard(Guard&&) = delete;
  explicit operator bool() const noexcept { return entered_; }

 private:
  int errno_;
  bool entered_;
};

}  // namespace agent
