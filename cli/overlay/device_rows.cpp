#include "cli/overlay/device_rows.h"

#include <algorithm>

namespace cli {
namespace {

constexpr double kCollective = 1, kGigabyte = 1e9;  // per second

std::size_t place(DerivedRow direction) {
  return static_cast<std::size_t>(direction) - static_cast<std::size_t>(DerivedRow::copy_h2d);
}

// At least 1 where anything was copied.
std::uint64_t bytes_per_second(std::uint64_t bytes, std::int64_t ns) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const auto rate = static_cast<double>(bytes) * 1e9 / static_cast<double>(ns);
  return rate >= static_cast<double>(kMost) ? kMost
                                            : std::max<std::uint64_t>(bytes > 0, static_cast<std::uint64_t>(rate));
}

}  // namespace

DeviceRows::DeviceRows(RowOut out, std::int64_t window_ns)
    : out_(out),
      idle_(out),
      exposed_(out),
      busy_(out, window_ns),
      in_flight_(out, DerivedRow::comm_in_flight, kCollective),
      copies_{RunningSum(out, DerivedRow::copy_h2d, kGigabyte), RunningSum(out, DerivedRow::copy_d2h, kGigabyte),
              RunningSum(out, DerivedRow::copy_d2d, kGigabyte), RunningSum(out, DerivedRow::copy_peer, kGigabyte)},
      queue_(out, DerivedRow::queue_length) {}

void DeviceRows::work(const Event& event, std::int64_t end_ns, const NameClasses::Class& name) {
  idle_.work(event.start_ns, end_ns);
  busy_.work(event.start_ns, end_ns);
  if (event.kind == Kind::kernel || event.kind == Kind::graph) {
    kernel(event.start_ns, end_ns, event.kind == Kind::kernel && name.communicates);
  } else if (event.kind == Kind::memcpy && name.copy) {
    copy(event, end_ns, *name.copy);
  }
}

void DeviceRows::kernel(std::int64_t start_ns, std::int64_t end_ns, bool communicates) {
  if (!communicates) return exposed_.other(start_ns, end_ns);
  exposed_.comm(start_ns, end_ns);
  in_flight_.add(start_ns, end_ns, 1);
}

void DeviceRows::copy(const Event& event, std::int64_t end_ns, DerivedRow direction) {
  if (!event.has_bytes || event.duration_ns <= 0) return;
  copies_[place(direction)].add(event.start_ns, end_ns, bytes_per_second(event.bytes, event.duration_ns));
}

void DeviceRows::cut(std::int64_t at_ns) {
  idle_.cut(at_ns), exposed_.cut(at_ns), busy_.cut(at_ns), in_flight_.cut(at_ns), queue_.cut(at_ns);
  for (RunningSum& row : copies_) row.cut(at_ns);
}

void DeviceRows::finish() {
  exposed_.finish(), busy_.finish(), in_flight_.finish(), queue_.finish();
  for (RunningSum& row : copies_) row.finish();
}

DeviceTotals DeviceRows::totals() const {
  DeviceTotals totals;
  totals.process = out_.process;
  totals.device = out_.device;
  idle_.add_totals(totals), busy_.add_totals(totals), exposed_.add_totals(totals);
  return totals;
}

}  // namespace cli
