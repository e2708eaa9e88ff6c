// memory: memory in use on each device: at the start, at the peak and at the end, and its growth from step to step.
#include <deque>
#include <map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/timeline/gpu/memory_levels.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli {
namespace {

std::vector<Column> memory_columns(RowKeys keys) {
  return joined(
      step_columns(keys),
      {{"device", Unit::number, "CUDA ordinal of the GPU in the process; empty for host memory or if unknown"},
       {"source", Unit::text,
        "allocator (PyTorch's) or driver (its allocations and releases, if those of the allocator are unknown)"},
       {"start_bytes", Unit::bytes, "Memory in use at the start of the chosen time, or at its first event"},
       {"peak_bytes", Unit::bytes, "Peak memory in use"},
       {"peak_at_ns", Unit::ns, "Time of the peak, since the start of the trace"},
       {"peak_step", Unit::number, "Training step of the peak"},
       {"end_bytes", Unit::bytes, "Memory in use at the end"},
       {"reserved_peak_bytes", Unit::bytes, "Peak memory that the allocator reserved from the driver"},
       {"reserved_end_bytes", Unit::bytes, "Memory reserved at the end"},
       {"unused_peak_bytes", Unit::bytes, "Peak memory that is reserved and not in use"},
       {"unused_end_bytes", Unit::bytes, "Memory reserved and not in use at the end"},
       {"steps", Unit::count, "Number of whole training steps in the chosen time"},
       {"growth_bytes_per_step", Unit::bytes,
        "Median growth of the memory in use from the end of a step to the end of the next"},
       {"grew_in_steps", Unit::count, "Number of steps in which the memory in use grew"},
       {"allocations", Unit::count, "Number of allocations of GPU memory by the driver, after the first step"},
       {"allocation_ns", Unit::ns, "Total time of these allocations; unknown in recordings"}});
}

// Statistics of a level in each of several time ranges.
class LevelSpans {
 public:
  struct Span {
    bool known = false;
    std::int64_t start = 0, peak = 0, end = 0, peak_ns = 0;
  };

  LevelSpans(const Windows& windows, ProcessId process)
      : windows_(&windows), process_(process), spans_(windows.of(process).size()) {}

  // Called in order of `ns`.
  void set(std::int64_t ns, std::int64_t level) {
    if (known_) hold(ns);
    known_ = true, level_ = level, since_ns_ = ns;
  }
  const std::vector<Span>& spans() {
    if (known_) hold(std::numeric_limits<std::int64_t>::max());
    known_ = false;
    return spans_;
  }

 private:
  // A level also counts at its own moment if another one follows immediately.
  void hold(std::int64_t to_ns) {
    const auto& windows = windows_->of(process_);
    for (std::size_t i = windows_->first_after(process_, since_ns_); i < windows.size(); ++i) {
      if (windows[i].from_ns >= to_ns && windows[i].from_ns > since_ns_) break;
      Span& span = spans_[i];
      if (!span.known) span = {true, level_, level_, level_, std::max(since_ns_, windows[i].from_ns)};
      if (level_ > span.peak) span.peak = level_, span.peak_ns = std::max(since_ns_, windows[i].from_ns);
      span.end = level_;
    }
  }

  const Windows* windows_;
  ProcessId process_;
  std::vector<Span> spans_;
  bool known_ = false;
  std::int64_t level_ = 0, since_ns_ = 0;
};

class MemoryTable : public Analysis {
 public:
  explicit MemoryTable(const AnalysisContext& context)
      : Analysis(context), host_(context.windows.host()), steps_(whole_steps(context).host()) {
    for (ProcessId id = 0; id < context.catalog.processes.size(); ++id) processes_.emplace_back(*this, id);
  }

  void event(const Event& event, const Facts& facts) override {
    const Track& track = context_.catalog.tracks[event.track];
    OfProcess& process = processes_[track.process];
    process.has_driver_records = process.has_driver_records || facts.get<MemoryFacts>() != nullptr;
    if (is_api_call(event.kind)) return call(track.process, process, event);
    if (const auto* memory = facts.get<MemoryFacts>();
        memory != nullptr && memory->operation == 1 && !memory->asynchronous) {
      if (const auto step = steps_.at(track.process, event.start_ns)) ++process.allocations[{track.group, *step}].count;
    }
    process.levels.event(event, facts, process);
  }

