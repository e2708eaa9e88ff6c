#include "cli/merge/input_reading.h"

#include <algorithm>
#include <utility>

#include "cli/io/units.h"
#include "cli/merge/align.h"
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

// The events of one input on their way to its sorter.
class Intake : public EventSink {
 public:
  Intake(ReadInput& input, std::size_t number, const OrderedWork& work, EventSorter& sorter, Progress& progress, EventChoice choice)
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

}  // namespace

std::string reading_text(const std::vector<TraceInput>& inputs) {
  return "reading " + (inputs.size() == 1 ? inputs[0].path : count_text(inputs.size(), "trace"));
}

InputReading::InputReading(const std::vector<TraceInput>& inputs, const MergeOptions& options)
    : from_(inputs),
      options_(options),
      room_(options.memory_bytes, inputs.size(), options.scratch_folder),
      work_(inputs.size(), std::min(options.threads != 0 ? options.threads : usable_cores(), kMostSorters)),
      progress_(reading_text(inputs)),
      inputs_(inputs.size()) {}

void InputReading::read(const Step& each) {
  work_.run({[this](std::size_t i) { read_one(i); }, [this](std::size_t i) { join(i); }, [&](std::size_t i) { each(i, inputs_[i]); }});
  progress_.done();
  finish();
}

void InputReading::read_one(std::size_t number) {
  ReadInput& input = inputs_[number];
  const std::string& path = from_[number].path;
  input.catalog.shapes.limit_text(std::max(kMostTextOfShapes / inputs_.size(), kLeastTextOfShapes));
  EventSorter sorter(room_, is_alone());
  Intake intake(input, number, work_, sorter, progress_, options_.choice);
  input.is_merged = is_merged_file(path);
  if (input.is_merged) {
    MergedReader reader(path);
    reader.read(input.catalog, intake);
    input.fits = reader.fits();
  } else {
    open_trace(path)->read(input.catalog, intake);
  }
  intake.finish();
  input.runs = sorter.finish();
}

void InputReading::join(std::size_t number) {
  ReadInput& input = inputs_[number];
  input.first_process = static_cast<ProcessId>(catalog_.processes.size());
  input.ids = join_catalog(input.catalog, catalog_);
  set_rank(catalog_, input.first_process, from_[number].path, from_[number].rank);
  if (const std::string fault = contradiction(catalog_); !fault.empty()) throw Error(Exit::usage, fault);
  check_ranks(catalog_);
  std::optional<std::uint32_t> clock;
  if (input.is_merged) {  // what was estimated when it was made stays true; its events come on the axis
    clock = clocks_.of_merged();
    reported_.insert(reported_.end(), input.fits.begin(), input.fits.end());
  } else if (input.timed) {
    clock = clocks_.of_process(*input.timed);
  }
  for (std::size_t i = input.first_process; i < catalog_.processes.size(); ++i) {
    if (input.is_merged) catalog_.processes[i].clock = -1;
    clock_of_.push_back(clock ? *clock : clocks_.of_process(catalog_.processes[i]));
  }
  input.clock = clock.value_or(0);
}

void InputReading::finish() {
  for (std::string& missing : missing_data(catalog_)) warnings_.push_back(std::move(missing));
  std::vector<ClockFit>& fits = clocks_.fits();
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    const std::int64_t rank = catalog_.processes[i].rank;
    if (rank >= 0) fits[clock_of_[i]].ranks.push_back(rank);
  }
  for (ClockFit& fit : fits) {
    std::sort(fit.ranks.begin(), fit.ranks.end());
    fit.ranks.erase(std::unique(fit.ranks.begin(), fit.ranks.end()), fit.ranks.end());  // phases
  }
  (options_.align ? align_methods().back() : align_methods().front()).make()->fit(fits);
  for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
    Process& process = catalog_.processes[i];
    const ClockFit& fit = fits[clock_of_[i]];
    if (process.first_ns == 0 && process.last_ns == 0) continue;
    process.first_ns = fit.on_axis(process.first_ns), process.last_ns = fit.on_axis(process.last_ns);
    if (process.first_unclamped_ns != 0) process.first_unclamped_ns = fit.on_axis(process.first_unclamped_ns);
  }
  if (std::string apart = apart_in_time(catalog_); !apart.empty()) warnings_.push_back(std::move(apart));
  for (std::uint32_t clock = 0; clock < fits.size(); ++clock) {
    if (!clocks_.reported(clock)) continue;
    for (std::size_t i = 0; i < catalog_.processes.size(); ++i) {
      if (clock_of_[i] == clock) catalog_.processes[i].clock = static_cast<std::int64_t>(reported_.size());
    }
    reported_.push_back(fits[clock]);
  }
  for (std::string& phases : name_phases(catalog_)) warnings_.push_back(std::move(phases));
  sorted_ = sort_processes(catalog_);
}

}  // namespace cli
