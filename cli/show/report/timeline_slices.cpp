#include "cli/show/report/timeline_slices.h"

#include <algorithm>

#include "cli/answers/tables/percentile.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/trace/event_times.h"
#include "cli/trace/ranks.h"

namespace cli::report {

namespace {

// Returns the step of median length among the complete steps after warm-up.
std::optional<std::int64_t> typical_step(const AnalysisContext& context, ProcessId process) {
  const Windows whole = whole_steps(context);
  const std::vector<Step>& all = context.steps_found[process].steps;
  const std::size_t warm_up = warm_up_steps(all);
  std::vector<Step> steps;
  for (const Step& step : context.steps[process]) {
    const bool is_warm_up = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(warm_up),
                                        [&](const Step& w) { return w.number == step.number; });
    if (!is_warm_up && whole.at(process, step.from_ns())) steps.push_back(step);
  }
  std::vector<std::int64_t> lengths;
  for (const Step& step : steps) lengths.push_back(step.length_ns());
  const std::int64_t middle = median(lengths);
  const auto typical = std::ranges::find_if(steps, [&](const Step& step) { return step.length_ns() == middle; });
  return typical != steps.end() ? std::optional(typical->number) : std::nullopt;
}

std::optional<std::int64_t> first_typical_step(const AnalysisContext& context,
                                               const std::vector<ProcessId>& processes) {
  for (const ProcessId process : processes) {
    if (const auto step = typical_step(context, process)) return step;
  }
  return std::nullopt;
}

[[noreturn]] void throw_no_step(const std::map<std::int64_t, ShownTime>& steps, std::int64_t number) {
  if (steps.empty())
    throw Error(Exit::usage,
                "--step {}: no steps were found; without --step the report shows the first part of the trace", number);
  std::vector<std::int64_t> numbers;
  for (const auto& [there, time] : steps) numbers.push_back(there);
  throw Error(Exit::usage, "--step {}: there is no step {}; there are {}", number, number, number_list(numbers));
}

// Returns the analyzed time of the chosen processes.
ShownTime analyzed_time(const AnalysisContext& context) {
  ShownTime time{std::nullopt, kLatest_ns, kEarliest_ns};
  for (ProcessId process = 0; process < context.chosen.size(); ++process) {
    const ProcessSteps& found = context.steps_found[process];
    const auto& windows = context.windows.of(process);
    if (!context.chosen[process] || windows.empty() || found.last_ns == 0) continue;
    time.from_ns =
        std::min(time.from_ns, context.clocks.on_axis(process, std::max(found.first_ns, windows.front().from_ns)));
    time.to_ns = std::max(time.to_ns, context.clocks.on_axis(process, std::min(found.last_ns, windows.back().to_ns)));
  }
  return time.from_ns < time.to_ns ? time : ShownTime{std::nullopt, context.origin_ns, context.origin_ns + 1};
}

// Returns the number of slices in the time if they were spread evenly over their process's time.
double expected_slices(const AnalysisContext& context, const ShownTime& time, const std::vector<ProcessId>& processes,
                       KindSet kinds) {
  double expected = 0;
  for (const ProcessId process : processes) {
    double slices = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if (kinds.test(kind)) slices += static_cast<double>(context.catalog.processes[process].counts[kind]);
    }
    const ProcessSteps& found = context.steps_found[process];
    const auto length_ns = static_cast<double>(std::max<std::int64_t>(1, found.last_ns - found.first_ns));
    expected += slices * std::min(1.0, static_cast<double>(time.length_ns()) / length_ns);
  }
  return expected;
}

std::int64_t length_of(const TimelineSlice& slice) { return slice.end_ns - slice.start_ns; }

}  // namespace

std::map<std::int64_t, ShownTime> times_of_steps(const AnalysisContext& context) {
  std::map<std::int64_t, ShownTime> times;
  for (ProcessId process = 0; process < context.steps.size(); ++process) {
    for (const Step& step : context.steps[process]) {
      const std::int64_t from_ns = context.clocks.on_axis(process, step.from_ns()),
                         to_ns = context.clocks.on_axis(process, step.to_ns());
      ShownTime& time = times.try_emplace(step.number, ShownTime{step.number, from_ns, to_ns}).first->second;
      time.from_ns = std::min(time.from_ns, from_ns);
      time.to_ns = std::max({time.to_ns, to_ns, time.from_ns + 1});  // a marker without length also counts as a step
    }
  }
  return times;
}

