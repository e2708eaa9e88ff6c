// The clocks that the agent reads, and the waits in which it names a moment of them.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/time.h>
#include <time.h>

#include <cstdint>

#include "../standin/true_clock.h"
#include "host_shift.h"

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t to_ns(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

timespec to_timespec(std::int64_t ns) { return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)}; }

// A wait without a clock's name: only a day since 1970 is that large.
clockid_t guess_clock(const timespec& until) { return until.tv_sec > 1'000'000'000 ? CLOCK_REALTIME : CLOCK_MONOTONIC; }

timespec to_machine(clockid_t clock, const timespec& until) {
  return to_timespec(sim::unshifted_ns(clock, to_ns(until)));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const sim::ClockFunction read = sim::libc_clock_gettime();
  const int result = read(clock, time);
  if (result == 0 && sim::host_shift().active) *time = to_timespec(sim::shifted_ns(clock, to_ns(*time)));
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1'000};
  return 0;
}

time_t time(time_t* seconds) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto* const sleep = sim::real<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  if ((flags & TIMER_ABSTIME) == 0) return sleep(clock, flags, time, left);
  const timespec until = to_machine(clock, *time);
  return sleep(clock, flags, &until, left);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  static auto* const wait =
      sim::real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  const timespec until = to_machine(guess_clock(*time), *time);
  return wait(condition, mutex, &until);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  static auto* const wait =
      sim::real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait");
  const timespec until = to_machine(clock, *time);
  return wait(condition, mutex, clock, &until);
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  static auto* const wait = sim::real<int(sem_t*, clockid_t, const timespec*)>("sem_clockwait");
  const timespec until = to_machine(clock, *time);
  return wait(semaphore, clock, &until);
}

}  // extern "C"
