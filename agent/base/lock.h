// Locks that application threads only try, and per-thread data that is released when a thread ends.
#pragma once
#include <pthread.h>
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

// A key for per-thread data that is released when the thread ends. A process has 1,024 keys for all libraries. If none
// is left, pthread_setspecific() with an invalid key would overwrite another library's data.
class OwnKey {
 public:
  // Creates the key at the first call. Returns false if there is none; creation is not tried again. Called under the
  // owner's lock.
  bool make(void (*give_back)(void*)) noexcept {
    if (!asked_) have_ = pthread_key_create(&key_, give_back) == 0;
    asked_ = true;
    return have_;
  }
  // Sets the value for the calling thread; make() must have returned true.
  bool set(const void* value) noexcept { return pthread_setspecific(key_, value) == 0; }

 private:
  bool asked_ = false;
  bool have_ = false;
  pthread_key_t key_ = 0;
};

}  // namespace agent
