// Decides for each event of a trace whether it is kept. The trace is walked in order: once for survey(),
// when needs_survey(); then any number of times for judge(), each after begin_walk().
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

// What is known of the calls that launch GPU work, by process and correlation: whether the call is in the trace, in a
// chosen step, and kept. Filled by one walk, asked in the next.
//
// Memory: about 60 bytes for each run of 64 neighbouring correlations, so one byte a call with CUPTI's dense ids.
class LaunchTable {
 public:
  struct Launch {
    bool known = false;
    bool in_step = false;
    bool kept = false;
  };
  // Several calls of one correlation (a runtime call and the driver call within it) are one launch.
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

// Which events a person wants to see. An event is kept when every choice that was made keeps it.
struct Selection {
  std::optional<NumberRanges> ranks;  // processes of unknown rank are in none
  bool without_beside = false;        // none of what a run has beside its ranks (cli/timeline/merge/ranks.h)
  // What starts in the range of such a step on the host, on any thread of its process, and the GPU work (and waits) of
  // the calls among that, however much later it ran. GPU work whose call is not in the trace belongs to no step, unless
  // the trace has no calls of the process at all: then it goes by its own start. A range on the GPU (gpu_annotation) is
  // kept when it holds work that is.
  std::optional<NumberRanges> steps;
  std::optional<TimeRange> time;  // what runs in it at some moment, whole
  std::optional<KindSet> kinds;   // nccl holds the kernels of collectives, too; ends of flows are kept whatever is chosen: a flow is written where both ends are
  std::int64_t min_dur_ns = 0;    // slices shorter than this go; those without an end, and points, stay

  bool by_event() const { return steps || time || kinds || min_dur_ns > 0; }
};

// --kinds kernel,memcpy,nccl: the words are the names of cli/trace/event.h. Throws Error (usage) that names the unknown
// word and all that there are.
KindSet kinds_option(std::string_view option, std::string_view text);

// Why an event is not kept: the first choice, in this order, that leaves it out.
enum class LeftOut : std::uint8_t { kept, ranks, steps, time, kinds, min_dur, count_ };

inline constexpr std::array<std::string_view, static_cast<std::size_t>(LeftOut::count_)> kLeftOutOptions{
    "", "--ranks", "--steps", "--time", "--kinds", "--min-dur"};

using LeftOutCounts = std::array<std::uint64_t, static_cast<std::size_t>(LeftOut::count_)>;

// From 1970; `to_ns` does not belong to it.
struct TimeWindow {
  std::int64_t from_ns = 0, to_ns = 0;
};

// Of the whole trace, as StepFinder says it.
struct TraceFacts {
  Steps steps;
  std::int64_t first_ns = 0, last_ns = 0;  // on the axis
  ProcessClocks clocks = {};  // which put steps and events on the axis; none do: they are on it
};

class Selector {
 public:
  // All three outlive it. Throws Error (usage) when a choice of ranks, steps or time matches nothing of the trace, and
  // says what there is.
  Selector(const Selection& selection, const Catalog& catalog, const TraceFacts& facts);

  bool has_steps() const { return selection_.steps.has_value(); }
  bool needs_survey() const { return selection_.by_event(); }
  void survey(const Event& event);

  void begin_walk() { annotation_ = 0; }
  LeftOut judge(const Event& event);

  // What has to be read for all this to be true of what is read. Survey and judge walks with the same.
  Wanted wanted() const;

  // Of the trace's, those of which something can be kept.
  Steps chosen(const Steps& steps) const;
  bool has(ProcessId process) const { return chosen_[process]; }
  // --time, by the clock of the process's events; all of time where it is not given.
  TimeWindow time(ProcessId process) const { return times_[process]; }
  // Of a process that is chosen, the time in which anything of it can be kept: what is computed from the events beside
  // it is shown there.
  TimeWindow window(ProcessId process) const { return windows_[process]; }
  // Of kept or left-out GPU work: its launch was not treated alike, so their flow has one end.
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
  std::vector<bool> chosen_;         // by ProcessId: --ranks, and whether it is a rank
  std::vector<Intervals> steps_;     // by ProcessId: where its chosen steps are on the host, ascending, apart
  std::vector<Intervals> read_;      // the same with their time on the GPU
  std::vector<TimeWindow> windows_;  // by ProcessId
  std::vector<TimeWindow> times_;    // by ProcessId: --time
  std::vector<bool> collectives_;    // by StringId: names of kernels that belong to --kinds nccl, too
  std::vector<bool> launch_flows_;   // by StringId: kinds of flows from a launch to its work
  LaunchTable launches_;
  std::vector<bool> annotations_;  // in the order of the walk: whether it holds work of a chosen step
  std::size_t annotation_ = 0;     // the next one of this walk
  struct Open {
    std::size_t index;
    std::int64_t end_ns;
  };
  std::vector<std::vector<Open>> open_;  // by TrackId, while surveying
};

}  // namespace cli