  void finish(ResultTable& table) override {
    std::size_t untold = 0, incomplete = 0;
    for (ProcessId id = 0; id < processes_.size(); ++id) {
      if (!context_.chosen[id]) continue;
      OfProcess& process = processes_[id];
      if (process.devices().empty()) {
        ++(process.levels.misses_allocations() ? incomplete : untold);
        add_unknown(id, table);
        continue;
      }
      for (auto& [device, levels] : process.devices()) {
        if (device >= 0) add_rows(id, device, levels, table);
      }
      const auto host = process.devices().find(kHost);
      if (host != process.devices().end()) add_rows(id, kHost, host->second, table);
    }
    const auto note = [&](std::size_t count, const char* what) {
      if (count > 0) table.notes.push_back(count_text(count, "process", "processes") + ": " + what);
    };
    note(untold, "memory in use is unknown: the trace does not contain it");
    note(incomplete, "memory in use is unknown: some allocations were lost or overwritten");
  }

 private:
  static constexpr std::int64_t kHost = -1;

  struct Levels {
    LevelSpans allocated, reserved, unused, at_steps;
    std::int64_t allocated_now = 0;
  };
  struct Allocations {
    std::int64_t count = 0, ns = 0;
  };
  struct OfProcess final : MemoryLevels::Out {
    OfProcess(const MemoryTable& in, ProcessId process) : table(in), id(process), levels(in.context_.catalog, id) {}
    void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) override {
      const LevelSpans spans(table.host_, id);
      std::map<std::int64_t, Levels>& by_device = which == MemoryLevel::driver ? of_driver : of_allocator;
      Levels& of =
          by_device.try_emplace(device, Levels{spans, spans, spans, LevelSpans(table.steps_, id)}).first->second;
      if (which != MemoryLevel::reserved) {
        of.allocated.set(ns, bytes);
        of.at_steps.set(ns, bytes);
        of.allocated_now = bytes;
      } else {
        of.reserved.set(ns, bytes);
        of.unused.set(ns, bytes - of.allocated_now);
      }
    }

    // Returns true if the trace contains memory of the driver, but none of PyTorch's allocator on a GPU.
    bool uses_driver() const {
      return !of_driver.empty() && (of_allocator.empty() || of_allocator.rbegin()->first == kHost);
    }
    std::map<std::int64_t, Levels>& devices() { return uses_driver() ? of_driver : of_allocator; }

    const MemoryTable& table;
    ProcessId id;
    MemoryLevels levels;
    std::map<std::int64_t, Levels> of_allocator, of_driver;
    bool has_driver_records = false;
    // By device (kHost if unknown), then step index
    std::map<std::pair<std::int64_t, std::size_t>, Allocations> allocations;
    std::map<TrackId, std::int64_t> call_end_ns;  // of the newest allocating call
  };

  // For profiles only: recordings contain allocations.
  void call(ProcessId id, OfProcess& process, const Event& event) {
    if (context_.catalog.processes[id].format == SourceFormat::ring || !is_slice(event) ||
        !is_allocation_name(name_of(event.name)))
      return;
    const auto [last, is_first] = process.call_end_ns.try_emplace(event.track, event.start_ns);
    if (!is_first && event.start_ns < last->second) return;  // a driver call within a runtime call
    last->second = slice_end(event, event.start_ns);
    const auto step = steps_.at(id, event.start_ns);
    if (!step) return;
    Allocations& allocations = process.allocations[{kHost, *step}];
    ++allocations.count;
    allocations.ns += last->second - event.start_ns;
  }

  bool knows_calls(ProcessId id) const {
    const Process& process = context_.catalog.processes[id];
    const auto seen = [&](Kind kind) { return process.counts[static_cast<std::size_t>(kind)] > 0; };
    return process.format == SourceFormat::ring ? processes_[id].has_driver_records
                                                : seen(Kind::runtime) || seen(Kind::driver);
  }

  void append_allocations(std::vector<Cell>& cells, ProcessId id, std::int64_t device,
                          std::optional<std::int64_t> step) const {
    const OfProcess& process = processes_[id];
    const bool is_ring = context_.catalog.processes[id].format == SourceFormat::ring;
    const auto& devices = process.of_allocator;
    const bool one_device =
        std::count_if(devices.begin(), devices.end(), [](const auto& d) { return d.first >= 0; }) <= 1;
    const bool of_device = is_ring || (one_device && (device >= 0 || devices.empty()));
    const auto& steps = steps_.of(id);
    const bool is_first = step && !steps.empty() && steps.front().step == step;
    if (!of_device || steps.empty() || is_first || !knows_calls(id)) return;
    Allocations sum;
    for (const auto& [key, allocations] : process.allocations) {
      if (key.first != (is_ring ? device : kHost) || key.second == 0 || (step && steps[key.second].step != step))
        continue;
      sum.count += allocations.count, sum.ns += allocations.ns;
    }
    append(cells, sum.count, is_ring ? Cell() : Cell(sum.ns));
  }

