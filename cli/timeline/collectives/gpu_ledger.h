// Accounts for the time of one device. Each nanosecond since its first work is in one of four accounts, by what ran
// then: compute; if none, communication; if none, a copy or a memset; otherwise idle.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace cli {

// Measures how long compute ran on a device while some other work of it did.

// Work has to be added by start. A watched interval [start, end) is reported once no further compute can start before
// its end.
class ComputeCover {
 public:
  // Adds compute with start_ns <= end_ns. Calls done(watch, covered_ns) for each interval that has ended.
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

  // Returns the compute time before `at_ns`, which must not be earlier than the last start.
  std::int64_t before(std::int64_t at_ns) const { return total_ns_ - std::max<std::int64_t>(0, until_ns_ - at_ns); }
  template <typename Done>
  void settle(std::int64_t now_ns, Done&& done) {
    const auto gone =
        std::partition(watched_.begin(), watched_.end(), [&](const Watched& w) { return w.end_ns > now_ns; });
    for (auto w = gone; w != watched_.end(); ++w) done(w->what, before(w->end_ns) - w->before_ns);
    watched_.erase(gone, watched_.end());
  }

  std::int64_t total_ns_ = 0;  // the union of compute so far
  std::int64_t until_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<Watched> watched_;
};

struct GpuAccounts {
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;  // while no compute ran
  std::int64_t copy_ns = 0;           // while neither ran
  std::int64_t idle_ns = 0;
  std::int64_t late_launch_ns = 0;  // part of idle_ns before the host launched the work that ended it, if known

  friend GpuAccounts operator-(const GpuAccounts& a, const GpuAccounts& b) {
    return {a.compute_ns - b.compute_ns, a.communication_ns - b.communication_ns, a.copy_ns - b.copy_ns,
            a.idle_ns - b.idle_ns, a.late_launch_ns - b.late_launch_ns};
  }
};

class GpuLedger {
 public:
  enum class Use : std::uint8_t { compute, communication, copy };
  struct Gap {
    std::int64_t from_ns = 0, to_ns = 0;  // equal if there was no gap
  };

  // Adds work with start_ns <= end_ns, by start_ns ascending. Returns the idle time that this work ended.
  Gap work(Use use, std::int64_t start_ns, std::int64_t end_ns) {
    const Gap gap = settle(start_ns);
    std::int64_t& until_ns = use == Use::compute         ? compute_until_ns_
                             : use == Use::communication ? communication_until_ns_
                                                         : copy_until_ns_;
    until_ns = std::max(until_ns, end_ns);
    return gap;
  }
  // Records that `ns` of the gap returned last passed before the host launched the work.
  void launched_late(std::int64_t ns) { accounts_.late_launch_ns += ns; }

  // The accounts at the start of the newest work.
  const GpuAccounts& accounts() const { return accounts_; }

 private:
  Gap settle(std::int64_t now_ns) {
    if (!begun_) {
      begun_ = true;
      at_ns_ = compute_until_ns_ = communication_until_ns_ = copy_until_ns_ = now_ns;
      return {};
    }
    const auto spend = [&](std::int64_t until_ns) {
      const std::int64_t to_ns = std::clamp(until_ns, at_ns_, now_ns), spent_ns = to_ns - at_ns_;
      at_ns_ = to_ns;
      return spent_ns;
    };
    accounts_.compute_ns += spend(compute_until_ns_);
    accounts_.communication_ns += spend(communication_until_ns_);
    accounts_.copy_ns += spend(copy_until_ns_);
    const std::int64_t idle_from_ns = at_ns_;
    accounts_.idle_ns += spend(now_ns);
    return {idle_from_ns, at_ns_};
  }

  GpuAccounts accounts_;
  bool begun_ = false;
  std::int64_t at_ns_ = 0;  // time up to which the accounts are complete
  std::int64_t compute_until_ns_ = 0, communication_until_ns_ = 0, copy_until_ns_ = 0;
};

}  // namespace cli
