// The guard of every entry from foreign code. A Guard keeps errno, refuses re-entry (our own NVTX or CUDA calls, a
// signal handler that interrupts us) and refuses a forked child. Recording functions take a Guard as proof, so that
// unguarded recording does not compile.
#pragma once
#include <pthread.h>

#include <cerrno>

namespace agent {

// While it lives, pthread_cancel(3) does not end the calling thread: files and messages are places where it would, in the
// middle of our locks. A thread that was cancelled ends at the program's next such place, as it would without us.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Maps the page that the kernel wipes in every child, raw clone(2) included. Called once, before recording starts.
bool install_fork_page() noexcept;
// In a forked child that shall be recorded itself: as if it had not been forked.
bool revive_fork_page() noexcept;
// False in a forked child, and before install_fork_page().
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
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  explicit operator bool() const noexcept { return entered_; }

 private:
  int errno_;
  bool entered_;
};

}  // namespace agent
