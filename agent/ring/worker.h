// A thread of our own, for what may wait for a disk or a driver: all signals blocked, ended with a time limit, because
// what hangs must not hang the exit. A static object: a thread that was given up on still uses it.
#pragma once
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>

namespace agent {

class Worker {
 public:
  // Once. `name`: 15 characters at most. False: there is no thread.
  bool start(const char* name, void (*run)()) noexcept;
  // In the thread, until the time is over by CLOCK_MONOTONIC (a wall clock that is set back changes nothing) or somebody
  // wakes it. False: asked to stop.
  bool wait_ms(double ms) noexcept;
  // For any thread, in the middle of anything, a signal handler too: it takes no lock.
  void wake() noexcept { sem_post(&wake_); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  // Asks it to stop and waits for its end. False: it did not end in time. True also where there is none.
  bool stop(std::uint64_t limit_ms) noexcept;
  bool running() const noexcept { return running_; }
  // In a forked child, where there is no thread: it can be started again.
  void forget() noexcept { running_ = false; }
  // CPU time that the thread had taken when it last waited, or ended. For any thread.
  std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  static void* enter(void* self) noexcept;
  void publish_cpu() noexcept;

  pthread_t thread_{};
  sem_t wake_{};  // 0: what sem_init() makes of it
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> cpu_ns_{0};
  bool running_ = false;
  const char* name_ = nullptr;
  void (*run_)() = nullptr;
};

}  // namespace agent
