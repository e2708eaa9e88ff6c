// How long compute ran on a device while some other work of it did.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace cli {

// Work comes by start. A watched interval [start, end) is answered when no compute that starts before its end can come.
class ComputeCover {
 public:
  // Compute, start_ns <= end_ns. Calls done(watch, covered_ns) for each interval that has ended.
  template <typename Done>
  void compute(std::int64_t start_ns, std::int64_t end_ns, Done&& done) {
    settle(start_ns, done);
    const std::int64_t from_ns = std::max(start_ns, until_ns_);
    if (from_ns >= end_ns) return;
    total_ns_ += end_ns - from_ns;
    until_ns_ = end_ns;
  }
  template <typename Done>
  void watch(std::uint64_t what, std::int64_t start_ns, std::int64_t end_ns, Done&& done) {
    settle(start_ns, done);
    watched_.push_back({what, end_ns, before(start_ns)});
  }
  template <typename Done>
  void finish(Done&& done) {
    settle(std::numeric_limits<std::int64_t>::max(), done);
  }

 private:
  struct Watched {
    std::uint64_t what;
    std::int64_t end_ns, before_ns;
  };

  // Compute before this moment, which is not before the last start.
  std::int64_t before(std::int64_t at_ns) const { return total_ns_ - std::max<std::int64_t>(0, until_ns_ - at_ns); }
  template <typename Done>
  void settle(std::int64_t now_ns, Done&& done) {
    const auto gone = std::partition(watched_.begin(), watched_.end(), [&](const Watched& w) { return w.end_ns > now_ns; });
    for (auto w = gone; w != watched_.end(); ++w) done(w->what, before(w->end_ns) - w->before_ns);
    watched_.erase(gone, watched_.end());
  }

  std::int64_t total_ns_ = 0;  // the union of compute so far
  std::int64_t until_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<Watched> watched_;
};

}  // namespace cli
