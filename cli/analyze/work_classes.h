// What the work of a GPU is for: communication, memory or compute.
//
// Communication is a kernel of NCCL or its kin, by its name. In recordings it is also all work that a call of NCCL launched:
// within the call, or within the end of its group, on the same thread; or captured there, of a CUDA graph. So copies by which
// NCCL moves data without a kernel count. In Kineto's traces calls of NCCL are not to be seen, and names are all that there is.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_set>
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

  static constexpr std::size_t kMostLaunches = 1 << 16;  // of a process, whose work has not come; the oldest are forgotten
  struct Launches {
    std::unordered_set<std::uint64_t> known;
    std::deque<std::uint64_t> order;
  };

  const Catalog& catalog_;
  NameClasses names_;
  std::vector<std::int64_t> nccl_end_ns_;  // by TrackId: until then the thread is inside a call of NCCL
  std::vector<Launches> launches_;         // by ProcessId: correlations of launches within one
};

}  // namespace cli
