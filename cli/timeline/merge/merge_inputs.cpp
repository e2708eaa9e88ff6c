#include "cli/timeline/merge/merge_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/timeline/merge/align.h"
#include "cli/formats/ttrace/merged_writer.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/timeline/merge/parts.h"
#include "cli/trace/error.h"
#include "cli/trace/overruns.h"
#include "cli/formats/ttrace/merged_reader.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_numbers.h"

namespace cli {
namespace {

// To the file, with a look for steps, so that nobody who reads it has to.
class MergeWalk : public EventSink {
 public:
  MergeWalk(const Catalog& catalog, const ProcessClocks& clocks, ChunkWriter& chunks) : chunks_(chunks), steps_(catalog, clocks) {}
  void event(const Event& event, const Facts& facts) override {
    chunks_.event(event, facts);
    steps_.event(event, facts);
  }
  void end_of(ProcessId process) override {
    chunks_.end_of(process);
    steps_.end_of(process);
  }
  std::vector<ProcessSteps> steps() { return steps_.take(); }

 private:
  ChunkWriter& chunks_;
  StepFinder steps_;
};

MergedTotals totals(const Catalog& catalog, const MergedOutput& output, const MergeOptions& options, std::vector<ClockFit> fits, std::vector<std::string> warnings) {
  if (std::string missing = options.is_part ? "" : missing_ranks(catalog); !missing.empty()) warnings.push_back(std::move(missing));
  return {catalog.processes.size(), output.events(), std::move(fits), std::move(warnings)};
}

// What is said of each process's time, by its own clock.
class OwnTimes : public EventSink {
 public:
  OwnTimes(const Catalog& catalog, const ProcessClocks& clocks, EventSink& next)
      : catalog_(catalog), bounds_(catalog, clocks), next_(next), of_(catalog.processes.size()) {}
  void event(const Event& read, const Facts& facts) override {
    next_.event(read, facts);
    Event room;
    const Event& event = with_cut_overrun(catalog_, read, room);
    if (!bounds_.hold(catalog_.tracks[event.track].process, event)) return;
    Times& times = of_[catalog_.tracks[event.track].process];
    const Process& process = catalog_.processes[catalog_.tracks[event.track].process];
    times.first_ns = std::min(times.first_ns, event.start_ns);
    times.last_ns = std::max(times.last_ns, event.start_ns + std::max<std::int64_t>(event.duration_ns, 0));
    if (event.start_ns != process.kineto_base_ns.value_or(0)) times.first_unclamped_ns = std::min(times.first_unclamped_ns, event.start_ns);
  }
  void end_of(ProcessId process) override { next_.end_of(process); }
  void give(std::vector<Process>& processes) const {
    for (std::size_t i = 0; i < of_.size(); ++i) {
      if (of_[i].first_ns > of_[i].last_ns) continue;
      processes[i].first_ns = of_[i].first_ns;
      processes[i].last_ns = of_[i].last_ns;
      if (processes[i].first_unclamped_ns != 0) processes[i].first_unclamped_ns = of_[i].first_unclamped_ns;
    }
  }

