#include "host_shift.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "../standin/true_clock.h"

namespace sim {
namespace {

constexpr char kFormat[] = "%lld %lld %lld %lld %lld %lld %lld %lld %lld %63s %39s";

HostShift read_host_shift() {
  HostShift shift;
  const char* text = std::getenv(kHostVariable);
  if (text == nullptr) return shift;
  long long value[9];
  const int got = std::sscanf(text, kFormat, &value[0], &value[1], &value[2], &value[3], &value[4], &value[5],
                              &value[6], &value[7], &value[8], shift.name, shift.boot_id);
  shift.active = got == 11;
  if (!shift.active) return HostShift{};
  if (shift.boot_id[0] == '-') shift.boot_id[0] = '\0';
  shift.real_offset_ns = value[0];
  shift.monotonic_offset_ns = value[1];
  shift.drift_ppb = value[2];
  shift.base_real_ns = value[3];
  shift.base_monotonic_ns = value[4];
  shift.base_raw_ns = value[5];
  shift.base_boot_ns = value[6];
  shift.set_ns = value[7];
  shift.set_at_real_ns = value[8];
  return shift;
}

struct ClockShift {
  bool shifted;
  std::int64_t offset_ns, base_ns;
  std::int64_t set_ns = 0;
};

ClockShift shift_of(clockid_t clock) {
  const HostShift& host = host_shift();
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return {host.active, host.real_offset_ns, host.base_real_ns, host.set_ns};
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
      return {host.active, host.monotonic_offset_ns, host.base_monotonic_ns};
    case CLOCK_MONOTONIC_RAW:
      return {host.active, host.monotonic_offset_ns, host.base_raw_ns};
    case CLOCK_BOOTTIME:
      return {host.active, host.monotonic_offset_ns, host.base_boot_ns};
    default:
      return {false, 0, 0};
  }
}

std::int64_t drifted(std::int64_t elapsed_ns, std::int64_t per_billion) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(elapsed_ns) * host_shift().drift_ppb / per_billion);
}

}  // namespace

const HostShift& host_shift() {
  static const HostShift read = read_host_shift();
  return read;
}

void write_host_shift(const HostShift& shift, char* text, std::size_t size) {
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  std::snprintf(text, size, "%lld %lld %lld %lld %lld %lld %lld %lld %lld %s %s", number(shift.real_offset_ns),
                number(shift.monotonic_offset_ns), number(shift.drift_ppb), number(shift.base_real_ns),
                number(shift.base_monotonic_ns), number(shift.base_raw_ns), number(shift.base_boot_ns),
                number(shift.set_ns), number(shift.set_at_real_ns), shift.name,
                shift.boot_id[0] != '\0' ? shift.boot_id : "-");
}

std::int64_t shifted_ns(clockid_t clock, std::int64_t true_ns) {
  const ClockShift shift = shift_of(clock);
  if (!shift.shifted) return true_ns;
  const std::int64_t set_ns = true_ns >= host_shift().set_at_real_ns ? shift.set_ns : 0;
  return true_ns + shift.offset_ns + set_ns + drifted(true_ns - shift.base_ns, 1'000'000'000);
}

std::int64_t unshifted_ns(clockid_t clock, std::int64_t shifted) {
  const ClockShift shift = shift_of(clock);
  if (!shift.shifted) return shifted;
  const std::int64_t before = shifted - shift.offset_ns;
  const std::int64_t ahead = before - shift.set_ns >= host_shift().set_at_real_ns ? before - shift.set_ns : before;
  return ahead - drifted(ahead - shift.base_ns, 1'000'000'000 + host_shift().drift_ppb);
}

void* real_function(const char* name) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(libc, name);
}

}  // namespace sim

extern "C" std::uint64_t simulated_host_real_ns(std::uint64_t true_ns) {
  return static_cast<std::uint64_t>(sim::shifted_ns(CLOCK_REALTIME, static_cast<std::int64_t>(true_ns)));
}
