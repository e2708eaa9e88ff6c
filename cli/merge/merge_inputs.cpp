#include "cli/merge/merge_inputs.h"

#include <algorithm>

#include "cli/merge/merged_writer.h"
#include "cli/merge/missing_data.h"
#include "cli/read/merged_reader.h"
#include "cli/select/step_finder.h"

namespace cli {
namespace {

// To the file, with a look for steps, so that nobody who reads it has to.
class MergeWalk : public EventSink {
 public:
  MergeWalk(const Catalog& catalog, ChunkWriter& chunks) : chunks_(chunks), steps_(catalog) {}
  void event(const Event& event, const Facts& facts) override {
    chunks_.event(event, facts);
    steps_.event(event, facts);
  }
  std::vector<ProcessSteps> steps() { return steps_.take(); }

 private:
  ChunkWriter& chunks_;
  StepFinder steps_;
};

MergedTotals totals(const Catalog& catalog, const MergedOutput& output, std::vector<ClockFit> fits, std::vector<std::string> warnings) {
  return {catalog.processes.size(), output.events(), std::move(fits), std::move(warnings)};
}

// One merged file, which is in order already.
MergedTotals merge_again(const std::string& path, ByteSink& out) {
  MergedReader reader(path);
  Catalog catalog;
  reader.read_lists(catalog);
  MergedOutput output(out, 1);
  ChunkWriter chunks(catalog, nullptr, {catalog.processes.size(), kHeldEvents, true}, [&](std::string_view bytes) { output.put(0, bytes); });
  MergeWalk walk(catalog, chunks);
  reader.read_own_times(walk);
  output.done(0, chunks.finish());
  output.finish(catalog, reader.fits(), walk.steps());
  return totals(catalog, output, reader.fits(), missing_data(catalog));
}

}  // namespace

MergedTotals merge_inputs(const std::vector<TraceInput>& inputs, const MergeOptions& options, ByteSink& out) {
  if (inputs.size() == 1 && !inputs[0].rank && is_merged_file(inputs[0].path)) return merge_again(inputs[0].path, out);
  InputReading reading(inputs, options);
  MergedOutput output(out, inputs.size());
  std::vector<std::vector<ProcessSteps>> steps_of(inputs.size());
  const auto write = [&](std::size_t number, ReadInput& input) {
    const std::size_t processes = std::max(inputs.size(), input.catalog.processes.size());
    ChunkWriter chunks(input.catalog, &input.ids, {processes, kHeldEvents, reading.is_alone()}, [&](std::string_view bytes) {
      reading.leave_if_given_up(number);
      output.put(number, bytes);
    });
    MergeWalk walk(input.catalog, chunks);
    RunWalk runs(reading.room(), input.catalog.shapes);
    runs.add(std::move(input.runs), input.clock, nullptr);
    runs.walk({}, walk);
    steps_of[number] = walk.steps();
    output.done(number, chunks.finish());
    input.catalog = {}, input.ids = {};
  };
  reading.read([&](std::size_t number, ReadInput& input) {
    try {
      write(number, input);
    } catch (...) {
      output.give_up();
      throw;
    }
  });
  const std::vector<ProcessId>& sorted = reading.sorted_processes();
  std::vector<ProcessSteps> steps(sorted.size());
  for (std::size_t number = 0; number < inputs.size(); ++number) {
    const ProcessId first = reading.input(number).first_process;
    for (IndexEntry& entry : output.chunks(number).index) entry.process = sorted[first + entry.process];
    for (std::size_t i = 0; i < steps_of[number].size(); ++i) steps[sorted[first + i]] = std::move(steps_of[number][i]);
  }
  output.finish(reading.catalog(), reading.fits(), steps);
  return totals(reading.catalog(), output, reading.fits(), std::move(reading.warnings()));
}

}  // namespace cli
