#include "agent/flusher.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>

#include "agent/cupti/buffer_pool.h"
#include "agent/clocks.h"
#include "agent/cupti/cupti_source.h"
#include "agent/message.h"
#include "agent/ring/recorder.h"
#include "agent/settings.h"

namespace agent {
namespace {

constexpr std::uint64_t kClockPeriod_ns = 1'000'000'000;
constexpr std::size_t kSpareBuffers = 8;

constinit pthread_t s_thread{};
constinit bool s_running = false;
constinit std::atomic<bool> s_stop{false};
pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t s_wake = PTHREAD_COND_INITIALIZER;

// By CLOCK_MONOTONIC: a wall clock that is set back must not stop the flushing.
timespec in_ms(std::uint64_t ms) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::uint64_t ns = static_cast<std::uint64_t>(time.tv_nsec) + ms % 1000 * 1'000'000;
  time.tv_sec += static_cast<time_t>(ms / 1000 + ns / 1'000'000'000);
  time.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return time;
}

// False: asked to stop.
bool wait_a_period() {
  const timespec until = in_ms(settings().flush_ms);
  pthread_mutex_lock(&s_mutex);
  if (!s_stop.load()) pthread_cond_clockwait(&s_wake, &s_mutex, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&s_mutex);
  return !s_stop.load();
}

void write_clock(const Guard& guard) {
  const trace::ClockSample sample = sample_clocks();
  auto record = trace::make_record<trace::ClockRecord>();
  record.bracket_ns = static_cast<std::uint32_t>(sample.bracket_ns);
  record.cupti_ns = sample.cupti_ns;
  record.mono_ns = sample.mono_ns;
  record.real_ns = sample.real_ns;
  HostWriter writer(guard, trace::RecordKind::clock, sizeof(record), 0);
  if (writer) writer.append(record);
}

void beat(std::uint64_t& next_clock_ns) {
  const Guard guard;
  if (!guard || recording() != Recording::open) return;
  trace::SharedMemory::store(ring().header->heartbeat_real_ns, real_ns());
  touch_next_blocks();
  if (mono_ns() < next_clock_ns) return;
  write_clock(guard);
  next_clock_ns = mono_ns() + kClockPeriod_ns;
}

void* run(void*) {
  pthread_setname_np(pthread_self(), "tracetool");
  std::uint64_t next_clock_ns = 0;
  do {
    beat(next_clock_ns);
    flush_cupti(false);
    keep_spare_buffers(kSpareBuffers);
  } while (wait_a_period());
  return nullptr;
}

}  // namespace

void start_flusher() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  s_running = pthread_create(&s_thread, nullptr, run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!s_running) say("cannot start a thread: records stay with CUPTI until its buffers are full");
}

bool stop_flusher() noexcept {
  if (!s_running) return true;
  pthread_mutex_lock(&s_mutex);
  s_stop.store(true);
  pthread_cond_signal(&s_wake);
  pthread_mutex_unlock(&s_mutex);
  s_running = false;
  const timespec until = in_ms(2000);
  if (pthread_clockjoin_np(s_thread, nullptr, CLOCK_MONOTONIC, &until) == 0) return true;
  say("CUPTI does not answer; leaving without the last records");
  return false;
}

}  // namespace agent
