#include "cli/timeline/merge/ordered_trace.h"

#include <algorithm>
#include <deque>

#include "cli/formats/ttrace/reader.h"
#include "cli/timeline/merge/missing_data.h"

namespace cli {
namespace {

// A single merged file is already sorted.
class MergedTrace : public OrderedTrace {
 public:
  MergedTrace(const std::string& path, bool own_times) : reader_(path), own_times_(own_times) {
    reader_.read_lists(catalog_);
    warnings = missing_data(catalog_);
  }
  bool has_own_times() const override { return own_times_; }
  const Catalog& catalog() const override { return catalog_; }
  const std::vector<ClockFit>& fits() const override { return reader_.fits(); }
  NotRead walk(EventSink& sink, const Wanted& wanted) override {
    return own_times_ ? reader_.read_own_times(sink, wanted) : reader_.read_events(sink, wanted);
  }
  std::vector<ProcessSteps> steps() const override { return own_times_ ? reader_.own_steps() : reader_.steps(); }

 private:
  ttrace::MergedReader reader_;
  bool own_times_;
  Catalog catalog_;
};

// With own clocks inputs are walked one after the other, so that a process's data stays in the processor's caches.
class SortedTrace : public OrderedTrace {
 public:
  SortedTrace(const std::vector<TraceInput>& inputs, const MergeOptions& options)
      : reading_(inputs, options), own_times_(options.own_times) {
    reading_.read([](std::size_t, ReadInput& input) {
      translate_runs(input.runs, input.ids);
      input.catalog = {};
    });
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ReadInput& input = reading_.input(i);
      if (own_times_ || runs_.empty()) runs_.emplace_back(reading_.room(), reading_.catalog().shapes);
      runs_.back().add(std::move(input.runs), input.clock, &input.ids);
      first_processes_.push_back(input.first_process);
    }
    first_processes_.push_back(static_cast<ProcessId>(reading_.sorted_processes().size()));
    if (own_times_) steps_ = reading_.take_steps();
    warnings = std::move(reading_.warnings());
  }
  bool has_own_times() const override { return own_times_; }
  const Catalog& catalog() const override { return reading_.catalog(); }
  const std::vector<ClockFit>& fits() const override { return reading_.fits(); }
  NotRead walk(EventSink& sink, const Wanted&) override {
    if (!own_times_) {
      for (RunWalk& runs : runs_) runs.walk(reading_.domains(), sink);
      return {};
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs_[i].walk({}, sink);
      for (ProcessId id = first_processes_[i]; id < first_processes_[i + 1]; ++id)
        sink.end_of(reading_.sorted_processes()[id]);
    }
    return {};
  }
  bool walks_at_once() const override {
    return std::all_of(runs_.begin(), runs_.end(), [](const RunWalk& runs) { return runs.in_memory(); });
  }
  std::vector<ProcessSteps> steps() const override { return steps_; }

 private:
  InputReading reading_;
  bool own_times_;
  std::deque<RunWalk> runs_;                // one, or one for each input
  std::vector<ProcessId> first_processes_;  // of each input, as read, and the end of the last
  std::vector<ProcessSteps> steps_;
};

}  // namespace

std::unique_ptr<OrderedTrace> order_traces(const std::vector<TraceInput>& inputs, const MergeOptions& options) {
  if (inputs.size() == 1 && !inputs[0].rank && ttrace::is_merged_file(inputs[0].path)) {
    return std::make_unique<MergedTrace>(inputs[0].path, options.own_times);
  }
  return std::make_unique<SortedTrace>(inputs, options);
}

}  // namespace cli
