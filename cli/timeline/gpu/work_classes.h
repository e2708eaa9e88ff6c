// Classifies GPU work: communication, memory or compute.
//
// A kernel is communication by its name (cli/trace/names.h); a kernel or copy is if the user's rules give it the class
// `communication`. In recordings, all work launched by an NCCL call is communication, too: within the call or within
// the end of its group, on the same thread, or captured there into a CUDA graph. This includes the copies with which
// NCCL moves data without a kernel. Kineto's traces contain no NCCL calls, so only names count.
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

// The purpose of GPU work.
enum class WorkClass : std::uint8_t { compute, comm, memory };

class NameRules;

class WorkClasses {
 public:
  // Both have to outlive it. `own`, the user's rules, may be null.
  explicit WorkClasses(const Catalog& catalog, const NameRules* own = nullptr);

  // The kinds of events that have to be passed to event(), by start: GPU work, and the events that classify it.
  static KindSet kinds();
  void event(const Event& event);
  // Returns the class of GPU work. Called after event().
  WorkClass of(const Event& event, const Facts& facts);
  // Frees the data of a process. Called after its last event.
  void forget(ProcessId process) { launches_[process] = Launches(); }

 private:
  bool communicates(StringId name, Kind kind);
  bool is_of_call(const Event& event, const Facts& facts) const;
  bool is_recording(ProcessId process) const { return catalog_.processes[process].format != SourceFormat::kineto; }

  // Per process, launches whose work has not started; the oldest are removed
  static constexpr std::size_t kMostLaunches = 1 << 16;
  // A set of correlations. 64 neighbouring correlations share a word, because they are queried in sequence.
  class Launches {
   public:
    void add(std::uint64_t correlation);
    bool has(std::uint64_t correlation) const {
      if (correlation / 64 != last_) look_up(correlation / 64);
      return (last_bits_ >> correlation % 64 & 1) != 0;
    }

   private:
    void look_up(std::uint64_t word) const;

    std::unordered_map<std::uint64_t, std::uint64_t> bits_;  // by correlation / 64; no word is 0
    std::deque<std::uint64_t> order_;
    mutable std::uint64_t last_ = 0, last_bits_ = 0;  // the last query
  };

  const Catalog& catalog_;
  const NameRules* own_;
  bool any_recording_ = false;
  NameClasses names_;
  enum class ByName : std::uint8_t { unseen, none, kernel, any };
  std::vector<ByName> by_name_;            // by StringId: kinds of work with this name that are communication
  std::vector<std::int64_t> nccl_end_ns_;  // by TrackId: end of the current NCCL call on the thread
  std::vector<Launches> launches_;         // by ProcessId: correlations of launches within an NCCL call
};

}  // namespace cli
