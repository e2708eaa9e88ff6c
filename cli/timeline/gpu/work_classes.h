// What the work of a GPU is for: communication, memory or compute.
//
// A kernel communicates by its name (cli/trace/names.h), and a kernel or copy if the user's rules give it the class `communication`. In recordings
// all work that a call of NCCL launched communicates, too: within the call, or within the end of its group, on the same thread; or
// captured there, of a CUDA graph. So copies by which NCCL moves data without a kernel count. Kineto's traces have no calls of NCCL, and
// names are all that there is.
#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/names.h"
#include "cli/trace/payload.h"

namespace cli {

// What work of a GPU is for.
enum class WorkClass : std::uint8_t { compute, comm, memory };

class NameRules;

class WorkClasses {
 public:
  // Both outlive it; `own`, the user's rules, may be null.
  explicit WorkClasses(const Catalog& catalog, const NameRules* own = nullptr);

  // Every event of these kinds, by start: GPU work, and what tells what it is for.
  static KindSet kinds();
  void event(const Event& event);
  // Of GPU work, after event().
  WorkClass of(const Event& event, const Facts& facts);
  // Call it after the process's last event.
  void forget(ProcessId process) { launches_[process] = Launches(); }

 private:
  bool communicates(StringId name, Kind kind);
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
  const NameRules* own_;
  bool any_recording_ = false;
  NameClasses names_;
  enum class ByName : std::uint8_t { unseen, none, kernel, any };
  std::vector<ByName> by_name_;            // by StringId: what communicates if it is called so
  std::vector<std::int64_t> nccl_end_ns_;  // by TrackId: until then the thread is inside a call of NCCL
  std::vector<Launches> launches_;         // by ProcessId: correlations of launches within one
};

}  // namespace cli
