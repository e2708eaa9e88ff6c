// What the work of a GPU is for: communication, memory or compute.
//
// Communication is a kernel of NCCL or its kin, or one by which GPUs exchange data without it, by its name. In recordings it is also all work that a call of NCCL launched:
// within the call, or within the end of its group, on the same thread; or captured there, of a CUDA graph. So copies by which
// NCCL moves data without a kernel count. In Kineto's traces calls of NCCL are not to be seen, and names are all that there is.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "cli/analyze/work_class.h"
#include "cli/model/catalog.h"
#include "cli/model/kinds.h"
#include "cli/model/name_classes.h"
#include "cli/model/payload.h"

namespace cli {

class WorkClasses {
 public:
  explicit WorkClasses(const Catalog& catalog);

  // Every event of these kinds, by start: GPU work, and what tells what it is for.
  static KindSet kinds();
  void event(const Event& event);
  // Of GPU work, after event().
  WorkClass of(const Event& event, const Facts& facts);

 private:
  bool is_of_call(const Event& event, const Facts& facts) const;
  bool is_recording(ProcessId process) const { return catalog_.processes[process].format == SourceFormat::ring; }

  static constexpr std::size_t kMostLaunches = 1 << 16;  // of a process, whose work has not come; the oldest are forgotten
  // Of neighbouring correlations, which are asked for one after the other, 64 share a word.
  class Launches {
   public:
    void add(std::uint64_t correlation);
    bool has(std::uint64_t correlation) const {
      if (correlation / 64 != last_) look_up(correlation / 64);
      return (last_bits_ >> correlation % 64 & 1) != 0;
    }

   private:
    void look_up(std::uint64_t word) const;

    std::unordered_map<std::uint64_t, std::uint64_t> bits_;  // by correlation / 64; none is 0
    std::deque<std::uint64_t> order_;
    mutable std::uint64_t last_ = 0, last_bits_ = 0;  // what was asked for last
  };

  const Catalog& catalog_;
  bool any_recording_ = false;
  NameClasses names_;
  std::vector<std::int64_t> nccl_end_ns_;  // by TrackId: until then the thread is inside a call of NCCL
  std::vector<Launches> launches_;         // by ProcessId: correlations of launches within one
};

}  // namespace cli
