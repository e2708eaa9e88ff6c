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
      busy_(out, window_ns),
      in_flight_(out, DerivedRow::comm_in_flight, kCollective),
      copies_{RunningSum(out, DerivedRow::copy_h2d, kGigabyte), RunningSum(out, DerivedRow::copy_d2h, kGigabyte),
              RunningSum(out, DerivedRow::copy_d2d, kGigabyte), RunningSum(out, DerivedRow::copy_peer, kGigabyte)},
      queue_(out, DerivedRow::queue_length) {}

void DeviceRows::work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedRow> direction) {
  intervals_.add(work_class, event.start_ns, end_ns, *this);
  if (work_class == WorkClass::comm) in_flight_.add(event.start_ns, end_ns, 1);
  if (event.kind == Kind::memcpy && direction) copy(event, end_ns, *direction);
}

void DeviceRows::exposed(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  out_.slice(DerivedRow::exposed_comm, from_ns, to_ns, facts);
}

void DeviceRows::copy(const Event& event, std::int64_t end_ns, DerivedRow direction) {
  if (!event.has_bytes || event.duration_ns <= 0) return;
  copies_[place(direction)].add(event.start_ns, end_ns, bytes_per_second(event.bytes, event.duration_ns));
}

void DeviceRows::cut(std::int64_t at_ns) {
  intervals_.cut(at_ns, *this), busy_.cut(at_ns), in_flight_.cut(at_ns), queue_.cut(at_ns);
  for (RunningSum& row : copies_) row.cut(at_ns);
}

void DeviceRows::finish() {
  intervals_.finish(*this), busy_.finish(), in_flight_.finish(), queue_.finish();
  for (RunningSum& row : copies_) row.finish();
}

}  // namespace cli
