// A lock that an application thread only ever tries: where it is held, the caller does without.
#pragma once
#include <sched.h>

#include <atomic>

namespace agent {

class Spinlock {
 public:
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  // For the agent's own threads and for rare, short work (registrations).
  void lock() noexcept {
    while (!try_lock()) sched_yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
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
