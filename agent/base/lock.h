// Locks that application threads only ever try, and what is given back when a thread ends.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace agent {

// A lock that an application thread only ever tries: where it is held, the caller does without.
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

// A place in each thread for what is given back when the thread ends. A process has 1,024 of them for all its libraries:
// where none is left, pthread_setspecific() with a number of our own would write into another library's.
class OwnKey {
 public:
  // Makes it at the first call. False: there is none, and none is tried for again. Under the owner's lock.
  bool make(void (*give_back)(void*)) noexcept {
    if (!asked_) have_ = pthread_key_create(&key_, give_back) == 0;
    asked_ = true;
    return have_;
  }
  // For the calling thread; make() must have been true.
  bool set(const void* value) noexcept { return pthread_setspecific(key_, value) == 0; }

 private:
  bool asked_ = false;
  bool have_ = false;
  pthread_key_t key_ = 0;
};

}  // namespace agent
