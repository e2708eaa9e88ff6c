// One of our own threads, for operations that may wait for a disk or a driver: all signals are blocked, and it is ended
// with a time limit, so that a hang does not block the exit. It has to be a static object, because an abandoned thread
// still uses it.
#pragma once
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>

namespace agent {

class Worker {
 public:
  // Starts the thread, once. `name` has at most 15 characters. Returns false if there is no thread.
  bool start(const char* name, void (*run)()) noexcept;
  // Called in the thread: waits until the time is over by CLOCK_MONOTONIC (setting the wall clock has no effect) or
  // wake() is called. Returns false if asked to stop.
  bool wait_ms(double ms) noexcept;
  // For any thread at any time, including signal handlers: it takes no lock.
  void wake() noexcept { sem_post(&wake_); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  // Asks the thread to stop and waits for its end. Returns false if it did not end in time; true also if there is none.
  bool stop(std::uint64_t limit_ms) noexcept;
  bool running() const noexcept { return running_; }
  // Called in a forked child, which has no thread; it can be started again.
  void forget() noexcept { running_ = false; }
  // CPU time of the thread when it last waited, or ended. For any thread.
  std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  static void* enter(void* self) noexcept;
  void publish_cpu() noexcept;

  pthread_t thread_{};
  sem_t wake_{};  // zero, as sem_init() sets it
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> cpu_ns_{0};
  bool running_ = false;
  const char* name_ = nullptr;
  void (*run_)() = nullptr;
};

}  // namespace agent
