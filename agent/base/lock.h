// A lock that an application thread only ever tries: where it is held, the caller does without.
#pragma once
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace agent {

class Spinlock {
 public:
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  // For the agent's own threads and for rare, short work (registrations). Who holds it may have lost its processor to
  // the caller (a real-time thread, which yields to none of lower priority): so it sleeps in the end.
  void lock() noexcept {
    constexpr int kYields = 100;
    for (int tries = 0; !try_lock(); ++tries) tries < kYields ? yield() : sleep();
  }
  // For an application thread with rare, short work that would be missed: false where it is still held after some yields.
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
  // Not nanosleep(3), where pthread_cancel(3) may end the thread.
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
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Spinlock& lock_;
};

}  // namespace agent
