// How the time of one device divides, exactly, from intervals by start and with no memory of them.
//
//   busy     the union of all work                 idle     span - busy
//   comm     the union of communication            compute  the union of the other kernels
//   memory   the union of copies and sets          exposed  comm that no compute covers
//
// Of a class, all that reaches past the start of the newest interval is one piece without holes, for each of its intervals
// began before; so its end is enough to know what a new piece of another class has in common with it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "cli/analyze/analysis.h"

namespace cli {

struct DeviceTime {
  std::int64_t span_ns = 0;  // from the first start to the last end, or the length of a window
  std::int64_t busy_ns = 0, compute_ns = 0, comm_ns = 0, memory_ns = 0;
  std::int64_t overlap_ns = 0;  // communication and compute at once
  std::int64_t idle_ns() const { return span_ns - busy_ns; }
  std::int64_t exposed_comm_ns() const { return comm_ns - overlap_ns; }
  DeviceTime& operator+=(const DeviceTime& other) {
    span_ns += other.span_ns, busy_ns += other.busy_ns, compute_ns += other.compute_ns, comm_ns += other.comm_ns;
    memory_ns += other.memory_ns, overlap_ns += other.overlap_ns;
    return *this;
  }
};

class GpuTime {
 public:
  // By start_ns ascending; start_ns <= end_ns.
  void add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns) {
    if (count_++ == 0) first_ns_ = start_ns;
    busy_ns_ += grow(busy_end_ns_, start_ns, end_ns).length();
    Cover& own = covers_[static_cast<std::size_t>(work_class)];
    const Piece added = grow(own.end_ns, start_ns, end_ns);
    own.ns += added.length();
    if (work_class == WorkClass::comm) common_ns_ += added.until(cover(WorkClass::compute).end_ns);
    if (work_class == WorkClass::compute) common_ns_ += added.until(cover(WorkClass::comm).end_ns);
  }

  DeviceTime time() const {
    const std::int64_t span_ns = count_ == 0 ? 0 : busy_end_ns_ - first_ns_;
    return {span_ns, busy_ns_, cover(WorkClass::compute).ns, cover(WorkClass::comm).ns, cover(WorkClass::memory).ns,
            common_ns_};
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  struct Piece {
    std::int64_t from_ns, to_ns;
    std::int64_t length() const { return to_ns > from_ns ? to_ns - from_ns : 0; }
    std::int64_t until(std::int64_t end_ns) const { return Piece{from_ns, std::min(to_ns, end_ns)}.length(); }
  };
  struct Cover {
    std::int64_t ns = 0, end_ns = kNever;
  };

  // What is new of the interval.
  static Piece grow(std::int64_t& covered_end_ns, std::int64_t start_ns, std::int64_t end_ns) {
    const Piece added{std::max(start_ns, covered_end_ns), end_ns};
    covered_end_ns = std::max(covered_end_ns, end_ns);
    return added;
  }
  const Cover& cover(WorkClass work_class) const { return covers_[static_cast<std::size_t>(work_class)]; }

  std::array<Cover, 3> covers_;
  std::int64_t first_ns_ = 0, busy_end_ns_ = kNever, busy_ns_ = 0, common_ns_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace cli
