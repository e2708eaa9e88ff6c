// CUPTI's times where the wall clock, which CUPTI's clock goes with, was set while they were taken: on the one axis of
// the recording (clock_axis.h).
//
// A clock that is set forward leaves out times: where none lie, it was set. One that is set back says the same times twice. Then order
// tells: CUPTI numbers the calls of a process one by one, and the work of a stream begins in the order of its calls, so where times go
// back from one number to the next, the clock was set between the two.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace cli {

// What a record tells, by CUPTI's clock.
struct CuptiTimes {
  static constexpr std::uint64_t kCalls = 0;
  std::uint64_t queue = kCalls;   // the stream of work; all calls are one
  std::uint32_t correlation = 0;  // 0: none
  std::uint64_t start_ns = 0, end_ns = 0;  // an end of 0 had not come
};

class SetClock {
 public:
  // Eras of CUPTI's clock, in their order: `offset_ns` is what is added for the axis; it began between these two times on the axis.
  void add_era(std::int64_t offset_ns, std::int64_t after_ns, std::int64_t before_ns);
  // Whether CUPTI's clock was set; else it is in no need of any of this.
  bool any() const { return eras_.size() > 1; }

  // May this tell when the clock was set?
  bool is_near(const CuptiTimes& times) const;
  // All that may, in any order.
  void learn(const std::vector<CuptiTimes>& all);

  struct Interval {
    std::int64_t start_ns, end_ns;  // 0: had not come
  };
  Interval on_axis(const CuptiTimes& times) const;

 private:
  struct Era {
    std::int64_t offset_ns;
    std::int64_t after_ns, before_ns;            // on the axis: it began between
    std::map<std::uint64_t, std::uint32_t> first;  // by queue: correlation of the first of this era, where it is known
    // By CUPTI's clock: its times lie between; and the same of it and those before, and those after.
    std::int64_t first_ns = 0, last_ns = 0, last_so_far_ns = 0, first_from_here_ns = 0;

    bool is_of(const CuptiTimes& times) const;
  };

  void find_windows();
  void find_gap(std::size_t era, const std::vector<const CuptiTimes*>& near);
  void find_order(std::size_t era, std::vector<const CuptiTimes*> near);
  void narrow(std::size_t era, std::int64_t before_cupti_ns, std::int64_t after_cupti_ns);
  // By CUPTI's clock: what may tell when this era began.
  bool is_near(const Era& era, const Era& before, const CuptiTimes& times) const;
  // Calls visit(era) for those that it may be of, else for the one that it lies closest to.
  template <typename Visit>
  void each_era(std::uint64_t cupti_ns, const Visit& visit) const;

  std::vector<Era> eras_;
};

// What a record of CUPTI's tells of its times.
template <typename Record>
concept TimedByCupti = requires(Record record) { record.start_cupti_ns; } || requires(Record record) { record.time_cupti_ns; };

template <TimedByCupti Record>
CuptiTimes cupti_times(const Record& record) {
  CuptiTimes times;
  if constexpr (requires { record.correlation; }) times.correlation = record.correlation;
  if constexpr (requires { record.time_cupti_ns; }) {
    times.start_ns = times.end_ns = record.time_cupti_ns;
  } else {
    if constexpr (requires { record.device; record.stream; }) times.queue = 1 + (std::uint64_t{record.device} << 32 | record.stream);
    times.start_ns = record.start_cupti_ns;
    if constexpr (requires { record.end_cupti_ns; }) {
      times.end_ns = record.end_cupti_ns;
    } else {
      times.end_ns = record.start_cupti_ns + record.duration_ns;
    }
  }
  return times;
}

}  // namespace cli