ShownTime shown_time(const AnalysisContext& context, const std::map<std::int64_t, ShownTime>& steps,
                     std::optional<std::int64_t> step, const std::vector<ProcessId>& processes, KindSet kinds,
                     std::size_t most_slices, std::vector<std::string>& notes) {
  const std::optional<std::int64_t> number = step ? step : first_typical_step(context, processes);
  if (number) {
    const auto found = steps.find(*number);
    if (found == steps.end()) throw_no_step(steps, *number);
    return found->second;
  }
  ShownTime time = analyzed_time(context);
  const double expected = expected_slices(context, time, processes, kinds), most = static_cast<double>(most_slices);
  if (expected <= most) return time;
  const std::int64_t whole_ns = time.length_ns();
  time.to_ns = time.from_ns +
               std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(whole_ns) * (most / expected)));
  notes.push_back(
      fmt::format("the timeline shows the first {} of {} because no steps were found; --time chooses another part",
                  duration_text(time.length_ns()), duration_text(whole_ns)));
  return time;
}

void TimelineSlices::add(const TimelineSlice& slice) {
  if (!keeps(floor_of(slice), length_of(slice))) return;
  slices_.push_back(slice);
  if (slices_.size() > most_) thin();
}

bool TimelineSlices::keeps(Floor& floor, std::int64_t length_ns) {
  if (length_ns < floor.shortest_ns) {
    ++floor.left_out;
    return false;
  }
  if (length_ns > floor.shortest_ns || floor.one_in == 1 || draw_() % floor.one_in == 0) return true;
  ++floor.as_long_left_out;
  return false;
}

// Drops the shorter half of the host's slices or, if these are less than a quarter of all, of the GPUs'. If few are
// shorter than the median, many have exactly its length.
void TimelineSlices::thin() {
  std::vector<std::int64_t> host, gpu;
  for (const TimelineSlice& slice : slices_) (is_gpu_work(slice.kind) ? gpu : host).push_back(length_of(slice));
  const bool of_gpu = host.size() < slices_.size() / 4;
  Floor& floor = of_gpu ? gpu_ : host_;
  const std::size_t before = slices_.size(), few = (of_gpu ? gpu : host).size() / 4;
  raise(floor, of_gpu, median(of_gpu ? gpu : host));
  if (before - slices_.size() <= few) halve(floor, of_gpu);
}

void TimelineSlices::raise(Floor& floor, bool of_gpu, std::int64_t shortest_ns) {
  if (shortest_ns == floor.shortest_ns) return;
  floor.left_out += std::exchange(floor.as_long_left_out, 0);
  floor.one_in = 1;
  floor.shortest_ns = shortest_ns;
  floor.left_out += std::erase_if(slices_, [&](const TimelineSlice& slice) {
    return is_gpu_work(slice.kind) == of_gpu && length_of(slice) < shortest_ns;
  });
}

void TimelineSlices::halve(Floor& floor, bool of_gpu) {
  floor.one_in *= 2;
  floor.as_long_left_out += std::erase_if(slices_, [&](const TimelineSlice& slice) {
    return is_gpu_work(slice.kind) == of_gpu && length_of(slice) == floor.shortest_ns && draw_() % 2 == 0;
  });
}

std::vector<std::string> TimelineSlices::left_out() const {
  std::vector<std::string> lines;
  const auto add = [&](const Floor& floor, std::string_view one, std::string_view many) {
    const std::string length = duration_text(floor.shortest_ns);
    if (floor.left_out > 0)
      lines.push_back(fmt::format("{} shorter than {}", count_text(floor.left_out, one, many), length));
    if (floor.as_long_left_out > 0)
      lines.push_back(fmt::format("{} of length {} (about 1 in {} is kept)",
                                  count_text(floor.as_long_left_out, one, many), length, floor.one_in));
  };
  add(host_, "host slice", "host slices");
  add(gpu_, "kernel or copy", "kernels and copies");
  return lines;
}

}  // namespace cli::report
