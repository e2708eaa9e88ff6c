#include "cli/overlay/exposed_row.h"

#include <algorithm>

namespace cli {

void ExposedRow::comm(std::int64_t start_ns, std::int64_t end_ns) {
  advance(start_ns);
  comm_ns_ += std::max<std::int64_t>(0, end_ns - std::max(start_ns, comm_end_ns_));
  comm_end_ns_ = std::max(comm_end_ns_, end_ns);
}

void ExposedRow::other(std::int64_t start_ns, std::int64_t end_ns) {
  advance(start_ns);
  other_end_ns_ = std::max(other_end_ns_, end_ns);
}

void ExposedRow::cut(std::int64_t at_ns) {
  advance(at_ns);
  draw();
}

void ExposedRow::finish() {
  advance(std::numeric_limits<std::int64_t>::max());
  draw();
}

void ExposedRow::advance(std::int64_t to_ns) {
  const std::int64_t from = std::max(now_ns_, other_end_ns_), to = std::min(comm_end_ns_, to_ns);
  now_ns_ = to_ns;
  if (from >= to) return;
  if (from != to_ns_) draw(), from_ns_ = from;
  to_ns_ = to;
}

void ExposedRow::draw() {
  const std::int64_t length_ns = to_ns_ - from_ns_;
  if (length_ns <= 0) return;
  exposed_ns_ += length_ns;
  DerivedFacts facts;
  facts.length_ns = length_ns;
  out_.slice(DerivedRow::exposed_comm, from_ns_, to_ns_, facts);
  from_ns_ = to_ns_;
}

void ExposedRow::add_totals(DeviceTotals& totals) const {
  totals.comm_ns = comm_ns_;
  totals.exposed_comm_ns = exposed_ns_;
}

}  // namespace cli
