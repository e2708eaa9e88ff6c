// Computed tracks, cut to the time in which the chosen events of their process are: slices to what lies in it, counters
// to its beginning, with the value that they have there. Names and arguments keep the true lengths.
//
// Memory: one value for each counter.
#pragma once
#include <functional>
#include <map>
#include <tuple>

#include "cli/trace/derived.h"
#include "cli/timeline/select/selector.h"

namespace cli {

class Clip : public DerivedSink {
 public:
  // Both outlive it. `window`: of each process.
  Clip(std::function<TimeWindow(ProcessId)> window, DerivedSink& sink) : window_(std::move(window)), sink_(sink) {}

  void derived(const Derived& derived) override;
  // Here the trace is split: values that wait for the window's beginning are given where that lies before.
  void cut(std::int64_t at_ns);
  void finish();  // counters that had their last value before

 private:
  using Key = std::tuple<ProcessId, DerivedTrack, std::int64_t>;
  void slice(const Derived& derived, TimeWindow window);
  void value(const Derived& derived, TimeWindow window);

  std::function<TimeWindow(ProcessId)> window_;
  DerivedSink& sink_;
  std::map<Key, Derived> before_;  // at the window's beginning
};

}  // namespace cli
