#include "cli/merge/ordered_trace.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "cli/io/ordered_work.h"
#include "cli/io/progress.h"
#include "cli/merge/align.h"
#include "cli/merge/clock_domains.h"
#include "cli/merge/join_catalog.h"
#include "cli/merge/missing_data.h"
#include "cli/merge/phases.h"
#include "cli/merge/ranks.h"
#include "cli/model/error.h"
#include "cli/model/slice.h"
#include "cli/read/merged_reader.h"
#include "cli/read/reader.h"

namespace cli {
namespace {

constexpr std::size_t kLeastTextOfShapes = 1 << 20;  // of an input

// One merged file is in order already.
class MergedTrace : public OrderedTrace {
 public:
  explicit MergedTrace(const std::string& path) : reader_(path) {
    reader_.read_lists(catalog_);
    warnings = missing_data(catalog_);
  }
  const Catalog& catalog() const override { return catalog_; }
  const std::vector<ClockFit>& fits() const override { return reader_.fits(); }
  NotRead walk(EventSink& sink, const Wanted& wanted) override { return reader_.read_events(sink, wanted); }
  void walk_own_times(EventSink& sink) override { reader_.read_own_times(sink); }
  std::vector<ProcessSteps> steps() const override { return reader_.steps(); }

 private:
  MergedReader reader_;
  Catalog catalog_;
};

// Of events that nobody looks at, those between which a process's time lies.
class Bounds {
 public:
  void add(ProcessId process, const Event& event) {
    if (event.kind == Kind::flow) return;
    if (process >= of_.size()) of_.resize(process + std::size_t{1});
    Ends& ends = of_[process];
    if (!ends.any || event.start_ns < ends.first.start_ns) ends.first = event;
    const std::int64_t end_ns = slice_end(event, event.start_ns);
    if (!ends.any || end_ns > ends.end_ns) ends.last = event, ends.end_ns = end_ns;
    ends.any = true;
  }
  void give(EventSink& sink) const {
    for (const Ends& ends : of_) {
      if (ends.any) sink.event(ends.first, {}), sink.event(ends.last, {});
    }
  }

 private:
  struct Ends {
    Event first, last;
    std::int64_t end_ns = 0;  // of last
    bool any = false;
  };
  std::vector<Ends> of_;  // by ProcessId
};

// An input with its own catalogue, until both are part of the trace.
struct InputRead {
  Catalog catalog;
  std::vector<EventRun> runs;
  std::vector<ClockFit> fits;      // of a merged file
  bool is_merged = false;
  std::optional<Process> timed;    // whose clock timed it, as far as was known at its first event; none: it has no events
  IdMap ids;                       // of its catalogue in that of the trace
};

// The events of one input on their way to its sorter.
class Intake : public EventSink {
 public:
  Intake(InputRead& input, std::size_t number, const OrderedWork& work, EventSorter& sorter, Progress& progress, EventChoice choice)
      : input_(input), number_(number), work_(work), sorter_(sorter), progress_(progress), choice_(std::move(choice)) {}

  void event(const Event& event, const Facts& facts) override {
    work_.leave_if_given_up(number_);
    const Catalog& catalog = input_.catalog;
    if (!input_.timed) input_.timed = catalog.processes[catalog.tracks[event.track].process];
    progress_.step();
    if (!choice_) return sorter_.event(event, facts);
    if (choice_(catalog, event)) return sorter_.event(event, {facts.tag(), facts.data(), {}});
    bounds_.add(catalog.tracks[event.track].process, event);
  }
  void finish() { bounds_.give(sorter_); }

 private:
  InputRead& input_;
  std::size_t number_;
  const OrderedWork& work_;
  EventSorter& sorter_;
  ProgressPart progress_;
  EventChoice choice_;
  Bounds bounds_;
};

class SortedTrace : public OrderedTrace {
 public:
  SortedTrace(const std::vector<TraceInput>& inputs, const MergeOptions& options);
  const Catalog& catalog() const override { return catalog_; }
  const std::vector<ClockFit>& fits() const override { return reported_; }
  NotRead walk(EventSink& sink, const Wanted&) override {
    runs_.walk(clocks_.fits(), sink);
    return {};
  }
  void walk_own_times(EventSink& sink) override { runs_.walk({}, sink); }

 private:
  void read(const TraceInput& from, std::size_t number, const OrderedWork& work, const EventChoice& choice);
  std::uint32_t join(const TraceInput& from, InputRead& input);
  void finish(Aligner& aligner);

