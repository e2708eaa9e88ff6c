#include "cli/timeline/merge/merge_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/base/error.h"
#include "cli/formats/ttrace/file.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/formats/ttrace/writer.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_numbers.h"
#include "cli/trace/event_times.h"
#include "cli/trace/ranks.h"

namespace cli {

namespace {

struct Part {
  const TraceInput* input;
  std::string run_id;  // of its first process with one; "" if unknown
  std::string fault;   // "" if none
};

Part look_into(const TraceInput& input) {
  Part part{&input, {}, {}};
  try {
    Catalog catalog;
    ttrace::MergedReader(input.path).read_lists(catalog);
    for (const Process& process : catalog.processes) {
      if (part.run_id.empty()) part.run_id = process.run_id;
    }
  } catch (const Error& error) {
    part.fault = error.what();
  }
  return part;
}

// Returns the run that more than one part belongs to, and more than to any other; "" if there is none, because the
// intended run is then unknown.
std::string run_of_most(const std::vector<Part>& parts) {
  std::map<std::string, std::size_t> parts_of;
  for (const Part& part : parts) {
    if (!part.run_id.empty()) ++parts_of[part.run_id];
  }
  std::string run;
  std::size_t most = 1;
  for (const auto& [id, count] : parts_of) {
    if (count == most) run.clear();
    if (count > most) {
      run = id;
      most = count;
    }
  }
  return run;
}

}  // namespace

std::vector<std::string> leave_out_unfit(std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) return {};
  std::vector<Part> parts;
  for (const TraceInput& input : inputs) {
    if (ttrace::is_merged_file(input.path)) parts.push_back(look_into(input));
  }
  const std::string run = run_of_most(parts);
  std::vector<std::string> lines;
  std::set<const TraceInput*> unfit;
  for (const Part& part : parts) {
    std::string why = part.fault;
    if (why.empty() && !run.empty() && !part.run_id.empty() && part.run_id != run) {
      why = fmt::format("{}: belongs to run {}, but most others belong to {}", part.input->path, part.run_id, run);
    }
    if (why.empty()) continue;
    unfit.insert(part.input);
    lines.push_back(why + "; skipped");
  }
  if (unfit.size() == inputs.size()) throw Error(Exit::bad_content, parts[0].fault);
  std::vector<TraceInput> fit;
  for (TraceInput& input : inputs) {
    if (!unfit.contains(&input)) fit.push_back(std::move(input));
  }
  inputs = std::move(fit);
  return lines;
}

std::string missing_ranks(const Catalog& catalog) {
  std::int64_t ranks = -1;
  std::set<std::int64_t> there;
  for (const Process& process : catalog.processes) {
    ranks = std::max(ranks, process.world_size);
    there.insert(process.rank);
  }
  std::vector<std::int64_t> missing;
  if (ranks > static_cast<std::int64_t>(ttrace::kMaxProcesses)) return {};  // a number from a damaged file
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty() || missing.size() == static_cast<std::size_t>(ranks)) return {};
  return fmt::format("{} of {} {} missing", rank_list(missing), ranks, missing.size() == 1 ? "is" : "are");
}

namespace {

// Writes events to the file and finds steps, so that readers need not.
class MergeWalk : public EventSink {
 public:
  MergeWalk(const Catalog& catalog, const ProcessClocks& clocks, ttrace::ChunkWriter& chunks)
      : chunks_(chunks), steps_(catalog, clocks) {}
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
  ttrace::ChunkWriter& chunks_;
  StepFinder steps_;
};

MergedTotals totals(const Catalog& catalog, const ttrace::MergedOutput& output, const MergeOptions& options,
                    std::vector<ClockFit> fits, std::vector<std::string> warnings) {
  if (std::string missing = options.is_part ? "" : missing_ranks(catalog); !missing.empty())
    warnings.push_back(std::move(missing));
  return {catalog.processes.size(), output.events(), std::move(fits), std::move(warnings)};
}

// Data about the time of each process, on its own clock.
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
    if (event.start_ns != process.kineto_base_ns.value_or(0))
      times.first_unclamped_ns = std::min(times.first_unclamped_ns, event.start_ns);
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
  ttrace::MergedReader reader(merged);
  Catalog catalog;
  reader.read_lists(catalog);
  return reader.fits();
}

// Clocks of merged files were chosen when they were made, unless they were not aligned. A single one can lose its axis,
// because it contains each rank's own times.
void refuse_other_clocks(const std::vector<TraceInput>& inputs, const MergeOptions& options, bool is_alone) {
  if (options.align && !options.clock_of_each_rank) return;
  if (is_alone && !options.clock_of_each_rank) return;
  for (const TraceInput& input : inputs) {
    if (!ttrace::is_merged_file(input.path) || are_wall_clocks(clocks_in(input.path))) continue;
    throw Error(Exit::usage, fmt::format("{}: the clocks of {} are already aligned; merge the recordings again{}",
                                         options.clock_of_each_rank ? "--clock-domain rank"
                                         : options.is_part          ? "--partial"
                                                                    : "--no-align",
                                         input.path, options.clock_of_each_rank ? "" : ", or merge only this file"));
  }
}

// A single merged file is already sorted.
MergedTotals merge_again(const std::string& path, const MergeOptions& options, ByteSink& out) {
  const bool align = options.align;
  ttrace::MergedReader reader(path);
  Catalog catalog;
  reader.read_lists(catalog);
  const std::vector<ClockFit> fits = align ? reader.fits() : wall_clocks(reader.fits());
  ttrace::MergedOutput output(out, 1);
  ttrace::ChunkWriter chunks(catalog, nullptr, {catalog.processes.size(), ttrace::kHeldEvents, true},
                             [&](std::string_view bytes) { output.put(0, bytes); });
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
  const bool is_alone = inputs.size() == 1 && !inputs[0].rank && ttrace::is_merged_file(inputs[0].path);
  refuse_other_clocks(inputs, options, is_alone);
  if (is_alone && !(options.align && are_wall_clocks(clocks_in(inputs[0].path))))
    return merge_again(inputs[0].path, options, out);
  InputReading reading(inputs, options);
  ttrace::MergedOutput output(out, inputs.size());
  const auto write = [&](std::size_t number, ReadInput& input) {
    const std::size_t own = input.catalog.processes.size(),
                      processes = input.part ? inputs.size() * own : std::max(inputs.size(), own);
    ttrace::ChunkWriter chunks(input.catalog, &input.ids, {processes, ttrace::kHeldEvents, reading.is_alone()},
                               [&](std::string_view bytes) {
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
    for (ttrace::IndexEntry& entry : output.chunks(number).index) entry.process = sorted[first + entry.process];
  }
  output.finish(reading.catalog(), reading.fits(), reading.take_steps());
  return totals(reading.catalog(), output, options, reading.fits(), std::move(reading.warnings()));
}

}  // namespace cli
