// An analysis answers one question about a trace with one table. It is a file and a line in analysis.cpp. It receives
// the GPU work of the trace once, in time order, with the other events that it requests, and fills its table at the
// end. It does not depend on files, options or rendering.
#pragma once
#include <memory>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/tables/windows.h"
#include "cli/timeline/collectives/match.h"
#include "cli/timeline/collectives/stragglers.h"
#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/event.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/payload.h"

namespace cli {

class NameRules;
struct OwnPeaks;
struct DeviceGap;
struct HostWait;

// A kernel, copy, memset or whole graph launch that ran on a device and has an end; only of the chosen ranks and kinds.
struct GpuWork {
  ProcessId process = 0;
  std::int64_t device = -1;
  std::int64_t start_ns = 0, end_ns = 0;  // start_ns <= end_ns
  StringId name = 0;
  Kind kind = Kind::kernel;
  WorkClass work_class = WorkClass::compute;
  LaunchId launch = 0;  // of a kernel: id in the catalogue's launches; 0 if unknown
  // With facts, as read (no clock conversion); valid during the call. Its track is the stream: Track::group is the
  // device, Track::id the stream.
  const Event* event = nullptr;
  const Facts* facts = nullptr;
  // The call that launched it, valid during the call; null if unknown or if ObserverNeeds::kinds has no calls
  const LaunchCall* call = nullptr;
  std::uint32_t call_place = 0;  // its slot in AnalysisContext::calls
  // Launch time, by the clock of start_ns; start_ns if the trace has no calls of the process. Empty if the launch is
  // not in the trace or no observer needs it (ObserverNeeds::launches).
  std::optional<std::int64_t> launched_ns = {};
};

// Answers a question about names, which is asked once for each name.
class NameAnswers {
 public:
  template <typename Ask>
  bool is(const Strings& strings, StringId name, Ask&& ask) {
    if (name >= answers_.size()) answers_.resize(std::max(strings.size(), name + std::size_t{1}));
    if (answers_[name] == Answer::unknown) answers_[name] = ask(strings[name]) ? Answer::yes : Answer::no;
    return answers_[name] == Answer::yes;
  }

 private:
  enum class Answer : std::uint8_t { unknown, no, yes };
  std::vector<Answer> answers_;  // by StringId
};

// Calls each(window, start_ns, end_ns) for each window in which the work counts. If windows are steps, all of the work
// within the chosen time counts for the step that launched it; otherwise its part in each window counts.
template <typename Each>
void each_share(const Windows& windows, const GpuWork& work, Each&& each) {
  if (!windows.are_steps()) return windows.each_part(work.process, work.start_ns, work.end_ns, each);
  const TimeWindow& time = windows.time(work.process);
  const std::int64_t start_ns = std::max(work.start_ns, time.from_ns), end_ns = std::min(work.end_ns, time.to_ns);
  if (start_ns > end_ns) return;
  if (const auto step = windows.launched_in(work.process, work.launched_ns)) each(*step, start_ns, end_ns);
}
// Returns the one window to which the work is assigned: the step that launched it, or the window in which it begins.
inline std::optional<std::size_t> window_of(const Windows& windows, const GpuWork& work) {
  return windows.are_steps() ? windows.launched_in(work.process, work.launched_ns)
                             : windows.at(work.process, work.start_ns);
}
// Returns how much of the work's time counts.
inline std::int64_t share_ns(const Windows& windows, const GpuWork& work) {
  std::int64_t ns = 0;
  each_share(windows, work, [&](std::size_t, std::int64_t start_ns, std::int64_t end_ns) { ns += end_ns - start_ns; });
  return ns;
}

// What a row stands for, in addition to the default.
enum class GroupBy : std::uint8_t { none, rank, step, shape, stack };

// Selects the columns of a table.
struct RowKeys {
  GroupBy by = GroupBy::none;
  bool phases = false;  // a rank has several files, one per phase of its run
};

// Appends the cells of process_columns() (cells.h).
inline void append_process(std::vector<Cell>& row, const Process& process, RowKeys keys) {
  row.push_back(known_cell(process.rank));
  if (keys.phases) row.push_back(text_cell(process.phase));
}

// The collectives of a trace, over all ranks and all times, and the calls that they consist of.
struct TraceCollectives {
  CollectiveCalls calls;
  MatchedCollectives matched;
  ClockKnowledge clocks;
};

// Input of an analysis apart from events. If times of ranks are compared (ObserverNeeds::collectives), all times are
// on the common axis and `clocks` converts nothing. Otherwise the times of each process are by its own clock, so results
// about a rank do not depend on a clock estimate.
struct AnalysisContext {
  const Catalog& catalog;
  Windows windows;
  const std::vector<ProcessSteps>& steps_found;  // by ProcessId; the whole trace, by each process's own clock
  const Steps& steps;               // chosen steps, by the clock of the events; also set if windows are not steps
  const std::vector<bool>& chosen;  // by ProcessId: processes that have rows
  std::int64_t origin_ns = 0;       // start of the trace on the common axis
  const ProcessClocks& clocks;      // converts times of processes to the common axis
  RowKeys keys;
  const NameRules* class_rules = nullptr;         // classes of the user, which take precedence; null if none
  double flops_per_step = 0;                      // of the model, on one rank, given by the user; 0 if not given
  const TraceCollectives* collectives = nullptr;  // set after the walk, only for analyses that need it
  // Calls so far that may have launched work, by each process's own clock. Valid from the start of the walk until the
  // observer has finished.
  const LaunchCalls* calls = nullptr;
  const OwnPeaks* own_peaks = nullptr;  // given by the user; null to use the table

