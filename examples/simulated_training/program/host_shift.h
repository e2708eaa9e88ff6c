// The simulated host of a rank: everything that the agent sees of a machine (clocks, host name, boot id) is that of
// another one. The program exports clock_gettime, gethostname, uname, open and so on; the dynamic linker binds the
// agent and the stand-ins to them. Without SIM_HOST in the environment all of them do what the C library does.
//
// Clock of host h at the true time t: t + offset + drift * (t - base). CLOCK_REALTIME and CLOCK_MONOTONIC have offsets
// of their own, as machines that booted at different times have; the drift is that of the one oscillator. From the true
// time set_at_real_ns on CLOCK_REALTIME has set_ns more: somebody set it.
#pragma once
#include <time.h>

#include <cstdint>

namespace sim {

struct HostShift {
  bool active = false;
  char name[64] = "";     // empty: the machine's
  char boot_id[40] = "";  // empty: the machine's
  std::int64_t real_offset_ns = 0, monotonic_offset_ns = 0;
  std::int64_t drift_ppb = 0;
  std::int64_t set_ns = 0, set_at_real_ns = 0;
  std::int64_t base_real_ns = 0, base_monotonic_ns = 0, base_raw_ns = 0, base_boot_ns = 0;
};

inline constexpr const char* kHostVariable = "SIM_HOST";

// Of this process: read from the environment once.
const HostShift& host_shift();
// As the environment carries it, into `text`.
void write_host_shift(const HostShift& shift, char* text, std::size_t size);

// What the clock of the simulated host says when the machine's says `true_ns`, and back. Clocks that do not tell the
// time of day or since boot (CPU times) are never shifted.
std::int64_t shifted_ns(clockid_t clock, std::int64_t true_ns);
std::int64_t unshifted_ns(clockid_t clock, std::int64_t shifted);

// The C library's own function behind one that this program exports.
void* real_function(const char* name);
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_function(name));
}

}  // namespace sim
