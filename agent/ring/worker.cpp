#include "agent/ring/worker.h"

#include <signal.h>
#include <time.h>

#include "agent/base/host.h"
#include "agent/clocks/clocks.h"

namespace agent {
namespace {

// Includes the thread-local storage of all libraries. If that is larger, the thread gets the default stack size.
constexpr std::size_t kStackBytes = 1 << 20;

timespec in_ms(double ms) {
  const std::uint64_t at_ns = mono_ns() + static_cast<std::uint64_t>(ms * 1e6);
  timespec time;
  time.tv_sec = static_cast<time_t>(at_ns / 1'000'000'000);
  time.tv_nsec = static_cast<long>(at_ns % 1'000'000'000);
  return time;
}

}  // namespace

void* Worker::enter(void* self) noexcept {
  auto* worker = static_cast<Worker*>(self);
  pthread_setname_np(pthread_self(), worker->name_);
  worker->run_();
  worker->publish_cpu();
  return nullptr;
}

bool Worker::start(const char* name, void (*run)()) noexcept {
  name_ = name;
  run_ = run;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  running_ =
      pthread_create(&thread_, &attributes, enter, this) == 0 || pthread_create(&thread_, nullptr, enter, this) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running_;
}

void Worker::publish_cpu() noexcept { cpu_ns_.store(clock_ns(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed); }

bool Worker::wait_ms(double ms) noexcept {
  publish_cpu();
  const timespec until = in_ms(ms);
  sem_clockwait(&wake_, CLOCK_MONOTONIC, &until);
  while (sem_trywait(&wake_) == 0) {
  }
  return !stopping();
}

bool Worker::stop(std::uint64_t limit_ms) noexcept {
  if (!running_) return true;
  stopping_.store(true, std::memory_order_release);
  wake();
  running_ = false;
  const timespec until = in_ms(static_cast<double>(limit_ms));
  return pthread_clockjoin_np(thread_, nullptr, CLOCK_MONOTONIC, &until) == 0;
}

}  // namespace agent
