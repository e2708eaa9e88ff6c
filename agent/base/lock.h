// Locks that application threads only try.
#pragma once
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace agent {

// A lock that application threads only try to take. If it is held, the caller continues without it.
class Spinlock {
 public:
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  // For the agent's own threads and for rare, short work (registrations). Sleeps after some yields, because the owner
  // may be preempted by the caller (a real-time thread does not yield to threads of lower priority).
  void lock() noexcept {
    constexpr int kYields = 100;
    for (int tries = 0; !try_lock(); ++tries) tries < kYields ? yield() : sleep();
  }
  // For application threads with rare, short work that should not be lost. Returns false if it is still held after some
  // yields.
  bool try_lock_for_moments() noexcept {
    constexpr int kYields = 50;
    for (int tries = 0; tries < kYields; ++tries) {
      if (try_lock()) return true;
      yield();
    }
    return false;
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  static void yield() noexcept { sched_yield(); }
  // Does not use nanosleep(3), in which pthread_cancel(3) may end the thread.
  static void sleep() noexcept {
    const timespec time{0, 50'000};
    syscall(SYS_nanosleep, &time, nullptr);
  }

  std::atomic<bool> held_{false};
};

class Locked {
 public:
  explicit Locked(Spinlock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(Locked&&) = delete;

 private:
  Spinlock& lock_;
};

}  // namespace agent