  // Returns the time since the start of the trace, on the common axis.
  std::int64_t since_start(ProcessId process, std::int64_t ns) const { return clocks.on_axis(process, ns) - origin_ns; }
};

// Receives the events of a walk. Observers share no mutable state: two of them may be called and finished at once on
// two threads.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  // Called in order of start_ns within each process, for work that counts in one of its windows (each_share), or work
  // requested by ObserverNeeds::by_time and any_time.
  virtual void work(const GpuWork& /*work*/) {}
  // Called for events of ObserverNeeds::kinds of the chosen processes, in time order together with work(), inside and
  // outside of windows.
  virtual void event(const Event& /*event*/, const Facts& /*facts*/) {}
  // Called if ObserverNeeds::gaps is set, for the chosen processes and all times, by each process's own clock
  // (device_gaps.h). gap() is called for idle time of a device, before work() of the work that ended it or after the
  // last event; wait() for a wait of the host, when its call or copy begins.
  virtual void gap(const DeviceGap& /*gap*/) {}
  virtual void wait(ProcessId /*process*/, const HostWait& /*wait*/) {}
  // See EventSink::end_of().
  virtual void end_of(ProcessId /*process*/) {}
};

struct ObserverNeeds {
  bool collectives = false;  // needs AnalysisContext::collectives
  KindSet kinds{};           // kinds of events that it receives in addition to GPU work
  bool any_time = false;     // work() also receives work outside of all windows
  // work() receives all work that runs in the windows, even if they are steps and another step launched it
  bool by_time = false;
  bool launches = false;  // needs GpuWork::launched_ns even if windows are not steps
  bool gaps = false;      // needs gap() and wait()
  // Relative cost of one of these events, used to balance the threads of a walk.
  unsigned effort = 1;

  // Kinds that the trace needs to contain for it, in addition to GPU work.
  KindSet looked_at() const;
};

class Analysis : public TraceObserver {
 public:
  explicit Analysis(const AnalysisContext& context) : context_(context) {}
  // Called once, after the last event. Adds rows and notes to the table, which has its name and columns. The last cells
  // of a row may be missing; they are empty.
  virtual void finish(ResultTable& table) = 0;

 protected:
  bool by(GroupBy by) const { return context_.keys.by == by; }
  // Returns the process if the table has rows per rank; otherwise 0, because all processes share their rows.
  ProcessId group_of(ProcessId process) const { return by(GroupBy::rank) ? process : 0; }
  std::string_view name_of(StringId id) const { return context_.catalog.strings[id]; }
  // Return the first cells of a row: those of process_columns(), rank_columns(), step_columns() and device_columns().
  std::vector<Cell> process_cells(ProcessId process) const {
    std::vector<Cell> cells;
    append_process(cells, context_.catalog.processes[process], context_.keys);
    return cells;
  }
  std::vector<Cell> rank_cells(ProcessId group) const {
    return by(GroupBy::rank) ? process_cells(group) : std::vector<Cell>();
  }
  std::vector<Cell> step_cells(ProcessId process, std::optional<std::int64_t> step) const {
    std::vector<Cell> cells = process_cells(process);
    if (by(GroupBy::step)) cells.push_back(cell_of(step));
    return cells;
  }
  std::vector<Cell> device_cells(ProcessId process, std::optional<std::int64_t> device,
                                 std::optional<std::int64_t> step) const {
    std::vector<Cell> cells = process_cells(process);
    cells.push_back(cell_of(device));
    if (by(GroupBy::step)) cells.push_back(cell_of(step));
    return cells;
  }

  const AnalysisContext& context_;
};

struct AnalysisEntry {
  std::string_view name;
  std::string_view meaning;
  // Supported values; the first is the default. `none` if rows do not stand for ranks without --by; `rank` if they always
  // do.
  std::vector<GroupBy> by;
  std::vector<Column> (*columns)(RowKeys keys) = nullptr;
  // The context must outlive the analysis
  std::unique_ptr<Analysis> (*make)(const AnalysisContext& context) = nullptr;
  bool on_request = true;  // runs only if chosen by name, because it is expensive or has many rows
  // Checked after the trace is read; if false, the trace is not walked for it; null for always
  bool (*can_have_rows)(const Catalog& catalog) = nullptr;
  ObserverNeeds needs{};
};

// Sets the columns and the class of an entry. `more` are arguments of the constructor after the context.
template <class Made, auto columns, auto... more>
AnalysisEntry analysis_entry(AnalysisEntry entry) {
  entry.columns = columns;
  entry.make = [](const AnalysisContext& context) -> std::unique_ptr<Analysis> {
    return std::make_unique<Made>(context, more...);
  };
  return entry;
}

const std::vector<AnalysisEntry>& analyses();

}  // namespace cli
