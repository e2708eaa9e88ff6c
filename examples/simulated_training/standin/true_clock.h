// The machine's clock behind every shift. A program that simulates a host exports its own clock_gettime
// (program/host_shift.cpp); this one asks the C library by name.
#pragma once
#include <dlfcn.h>
#include <time.h>

#include <cstdint>

namespace sim {

using ClockFunction = int (*)(clockid_t, timespec*);

inline ClockFunction libc_clock_gettime() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<ClockFunction>(dlsym(libc, "clock_gettime"));
}

inline std::uint64_t true_clock_ns(clockid_t clock) {
  static const ClockFunction read = libc_clock_gettime();
  timespec now;
  read(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// CLOCK_REALTIME, the clock of the truth.
inline std::uint64_t true_ns() { return true_clock_ns(CLOCK_REALTIME); }

}  // namespace sim

// Exported by a program that simulates a host: CLOCK_REALTIME of that host at a moment of the true clock. Absent
// otherwise.
extern "C" __attribute__((weak)) std::uint64_t simulated_host_real_ns(std::uint64_t true_ns);