 private:
  struct Times {
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, first_unclamped_ns = INT64_MAX;
  };
  const Catalog& catalog_;
  const TimeBounds bounds_;
  EventSink& next_;
  std::vector<Times> of_;
};

std::vector<ClockFit> wall_clocks(const std::vector<ClockFit>& fits) {
  std::vector<ClockFit> clocks;
  for (const ClockFit& fit : fits) {
    ClockFit& clock = clocks.emplace_back();
    clock.host = fit.host;
    clock.boot_id = fit.boot_id;
    clock.ranks = fit.ranks;
  }
  keep_wall_clocks(clocks);
  return clocks;
}

std::vector<ClockFit> clocks_in(const std::string& merged) {
  MergedReader reader(merged);
  Catalog catalog;
  reader.read_lists(catalog);
  return reader.fits();
}

// Clocks of merged files were chosen when those were made, unless nobody aligned them. One alone can leave its axis, as it holds each rank's own times.
void refuse_other_clocks(const std::vector<TraceInput>& inputs, const MergeOptions& options, bool is_alone) {
  if (options.align && !options.clock_of_each_rank) return;
  if (is_alone && !options.clock_of_each_rank) return;
  for (const TraceInput& input : inputs) {
    if (!is_merged_file(input.path) || are_wall_clocks(clocks_in(input.path))) continue;
    throw Error(Exit::usage, fmt::format("{}: the clocks of {} are already aligned; merge the recordings again{}",
                                         options.clock_of_each_rank ? "--clock-domain rank" : options.is_part ? "--partial" : "--no-align", input.path,
                                         options.clock_of_each_rank ? "" : ", or merge only this file"));
  }
}

// One merged file, which is in order already.
MergedTotals merge_again(const std::string& path, const MergeOptions& options, ByteSink& out) {
  const bool align = options.align;
  MergedReader reader(path);
  Catalog catalog;
  reader.read_lists(catalog);
  const std::vector<ClockFit> fits = align ? reader.fits() : wall_clocks(reader.fits());
  MergedOutput output(out, 1);
  ChunkWriter chunks(catalog, nullptr, {catalog.processes.size(), kHeldEvents, true}, [&](std::string_view bytes) { output.put(0, bytes); });
  const ProcessClocks clocks(catalog, reader.fits());
  MergeWalk walk(catalog, clocks, chunks);
  OwnTimes times(catalog, clocks, walk);
  reader.read_own_times(times, {});
  if (!align) times.give(catalog.processes);
  output.done(0, chunks.finish());
  std::vector<ProcessSteps> steps = walk.steps();
  number_alike(steps, catalog, ProcessClocks(catalog, fits));
  output.finish(catalog, fits, steps);
  return totals(catalog, output, options, fits, missing_data(catalog));
}

}  // namespace

MergedTotals merge_inputs(const std::vector<TraceInput>& inputs, const MergeOptions& asked, ByteSink& out) {
  MergeOptions options = asked;
  options.aligns_parts = true;
  const bool is_alone = inputs.size() == 1 && !inputs[0].rank && is_merged_file(inputs[0].path);
  refuse_other_clocks(inputs, options, is_alone);
  if (is_alone && !(options.align && are_wall_clocks(clocks_in(inputs[0].path)))) return merge_again(inputs[0].path, options, out);
  InputReading reading(inputs, options);
  MergedOutput output(out, inputs.size());
  const auto write = [&](std::size_t number, ReadInput& input) {
    const std::size_t own = input.catalog.processes.size(), processes = input.part ? inputs.size() * own : std::max(inputs.size(), own);
    ChunkWriter chunks(input.catalog, &input.ids, {processes, kHeldEvents, reading.is_alone()}, [&](std::string_view bytes) {
      reading.leave_if_given_up(number);
      output.put(number, bytes);
    });
    MergeWalk walk(input.catalog, {}, chunks);
    if (input.part) {
      input.part->read_own_times(walk, {}, reading.is_alone());
    } else {
      RunWalk runs(reading.room(), input.catalog.shapes);
      runs.add(std::move(input.runs), input.clock, nullptr);
      runs.walk({}, walk);
    }
    input.steps = walk.steps();
    output.done(number, chunks.finish());
    input.part.reset();
    input.catalog = {};
    input.ids = {};
  };
  reading.read([&](std::size_t number, ReadInput& input) {
    try {
      write(number, input);
    } catch (...) {
      output.give_up(number);
      throw;
    }
  });
  const std::vector<ProcessId>& sorted = reading.sorted_processes();
  for (std::size_t number = 0; number < inputs.size(); ++number) {
    const ProcessId first = reading.input(number).first_process;
    for (IndexEntry& entry : output.chunks(number).index) entry.process = sorted[first + entry.process];
  }
  output.finish(reading.catalog(), reading.fits(), reading.take_steps());
  return totals(reading.catalog(), output, options, reading.fits(), std::move(reading.warnings()));
}

}  // namespace cli