  // Adds the known allocations of a process whose memory in use is unknown.
  void add_unknown(ProcessId id, ResultTable& table) {
    const auto& windows = host_.of(id);
    for (const AnalysisWindow& window : windows) {
      if (!by(GroupBy::step) && &window != &windows.front()) break;
      std::vector<Cell>& cells = table.rows.emplace_back(step_cells(id, window.step));
      for (int i = 0; i < 11; ++i) cells.emplace_back();
      append(cells, by(GroupBy::step) ? Cell() : cell_of(steps_.of(id).size()), Cell(), Cell());
      append_allocations(cells, id, kHost, window.step);
    }
  }

  void add_rows(ProcessId id, std::int64_t device, Levels& levels, ResultTable& table) {
    const bool by_step = by(GroupBy::step);
    const auto& windows = host_.of(id);
    const std::size_t rows = by_step ? windows.size() : std::min<std::size_t>(1, windows.size());
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<Cell>& cells = table.rows.emplace_back(step_cells(id, windows[i].step));
      append(cells, known_cell(device), processes_[id].uses_driver() ? "driver" : "allocator");
      const LevelSpans::Span allocated = one(levels.allocated.spans(), i, by_step),
                             reserved = one(levels.reserved.spans(), i, by_step),
                             unused = one(levels.unused.spans(), i, by_step);
      const auto cell = [](const LevelSpans::Span& span, std::int64_t bytes) {
        return span.known ? Cell(bytes) : Cell();
      };
      const auto step = allocated.known ? steps_.at(id, allocated.peak_ns) : std::nullopt;
      append(cells, cell(allocated, allocated.start), cell(allocated, allocated.peak),
             cell(allocated, context_.since_start(id, allocated.peak_ns)),
             step ? cell_of(steps_.of(id)[*step].step) : Cell(), cell(allocated, allocated.end),
             cell(reserved, reserved.peak), cell(reserved, reserved.end), cell(unused, unused.peak),
             cell(unused, unused.end));
      append_growth(cells, id, levels, by_step ? windows[i].step : std::nullopt);
      append_allocations(cells, id, device, by_step ? windows[i].step : std::nullopt);
    }
  }

  // Returns one of the spans, or all of them combined.
  static LevelSpans::Span one(const std::vector<LevelSpans::Span>& spans, std::size_t at, bool by_step) {
    if (by_step) return spans[at];
    LevelSpans::Span sum;
    for (const LevelSpans::Span& span : spans) {
      if (!span.known) continue;
      if (!sum.known) sum = span;
      if (span.peak > sum.peak) sum.peak = span.peak, sum.peak_ns = span.peak_ns;
      sum.end = span.end;
    }
    return sum;
  }

  void append_growth(std::vector<Cell>& cells, ProcessId id, Levels& levels, std::optional<std::int64_t> step) const {
    const auto& spans = levels.at_steps.spans();
    const auto& steps = steps_.of(id);
    std::vector<std::int64_t> growth;
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i - 1].known && spans[i].known && (!step || steps[i].step == step))
        growth.push_back(spans[i].end - spans[i - 1].end);
    }
    cells.push_back(step ? Cell() : cell_of(steps.size()));
    if (growth.empty()) return append(cells, Cell(), Cell());
    const std::int64_t grew = std::count_if(growth.begin(), growth.end(), [](std::int64_t bytes) { return bytes > 0; });
    std::sort(growth.begin(), growth.end());
    append(cells, growth[(growth.size() - 1) / 2], grew);
  }

  const Windows host_;  // allocators and calls use host time
  const Windows steps_;
  std::deque<OfProcess> processes_;
};

}  // namespace

AnalysisEntry memory_analysis() {
  return analysis_entry<MemoryTable, memory_columns>(
      {.name = "memory",
       .meaning = "Memory of each device: at the start, peak and end; reserved but unused; growth per step",
       .by = {GroupBy::none, GroupBy::step},
       .needs = {.kinds = kinds_of({Kind::memory, Kind::instant, Kind::runtime, Kind::driver})}});
}

}  // namespace cli