  Catalog catalog_;
  SortRoom room_;
  RunWalk runs_;
  std::deque<InputRead> inputs_;  // as they were given
  ClockDomains clocks_;
  Progress progress_{"reading"};
  std::vector<std::uint32_t> clock_of_;  // of each process, as read
  std::vector<ClockFit> reported_;
};

SortedTrace::SortedTrace(const std::vector<TraceInput>& inputs, const MergeOptions& options)
    : room_(options.memory_bytes, inputs.size(), options.scratch_folder), runs_(room_, catalog_.shapes), inputs_(inputs.size()) {
  OrderedWork work(inputs.size(), std::min(options.threads != 0 ? options.threads : usable_cores(), kMostSorters));
  std::vector<std::uint32_t> clocks;
  work.run({[&](std::size_t i) { read(inputs[i], i, work, options.choice); },
            [&](std::size_t i) { clocks.push_back(join(inputs[i], inputs_[i])); },
            [&](std::size_t i) {
              translate_runs(inputs_[i].runs, inputs_[i].ids);
              inputs_[i].catalog = {};
            }});
  for (std::size_t i = 0; i < inputs_.size(); ++i) runs_.add(std::move(inputs_[i].runs), clocks[i], &inputs_[i].ids);
  progress_.done();
  finish(*(options.align ? align_methods().back() : align_methods().front()).make());
}

void SortedTrace::read(const TraceInput& from, std::size_t number, const OrderedWork& work, const EventChoice& choice) {
  InputRead& input = inputs_[number];
  input.catalog.shapes.limit_text(std::max(kMostTextOfShapes / inputs_.size(), kLeastTextOfShapes));
  EventSorter sorter(room_, work.threads() == 1);
  Intake intake(input, number, work, sorter, progress_, choice);
  input.is_merged = is_merged_file(from.path);
  if (input.is_merged) {
    MergedReader reader(from.path);
    reader.read(input.catalog, intake);
    input.fits = reader.fits();
  } else {
    open_trace(from.path)->read(input.catalog, intake);
  }
  intake.finish();
  input.runs = sorter.finish();
}

// Returns the clock of its events.
std::uint32_t SortedTrace::join(const TraceInput& from, InputRead& input) {
  const std::size_t first = catalog_.processes.size();
  input.ids = join_catalog(input.catalog, catalog_);
  set_rank(catalog_, first, from.path, from.rank);
  if (const std::string fault = contradiction(catalog_); !fault.empty()) throw Error(Exit::usage, fault);
  check_ranks(catalog_);
  std::optional<std::uint32_t> clock;
  if (input.is_merged) {  // what was estimated when it was made stays true; its events come on the axis
    clock = clocks_.of_merged();
    reported_.insert(reported_.end(), input.fits.begin(), input.fits.end());
  } else if (input.timed) {
    clock = clocks_.of_process(*input.timed);
  }
  for (std::size_t i = first; i < catalog_.processes.size(); ++i) {
    if (input.is_merged) catalog_.processes[i].clock = -1;
    clock_of_.push_back(clock ? *clock : clocks_.of_process(catalog_.processes[i]));
  }
  return clock.value_or(0);
}

void SortedTrace::finish(Aligner& aligner) {
  for (std::string& missing : missing_data(catalog_)) warnings.push_back(std::move(missing));
  std::vector<ClockFit>& fits = clocks_.fits();
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    const std::int64_t rank = catalog_.processes[i].rank;
    if (rank >= 0) fits[clock_of_[i]].ranks.push_back(rank);
  }
  for (ClockFit& fit : fits) {
    std::sort(fit.ranks.begin(), fit.ranks.end());
    fit.ranks.erase(std::unique(fit.ranks.begin(), fit.ranks.end()), fit.ranks.end());  // phases
  }
  aligner.fit(fits);
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    Process& process = catalog_.processes[i];
    const ClockFit& fit = fits[clock_of_[i]];
    if (process.first_ns == 0 && process.last_ns == 0) continue;
    process.first_ns = fit.on_axis(process.first_ns), process.last_ns = fit.on_axis(process.last_ns);
    if (process.first_unclamped_ns != 0) process.first_unclamped_ns = fit.on_axis(process.first_unclamped_ns);
  }
  if (std::string apart = apart_in_time(catalog_); !apart.empty()) warnings.push_back(std::move(apart));
  for (std::uint32_t clock = 0; clock < fits.size(); ++clock) {
    if (!clocks_.reported(clock)) continue;
    for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
      if (clock_of_[i] == clock) catalog_.processes[i].clock = static_cast<std::int64_t>(reported_.size());
    }
    reported_.push_back(fits[clock]);
  }
  for (std::string& phases : name_phases(catalog_)) warnings.push_back(std::move(phases));
  sort_processes(catalog_);
}

}  // namespace

std::unique_ptr<OrderedTrace> order_traces(const std::vector<TraceInput>& inputs, const MergeOptions& options) {
  if (inputs.size() == 1 && !inputs[0].rank && is_merged_file(inputs[0].path)) {
    return std::make_unique<MergedTrace>(inputs[0].path);
  }
  return std::make_unique<SortedTrace>(inputs, options);
}

}  // namespace cli
