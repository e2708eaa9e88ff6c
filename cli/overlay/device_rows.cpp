#include "cli/overlay/device_rows.h"

#include <limits>

namespace cli {
namespace {

std::size_t place(DerivedRow direction) {
  return static_cast<std::size_t>(direction) - static_cast<std::size_t>(DerivedRow::copy_h2d);
}

}  // namespace

DeviceRows::DeviceRows(RowOut out, std::int64_t window_ns)
    : out_(out),
      idle_(out),
      busy_(out, window_ns),
      in_flight_row_(out, DerivedRow::comm_in_flight),
      copy_rows_{CounterRow(out, DerivedRow::copy_h2d), CounterRow(out, DerivedRow::copy_d2h), CounterRow(out, DerivedRow::copy_d2d),
                 CounterRow(out, DerivedRow::copy_peer)},
      queue_(out, DerivedRow::queue_length) {}

void DeviceRows::work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedRow> direction) {
  intervals_.add(work_class, event.start_ns, end_ns, *this);
  if (work_class == WorkClass::comm) in_flight_.add(event.start_ns, end_ns, 1, flight());
  if (event.kind == Kind::memcpy && direction && event.has_bytes) {
    copies_.add(place(*direction), event.start_ns, end_ns, event.duration_ns, event.bytes, rate());
  }
}

void DeviceRows::exposed(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  out_.slice(DerivedRow::exposed_comm, from_ns, to_ns, facts);
}

void DeviceRows::cut(std::int64_t at_ns) {
  intervals_.cut(at_ns, *this);
  busy_.cut(at_ns);
  in_flight_.advance(at_ns, flight());
  in_flight_row_.cut(at_ns);
  queue_.cut(at_ns);
  for (std::size_t direction = 0; direction < copy_rows_.size(); ++direction) {
    copies_.advance(direction, at_ns, rate());
    copy_rows_[direction].cut(at_ns);
  }
}

void DeviceRows::finish() {
  intervals_.finish(*this);
  busy_.finish();
  in_flight_.advance(std::numeric_limits<std::int64_t>::max(), flight());
  in_flight_row_.finish();
  queue_.finish();
  for (std::size_t direction = 0; direction < copy_rows_.size(); ++direction) {
    copies_.advance(direction, std::numeric_limits<std::int64_t>::max(), rate());
    copy_rows_[direction].finish();
  }
}

}  // namespace cli
