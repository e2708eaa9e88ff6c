// Decides for each event of a trace whether it is kept. The trace is walked in order: once for survey(), if
// needs_survey(); then any number of times for judge(), each after begin_walk().
//
// Memory: LaunchTable, one bit for each range on the GPU, the chosen steps.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/timeline/select/ranges.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"
#include "cli/trace/steps.h"

namespace cli {

// Stores for each call that launches GPU work, by process and correlation, whether it is in the trace, in a chosen
// step, and kept. One walk fills it, the next one uses it.
//
// Memory: about 60 bytes for each group of 64 neighbouring correlations; with CUPTI's dense ids about one byte per
// call.
class LaunchTable {
 public:
  struct Launch {
    bool known = false;
    bool in_step = false;
    bool kept = false;
  };
  // Several calls with one correlation (a runtime call and the driver call within it) are one launch.
  void note(ProcessId process, std::uint64_t correlation, bool in_step, bool kept);
  Launch find(ProcessId process, std::uint64_t correlation) const;

 private:
  struct Key {
    std::uint64_t high;  // correlation / 64
    ProcessId process;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Bits {
    std::uint64_t known = 0, in_step = 0, kept = 0;
  };
  std::unordered_map<Key, Bits, Hash> runs_;
};

// Filters chosen by the user. An event is kept if every filter keeps it.
struct Selection {
  std::optional<NumberRanges> ranks;  // excludes processes of unknown rank
  bool without_beside = false;        // excludes processes that are no ranks of the run (cli/timeline/merge/ranks.h)
  // Keeps events that start within a chosen step on the host, on any thread of the process, and the GPU work (and
  // waits) of the calls among them, however much later it runs. GPU work whose call is not in the trace belongs to no
  // step, unless the trace has no calls of the process at all; then its own start counts. A range on the GPU
  // (gpu_annotation) is kept if it contains kept work.
  std::optional<NumberRanges> steps;
  std::optional<TimeRange> time;  // keeps events that overlap it, with their full duration
  // nccl includes kernels of collectives; flow endpoints are always kept: a flow is written if both endpoints are
  std::optional<KindSet> kinds;
  std::int64_t min_dur_ns = 0;  // excludes shorter slices; slices without an end, and instants, are kept

  bool by_event() const { return steps || time || kinds || min_dur_ns > 0; }
};

// Parses --kinds kernel,memcpy,nccl; the words are the names in cli/trace/event.h. Throws Error (usage) with the
// unknown word and the list of kinds.
KindSet kinds_option(std::string_view option, std::string_view text);

// The filter that excludes an event: the first one in this order.
enum class LeftOut : std::uint8_t { kept, ranks, steps, time, kinds, min_dur, count_ };

inline constexpr std::array<std::string_view, static_cast<std::size_t>(LeftOut::count_)> kLeftOutOptions{
    "", "--ranks", "--steps", "--time", "--kinds", "--min-dur"};

using LeftOutCounts = std::array<std::uint64_t, static_cast<std::size_t>(LeftOut::count_)>;

// Since 1970. `to_ns` is exclusive.
struct TimeWindow {
  std::int64_t from_ns = 0, to_ns = 0;
};

// Facts about the whole trace, from StepFinder.
struct TraceFacts {
  Steps steps;
  std::int64_t first_ns = 0, last_ns = 0;  // on the axis
  ProcessClocks clocks = {};               // convert steps and events to the axis; empty if they are on it
};

class Selector {
 public:
  // All three arguments have to outlive it. Throws Error (usage), with the available choices, if the chosen ranks,
  // steps or time match nothing in the trace.
  Selector(const Selection& selection, const Catalog& catalog, const TraceFacts& facts);

  bool has_steps() const { return selection_.steps.has_value(); }
  bool needs_survey() const { return selection_.by_event(); }
  void survey(const Event& event);

  void begin_walk() { annotation_ = 0; }
  LeftOut judge(const Event& event);

  // Returns what has to be read for correct results. Survey and judge walks have to use the same.
  Wanted wanted() const;

  // Returns the steps of the trace of which something may be kept.
  Steps chosen(const Steps& steps) const;
  bool has(ProcessId process) const { return chosen_[process]; }
  // Returns --time on the clock of the process's events; all of time if it is not given.
  TimeWindow time(ProcessId process) const { return times_[process]; }
  // Returns the time in which any event of a chosen process can be kept. Derived tracks are shown in this time.
  TimeWindow window(ProcessId process) const { return windows_[process]; }
  // Returns true if the launch of GPU work was treated differently from the work (`kept`), so that their flow has only
  // one endpoint.
  bool loses_flow(const Event& work, bool kept) const;

 private:
  using Intervals = Wanted::Intervals;

  void choose_ranks();
  void leave_out_beside();
  void choose_steps(const Steps& steps);
  void choose_time(const ProcessClocks& clocks);
  ProcessId process(const Event& event) const { return catalog_.tracks[event.track].process; }
  void find_collectives();
  void find_launch_flows();
  bool is_of_kinds(const Event& event) const;
  bool runs_in_time(const Event& event) const;
  bool starts_in_step(const Event& event) const;
  bool is_launched(const Event& event) const;
  bool belongs_to_step(const Event& event) const;
  LeftOut judge_alone(const Event& event, bool in_step) const;
  void end_annotations(TrackId track, std::int64_t now_ns);
  void survey_annotation(const Event& event);
  void survey_work(const Event& event);

  const Selection& selection_;
  const Catalog& catalog_;
  std::int64_t first_ns_, last_ns_;
  std::vector<bool> chosen_;         // by ProcessId: chosen by --ranks and the rank filter
  std::vector<Intervals> steps_;     // by ProcessId: times of its chosen steps on the host, ascending, disjoint
  std::vector<Intervals> read_;      // the same, including their time on the GPU
  std::vector<TimeWindow> windows_;  // by ProcessId
  std::vector<TimeWindow> times_;    // by ProcessId: --time
  std::vector<bool> collectives_;    // by StringId: kernel names that --kinds nccl includes
  std::vector<bool> launch_flows_;   // by StringId: kinds of flows from a launch to its work
  LaunchTable launches_;
  std::vector<bool> annotations_;  // in the order of the walk: contains work of a chosen step
  std::size_t annotation_ = 0;     // index of the next one in this walk
  struct Open {
    std::size_t index;
    std::int64_t end_ns;
  };
  std::vector<std::vector<Open>> open_;  // by TrackId, while surveying
};

}  // namespace cli
