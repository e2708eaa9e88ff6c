// GPU work whose recorded end lies far beyond the start of later work on its stream: work of a stream follows one another, but
// for kernels that are launched early (programmatic dependent launch), which overlap by microseconds. An end that is seconds
// late is one that the profiler did not see. Its duration stays what the file says; the sums that hold it are too large.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/analyze/analysis.h"

namespace cli {

class Overruns {
 public:
  explicit Overruns(std::size_t tracks) : last_(tracks) {}

  // By start, for each stream.
  void work(const GpuWork& work) {
    Last& last = last_[work.event->track];
    if (last.end_ns - work.start_ns > kFar_ns && !last.counted) {
      last.counted = true;
      ++count_;
      if (last.end_ns - work.start_ns > longest_ns_) longest_ns_ = last.end_ns - work.start_ns, name_ = last.name;
    }
    if (work.end_ns > last.end_ns) last = {work.end_ns, work.name, false};
  }
  // A line for the user; "" if there are none.
  std::string text(const Catalog& catalog) const;

 private:
  static constexpr std::int64_t kFar_ns = 1'000'000'000;
  struct Last {
    std::int64_t end_ns = INT64_MIN / 2;
    StringId name = 0;
    bool counted = false;
  };

  std::vector<Last> last_;  // by TrackId: of the work that ends last so far
  std::uint64_t count_ = 0;
  std::int64_t longest_ns_ = 0;
  StringId name_ = 0;
};

}  // namespace cli
