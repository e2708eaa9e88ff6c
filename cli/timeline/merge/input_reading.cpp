#include "cli/timeline/merge/input_reading.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/inputs/input_formats.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/header.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/merge/catalogs.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/timeline/merge/ranks.h"
#include "cli/timeline/merge/runs.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_numbers.h"
#include "cli/trace/event_times.h"

namespace cli {
namespace {

constexpr std::size_t kLeastTextOfShapes = 128 << 10;  // per input

// Among unneeded events, finds those that determine a process's first and last time.
class Bounds {
 public:
  void add(ProcessId process, const Event& event) {
    if (event.kind == Kind::flow) return;
    if (process >= of_.size()) of_.resize(process + std::size_t{1});
    Ends& ends = of_[process];
    if (!ends.any || event.start_ns < ends.first.start_ns) ends.first = event;
    const std::int64_t end_ns = slice_end(event, event.start_ns);
    if (!ends.any || end_ns > ends.end_ns) {
      ends.last = event;
      ends.end_ns = end_ns;
    }
    ends.any = true;
  }
  void give(EventSink& sink) const {
    for (const Ends& ends : of_) {
      if (ends.any) {
        sink.event(ends.first, {});
        sink.event(ends.last, {});
      }
    }
  }

 private:
  struct Ends {
    Event first, last;
    std::int64_t end_ns = 0;  // of `last`
    bool any = false;
  };
  std::vector<Ends> of_;  // by ProcessId
};

// Passes the events of one input on to its sorter.
class Intake : public EventSink {
 public:
  Intake(ReadInput& input, std::size_t number, const OrderedWork& work, EventSorter& sorter, Progress& progress,
         EventChoice choice)
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
  ReadInput& input_;
  std::size_t number_;
  const OrderedWork& work_;
  EventSorter& sorter_;
  ProgressPart progress_;
  EventChoice choice_;
  Bounds bounds_;
};

// Returns the clock that a file claims to be timed by; "" if unknown.
std::string clock_of(const std::string& path) {
  try {
    if (!is_ring(PlainFile(path).peek(kProbeBytes))) return {};
    return clock_name(ring::describe_recording(ring::RingFile(path)));
  } catch (const Error&) {
    return {};  // the reader reports the error
  }
}

// Returns true if all inputs have the same clock, so that nothing has to be aligned, which saves the walk that finds
// collectives. False for a merged file, because it may have several clocks.
bool are_of_one_clock(const std::vector<TraceInput>& inputs) {
  if (inputs.size() == 1 && !ttrace::is_merged_file(inputs[0].path)) return true;
  const std::string first = clock_of(inputs[0].path);
  return !first.empty() && std::all_of(inputs.begin() + 1, inputs.end(),
                                       [&](const TraceInput& input) { return clock_of(input.path) == first; });
}

std::vector<std::string> paths_of(const std::vector<TraceInput>& inputs) {
  std::vector<std::string> paths;
  for (const TraceInput& input : inputs) paths.push_back(input.path);
  return paths;
}

}  // namespace

std::string reading_text(const std::vector<TraceInput>& inputs) {
  return "reading " + (inputs.size() == 1 ? inputs[0].path : count_text(inputs.size(), "trace"));
}

InputReading::InputReading(const std::vector<TraceInput>& inputs, const MergeOptions& options)
    : from_(inputs),
      options_(options),
      room_(options.memory_bytes, inputs.size(), options.scratch_directory),
      threads_(options.threads != 0 ? options.threads : usable_cores()),
      work_(inputs.size(), std::min(threads_, kMostSorters)),
      progress_(reading_text(inputs)),
      inputs_(inputs.size()),
      named_ranks_(rank_names(paths_of(inputs))),
      clocks_(options.clock_of_each_rank),
      looks_for_calls_(options.align && (inputs.size() > 1 || options.aligns_parts) &&
                       (options.clock_of_each_rank || !are_of_one_clock(inputs))) {}

void InputReading::read(const Step& each) {
  work_.run({[this](std::size_t i) { read_one(i); }, [this](std::size_t i) { join(i); },
             [&](std::size_t i) { each(i, inputs_[i]); }});
  progress_.done();
  finish();
}

void InputReading::read_one(std::size_t number) {
  ReadInput& input = inputs_[number];
  const std::string& path = from_[number].path;
  input.catalog.shapes.limit_text(std::max(kMostTextOfShapes / inputs_.size(), kLeastTextOfShapes));
  EventSorter sorter(room_, is_alone());
  Intake intake(input, number, work_, sorter, progress_, options_.choice);
  if (ttrace::is_merged_file(path)) {
    read_merged(path, input, intake);
  } else {
    std::unique_ptr<ReaderMemory> memory = take_memory();
    open_trace(path, {threads_ / work_.threads(), memory.get(), !options_.choice})->read(input.catalog, intake);
    put_back(std::move(memory));
    give_named_rank(input.catalog, 0, named_ranks_[number]);
  }
  intake.finish();
  input.runs = sorter.finish();
  look_through(input);
}

// An unused memory belongs to an earlier input, because inputs are begun in order.
std::unique_ptr<ReaderMemory> InputReading::take_memory() {
  const std::lock_guard<std::mutex> lock(memories_mutex_);
  ++begun_;
  if (memories_.empty()) return std::make_unique<ReaderMemory>();
  std::unique_ptr<ReaderMemory> memory = std::move(memories_.back());
  memories_.pop_back();
  return memory;
}

// Freed by the thread that used it, after all inputs have been begun.
void InputReading::put_back(std::unique_ptr<ReaderMemory> memory) {
  const std::lock_guard<std::mutex> lock(memories_mutex_);
  if (begun_ < inputs_.size()) memories_.push_back(std::move(memory));
}

void InputReading::read_merged(const std::string& path, ReadInput& input, EventSink& sink) {
  auto reader = std::make_unique<ttrace::MergedReader>(path);
  reader->read_lists(input.catalog);
  if (options_.aligns_parts && are_wall_clocks(reader->fits())) {
    input.part = std::move(reader);
    return;
  }
  input.is_merged = true;
  input.fits = reader->fits();
  reader->read_events(sink, {}, is_alone());
}

// Called in order and with a complete catalogue.
void InputReading::look_through(ReadInput& input) {
  struct Look : EventSink {
    void event(const Event& event, const Facts& facts) override {
      if (calls) calls->event(event, facts, false);
      if (steps) steps->event(event, facts);
    }
    void end_of(ProcessId process) override {
      if (calls) calls->end_of(process);
      if (steps) steps->end_of(process);
    }
    std::unique_ptr<CallCollector> calls;  // null if collectives are not needed
    std::optional<StepFinder> steps;
  } look;
  if (looks_for_calls_ && !input.is_merged && may_have_collectives(input.catalog))
    look.calls = make_call_collector(input.catalog, CallDetail::calls);
  if (options_.own_times) look.steps.emplace(input.catalog);
  if (!look.calls && !look.steps) return;
  if (input.part) {
    input.part->read_own_times(look, {}, is_alone());
  } else {
    RunWalk runs(room_, input.catalog.shapes);
    runs.add(std::move(input.runs), 0, nullptr);
    runs.walk({}, look);
    input.runs = runs.take();
  }
  if (look.calls) input.calls = look.calls->take();
  if (look.steps) input.steps = look.steps->take();
}

// Returns the clock of each of its processes, the last ones in the catalogue. An input has one clock, but a merged part
// has those of its own inputs.
std::vector<std::uint32_t> InputReading::clocks_of(const ReadInput& input) {
  std::vector<std::uint32_t> clocks;
  std::optional<std::uint32_t> of_all;
  if (input.is_merged) of_all = clocks_.of_merged();  // its events are on the axis
  if (input.timed && !input.is_merged) of_all = clocks_.of_process(*input.timed);
  std::map<std::int64_t, std::uint32_t> of_part;  // by Process::clock
  for (std::size_t i = input.first_process; i < catalog_.processes.size(); ++i) {
    const Process& process = catalog_.processes[i];
    const auto known = of_part.find(process.clock);
    const bool is_known = input.part && process.clock >= 0 && !options_.clock_of_each_rank && known != of_part.end();
    clocks.push_back(of_all ? *of_all : is_known ? known->second : clocks_.of_process(process));
    of_part.try_emplace(process.clock, clocks.back());
  }
  return clocks;
}

void InputReading::join(std::size_t number) {
  ReadInput& input = inputs_[number];
  input.first_process = static_cast<ProcessId>(catalog_.processes.size());
  input.ids = join_catalog(input.catalog, catalog_);
  set_rank(catalog_, input.first_process, from_[number].path, from_[number].rank);
  if (const std::string fault = contradiction(catalog_); !fault.empty() && !options_.force)
    throw Error(Exit::usage, fault);
  continue_device_ranks(catalog_, input.first_process);
  check_ranks(catalog_);
  const std::vector<std::uint32_t> clocks = clocks_of(input);
  clock_of_.insert(clock_of_.end(), clocks.begin(), clocks.end());
  if (input.is_merged) {  // alignment of the merged file is kept
    reported_.insert(reported_.end(), input.fits.begin(), input.fits.end());
    for (std::size_t i = input.first_process; i < catalog_.processes.size(); ++i) catalog_.processes[i].clock = -1;
  }
  input.clock = clocks.empty() ? 0 : clocks[0];
  join_calls(std::move(input.calls), input.first_process, calls_);
}

void InputReading::align(std::vector<ClockFit>& fits) {
  keep_wall_clocks(fits);
  calls_.processes.resize(catalog_.processes.size());
  const bool any = std::any_of(calls_.processes.begin(), calls_.processes.end(),
                               [](const ProcessCalls& of) { return !of.lanes.empty(); });
  if (options_.align && fits.size() > 1 && any)
    align_by_collectives({catalog_, calls_, clock_of_, clocks_.merged()}, fits);
  calls_ = {};
}

void InputReading::finish() {
  std::string by_device = device_ranks_text(catalog_), counted = count_ranks(catalog_);
  for (std::string& missing : missing_data(catalog_)) warnings_.push_back(std::move(missing));
  for (std::string* ranks : {&by_device, &counted}) {
    if (!ranks->empty()) warnings_.push_back(std::move(*ranks));
  }
  std::vector<ClockFit>& fits = clocks_.fits();
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    const std::int64_t rank = catalog_.processes[i].rank;
    if (rank >= 0) fits[clock_of_[i]].ranks.push_back(rank);
  }
  for (ClockFit& fit : fits) {
    std::sort(fit.ranks.begin(), fit.ranks.end());
    fit.ranks.erase(std::unique(fit.ranks.begin(), fit.ranks.end()), fit.ranks.end());  // phases have equal ranks
  }
  align(fits);
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    Process& process = catalog_.processes[i];
    const ClockFit& fit = fits[clock_of_[i]];
    if (process.first_ns == 0 && process.last_ns == 0) continue;
    process.first_ns = fit.on_axis(process.first_ns);
    process.last_ns = fit.on_axis(process.last_ns);
    if (process.first_unclamped_ns != 0) process.first_unclamped_ns = fit.on_axis(process.first_unclamped_ns);
  }
  std::vector<std::string> phases = name_phases(catalog_);
  std::string unrelated = contradiction(catalog_);
  if (unrelated.empty()) unrelated = separate_runs_text(catalog_);
  if (!unrelated.empty() && !options_.force)
    throw Error(Exit::usage, unrelated + "; to merge them anyway, use tracetool merge --force");
  if (unrelated.empty()) unrelated = apart_in_time(catalog_);
  if (!unrelated.empty()) warnings_.push_back(std::move(unrelated));
  for (std::uint32_t clock = 0; clock < fits.size(); ++clock) {
    if (!clocks_.reported(clock)) continue;
    for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
      if (clock_of_[i] == clock) catalog_.processes[i].clock = static_cast<std::int64_t>(reported_.size());
    }
    reported_.push_back(fits[clock]);
  }
  for (std::string& phase : phases) warnings_.push_back(std::move(phase));
  sorted_ = sort_processes(catalog_);
}

std::vector<ProcessSteps> InputReading::take_steps() {
  std::vector<ProcessSteps> steps(sorted_.size());
  for (ReadInput& input : inputs_) {
    for (std::size_t i = 0; i < input.steps.size(); ++i)
      steps[sorted_[input.first_process + i]] = std::move(input.steps[i]);
  }
  number_alike(steps, catalog_, ProcessClocks(catalog_, reported_));
  return steps;
}

}  // namespace cli
