// A thread of our own for what may wait for a disk: all signals blocked, ended with a time limit, because a hung disk
// must not hang the exit. A static object: a thread that was given up on still uses it.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace agent {

class Worker {
 public:
  // Once. `name`: 15 characters at most. False: there is no thread.
  bool start(const char* name, void (*run)()) noexcept;
  // In the thread. False: asked to stop.
  bool wait_ms(double ms) noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  // Asks it to stop and waits for its end. False: it did not end in time. True also where there is none.
  bool stop(std::uint64_t limit_ms) noexcept;
  // CPU time that the thread had taken when it last waited, or ended. For any thread.
  std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  static void* enter(void* self) noexcept;
  void publish_cpu() noexcept;

  pthread_t thread_{};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> cpu_ns_{0};
  bool running_ = false;
  const char* name_ = nullptr;
  void (*run_)() = nullptr;
};

}  // namespace agent
