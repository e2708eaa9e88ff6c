#include "cli/merge/ordered_trace.h"

#include <algorithm>
#include <utility>

#include "cli/io/progress.h"
#include "cli/merge/align.h"
#include "cli/merge/clock_domains.h"
#include "cli/merge/missing_data.h"
#include "cli/merge/phases.h"
#include "cli/merge/ranks.h"
#include "cli/model/error.h"
#include "cli/model/slice.h"
#include "cli/read/merged_reader.h"
#include "cli/read/reader.h"

namespace cli {
namespace {

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

// The events of one input on their way to the sorter.
class Intake : public EventSink {
 public:
  Intake(const Catalog& catalog, ClockDomains& clocks, Aligner& aligner, EventSorter& sorter, Progress& progress,
         const EventChoice& choice)
      : catalog_(catalog), clocks_(clocks), aligner_(aligner), sorter_(sorter), progress_(progress), choice_(choice) {}

  void event(const Event& event, const Facts& facts) override {
    if (!clock_) begin(clocks_.of_process(catalog_.processes[catalog_.tracks[event.track].process]));
    if (clocks_.reported(*clock_)) aligner_.event(catalog_, event, facts, *clock_);
    progress_.step();
    if (!choice_) return sorter_.event(event, facts);
    if (choice_(catalog_, event)) return sorter_.event(event, {facts.tag(), facts.data(), {}});
    bounds_.add(catalog_.tracks[event.track].process, event);
  }
  void finish() { bounds_.give(sorter_); }
  void begin(std::uint32_t clock) { sorter_.begin_clock(*(clock_ = clock)); }
  std::optional<std::uint32_t> clock() const { return clock_; }

 private:
  const Catalog& catalog_;
  ClockDomains& clocks_;
  Aligner& aligner_;
  EventSorter& sorter_;
  Progress& progress_;
  const EventChoice& choice_;
  Bounds bounds_;
  std::optional<std::uint32_t> clock_;
};

class SortedTrace : public OrderedTrace {
 public:
  SortedTrace(const std::vector<TraceInput>& inputs, const MergeOptions& options)
      : sorter_(catalog_, options.memory_bytes, options.scratch_folder),
        aligner_((options.align ? align_methods().back() : align_methods().front()).make()),
        progress_("reading"),
        choice_(options.choice) {
    for (const TraceInput& input : inputs) read(input);
    progress_.done();
    finish();
  }
  const Catalog& catalog() const override { return catalog_; }
  const std::vector<ClockFit>& fits() const override { return reported_; }
  NotRead walk(EventSink& sink, const Wanted&) override {
    sorter_.drain(clocks_.fits(), sink);
    return {};
  }
  void walk_own_times(EventSink& sink) override { sorter_.drain({}, sink); }

 private:
  void read(const TraceInput& input);
  void read_merged(const TraceInput& input, Intake& intake);
  void finish();

  Catalog catalog_;
  EventSorter sorter_;
  ClockDomains clocks_;
  std::unique_ptr<Aligner> aligner_;
  Progress progress_;
  EventChoice choice_;
  std::vector<std::uint32_t> clock_of_;  // of each process, as read
  std::vector<ClockFit> reported_;
};

void SortedTrace::read(const TraceInput& input) {
  const std::size_t first = catalog_.processes.size();
  progress_.say("reading " + input.path);
  Intake intake(catalog_, clocks_, *aligner_, sorter_, progress_, choice_);
  if (is_merged_file(input.path)) {
    read_merged(input, intake);
  } else {
    open_trace(input.path)->read(catalog_, intake);
  }
  intake.finish();
  set_rank(catalog_, first, input.path, input.rank);
  if (const std::string fault = contradiction(catalog_); !fault.empty()) throw Error(Exit::usage, fault);
  check_ranks(catalog_);
  for (std::size_t i = first; i < catalog_.processes.size(); ++i) {
    clock_of_.push_back(intake.clock() ? *intake.clock() : clocks_.of_process(catalog_.processes[i]));
  }
}

// What was estimated when it was made stays true; its events come on the axis.
void SortedTrace::read_merged(const TraceInput& input, Intake& intake) {
  MergedReader reader(input.path);
  intake.begin(clocks_.of_merged());
  const std::size_t first = catalog_.processes.size();
  reader.read(catalog_, intake);
  for (std::size_t i = first; i < catalog_.processes.size(); ++i) catalog_.processes[i].clock = -1;
  reported_.insert(reported_.end(), reader.fits().begin(), reader.fits().end());
}

void SortedTrace::finish() {
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
  aligner_->fit(fits);
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
