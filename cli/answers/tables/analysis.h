// A question to a trace, answered by one table. An analysis is a file and a line in analysis.cpp: it takes the GPU work of
// the trace once, in the order of time, with the other events that it asks for, and gives its table at the end. It knows
// nothing of files, options or drawing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/tables/windows.h"
#include "cli/timeline/collectives/stragglers.h"
#include "cli/timeline/collectives/match.h"
#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/payload.h"
#include "cli/trace/steps.h"

namespace cli {

class NameRules;
struct OwnPeaks;
struct DeviceGap;
struct HostWait;

// A kernel, copy, set or whole graph that ran on a device, with its end; of chosen ranks and kinds.
struct GpuWork {
  ProcessId process = 0;
  std::int64_t device = -1;
  std::int64_t start_ns = 0, end_ns = 0;  // start_ns <= end_ns
  StringId name = 0;
  Kind kind = Kind::kernel;
  WorkClass work_class = WorkClass::compute;
  LaunchId launch = 0;  // of a kernel: in the catalogue's launches; 0: unknown
  const Event* event = nullptr;  // with facts, as they were read, not moved by a clock; they live during the call
  const Facts* facts = nullptr;
  const LaunchCall* call = nullptr;  // that launched it, during the call; where ObserverNeeds::kinds has calls; null: unknown
  std::uint32_t call_place = 0;      // where it is in AnalysisContext::calls
  // When it was launched, by the clock of start_ns; its own start if the trace has no calls of the process. Empty: its launch is not
  // in the trace, or no observer needs it (ObserverNeeds::launches).
  std::optional<std::int64_t> launched_ns = {};
};

// Calls each(window, start_ns, end_ns) for each window in which the work counts: for the step in which it was launched, with all of
// it that lies in the chosen time, or else for its part in each window.
template <typename Each>
void each_share(const Windows& windows, const GpuWork& work, Each&& each) {
  if (!windows.are_steps()) return windows.each_part(work.process, work.start_ns, work.end_ns, each);
  const TimeWindow& time = windows.time(work.process);
  const std::int64_t start_ns = std::max(work.start_ns, time.from_ns), end_ns = std::min(work.end_ns, time.to_ns);
  if (start_ns > end_ns) return;
  if (const auto step = windows.launched_in(work.process, work.launched_ns)) each(*step, start_ns, end_ns);
}
// The window in which the work counts as one thing: the step in which it was launched, or else the window in which it begins.
inline std::optional<std::size_t> window_of(const Windows& windows, const GpuWork& work) {
  return windows.are_steps() ? windows.launched_in(work.process, work.launched_ns) : windows.at(work.process, work.start_ns);
}
// How much of the work counts.
inline std::int64_t share_ns(const Windows& windows, const GpuWork& work) {
  std::int64_t ns = 0;
  each_share(windows, work, [&](std::size_t, std::int64_t start_ns, std::int64_t end_ns) { ns += end_ns - start_ns; });
  return ns;
}

// What rows stand for, besides what they always do.
enum class GroupBy : std::uint8_t { none, rank, step, shape, stack };

// What decides which columns a table has.
struct RowKeys {
  GroupBy by = GroupBy::none;
  bool phases = false;  // a rank has several files, each of a phase of its run
};

// The collectives of a trace, of all its ranks and all of its time, and the calls that they consist of.
struct TraceCollectives {
  CollectiveCalls calls;
  MatchedCollectives matched;
  ClockKnowledge clocks;
};

// Where times of ranks are compared (ObserverNeeds::collectives), all are on the axis, and `clocks` moves nothing; else those of each
// process are by its own clock, so that what is said of a rank does not depend on an estimate.
struct AnalysisContext {
  const Catalog& catalog;
  Windows windows;
  const std::vector<ProcessSteps>& steps_found;  // by ProcessId, all of the trace, by each process's own clock
  const Steps& steps;  // the chosen ones, by the clock of the events, also where windows are no steps
  const std::vector<bool>& chosen;                      // by ProcessId: of these there are rows
  std::int64_t origin_ns = 0;                           // the start of the trace, on the axis
  const ProcessClocks& clocks;                          // which put the process's times on the axis
  RowKeys keys;
  const NameRules* class_rules = nullptr;         // one's own classes, which are asked first; null: there are none
  double flops_per_step = 0;  // of the model, on one rank, as the user tells it; 0: not told
  const TraceCollectives* collectives = nullptr;  // when the walk is over, of those that need them
  // The calls so far that may have launched work, by each process's own clock: from the walk's begin until the observer has finished.
  const LaunchCalls* calls = nullptr;
  const OwnPeaks* own_peaks = nullptr;  // that the user gives; null: those of the table
};

// Who looks at a trace as it is walked. Observers share nothing that changes: two may be called at once, on two threads, and finish so.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  // Of each process by start_ns ascending: work that counts in one of the process's windows (each_share), or what
  // ObserverNeeds::by_time and any_time ask for.
  virtual void work(const GpuWork& /*work*/) {}
  // Of ObserverNeeds::kinds, of chosen processes, in one order of time with work(); of any time, in a window or not.
  virtual void event(const Event& /*event*/, const Facts& /*facts*/) {}
  // Where ObserverNeeds::gaps asks for it, of chosen processes and of all times, by each process's own clock (device_gaps.h): a
  // time for which a device idled, before work() of what ended it, or behind the last event; a wait of the host, where its call or copy begins.
  virtual void gap(const DeviceGap& /*gap*/) {}
  virtual void wait(ProcessId /*process*/, const HostWait& /*wait*/) {}
  // EventSink::end_of().
  virtual void end_of(ProcessId /*process*/) {}
};

struct ObserverNeeds {
  bool collectives = false;  // AnalysisContext
  KindSet kinds{};           // of events that it takes besides GPU work
  bool any_time = false;     // work() gets what runs in none of the windows, too
  bool by_time = false;      // work() gets what runs in the windows, also where they are steps and it was launched in another one
  bool launches = false;     // GpuWork::launched_ns, also where windows are no steps
  bool gaps = false;         // gap() and wait()
  // What one of these events costs it, beside what it costs others: walks of several threads are to take about as long.
  unsigned effort = 1;

  // That the trace must have for it, besides GPU work.
  KindSet looked_at() const;
};

class Analysis : public TraceObserver {
 public:
  // After the last one, once.
  virtual ResultTable finish() = 0;
};

// AnalysisEntry::make of what is made of its context alone.
template <class Made>
std::unique_ptr<Analysis> make_analysis(const AnalysisContext& context) {
  return std::make_unique<Made>(context);
}

struct AnalysisEntry {
  std::string_view name;
  std::string_view meaning;
  std::vector<GroupBy> by;  // what its rows can stand for; the first where nothing else is asked for
  std::vector<Column> (*columns)(RowKeys keys);
  std::unique_ptr<Analysis> (*make)(const AnalysisContext& context);  // the context outlives it
  bool on_request = false;  // one of many rows, or dear to make: where nothing is chosen, it is left out
  bool (*can_have_rows)(const Catalog& catalog) = nullptr;  // of a trace that was read; false: the trace is not walked for it; null: always
  ObserverNeeds needs{};
};

const std::vector<AnalysisEntry>& analyses();

}  // namespace cli
