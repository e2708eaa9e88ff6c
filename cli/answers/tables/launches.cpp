// launches: the time between the launch and the start of work, and the number of waiting launches. Memory: 8 bytes per
// launch of the current process, for exact percentiles.
#include <iterator>
#include <map>
#include <unordered_map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/percentile.h"
#include "cli/timeline/gpu/launch_queue.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli {
namespace {

constexpr std::int64_t kLongCall_ns = 50'000, kLongerCall_ns = 100'000;  // HTA's cutoffs

std::vector<Column> launch_columns(RowKeys keys) {
  return joined(
      step_columns(keys),
      {{"count", Unit::count, "Number of launches (kernel, graph, memcpy or memset) with started work"},
       {"graphs", Unit::count, "Number of graph launches; each counts once, however many nodes the graph has"},
       {"latency_min_ns", Unit::ns,
        "Shortest time from the return of the call to the start of its first work; 0 if the work began earlier"},
       {"latency_median_ns", Unit::ns, "Median latency"},
       {"latency_p95_ns", Unit::ns, "95th percentile of the latency"},
       {"latency_max_ns", Unit::ns, "Longest latency"},
       {"latency_over_100us", Unit::count, "Number of launches with a latency of more than 100 us"},
       {"calls_over_50us", Unit::count, "Number of launch calls that took more than 50 us"},
       {"calls_over_100us", Unit::count, "Number of launch calls that took more than 100 us"},
       {"shorter_than_call", Unit::count, "Number of launches with work shorter than the call"},
       {"queue_mean", Unit::count,
        "Mean number of waiting launches over time, from the start of the call to the start of its first work"},
       {"queue_p95", Unit::count, "95th percentile of the number of waiting launches over time"},
       {"queue_max", Unit::count, "Largest number of waiting launches"}});
}

// Time per number of waiting launches of a process, in each of its windows.
class QueueLengths final : public Changes {
 public:
  explicit QueueLengths(const AnalysisContext& context, ProcessId process)
      : context_(context),
        process_(process),
        ns_(context.windows.are_bounded() ? kEarliest_ns : 0),
        begun_(context.windows.are_bounded()) {}

  void add(std::int64_t ns, double change) override {
    hold(ns);
    length_ += static_cast<std::int64_t>(change);
  }
  // From here on, no launch waits.
  void finish() {
    if (context_.windows.are_bounded()) hold(kLatest_ns);
    close_window();
  }
  // By window index; if windows are not steps, all count as the first.
  const std::map<std::int64_t, std::int64_t>* of(std::size_t window) const {
    const auto found = lengths_.find(window);
    return found == lengths_.end() ? nullptr : &found->second;
  }

 private:
  // The current length lasted until `ns`.
  void hold(std::int64_t ns) {
    const auto& windows = context_.windows.of(process_);
    for (std::size_t i = context_.windows.first_after(process_, ns_);
         begun_ && i < windows.size() && windows[i].from_ns < ns; ++i) {
      const std::int64_t held_ns = std::min(ns, windows[i].to_ns) - std::max(ns_, windows[i].from_ns);
      if (held_ns > 0) ns_of(windows[i].step ? i : 0) += held_ns;
    }
    ns_ = ns;
    begun_ = true;
  }

  // Returns the counter of the current length.
  std::int64_t& ns_of(std::size_t window) {
    if (window != window_) close_window();
    window_ = window;
    const auto length = static_cast<std::size_t>(length_);
    if (length >= in_window_.size()) in_window_.resize(length + 1);
    return in_window_[length];
  }
  void close_window() {
    for (std::size_t length = 0; length < in_window_.size(); ++length) {
      if (in_window_[length] > 0) lengths_[window_][static_cast<std::int64_t>(length)] += in_window_[length];
    }
    in_window_.clear();
  }

  const AnalysisContext& context_;
  ProcessId process_;
  std::int64_t ns_, length_ = 0;
  bool begun_;
  std::size_t window_ = 0;               // the window that contains the current time
  std::vector<std::int64_t> in_window_;  // ns by length in that window, not yet in lengths_
  std::map<std::size_t, std::map<std::int64_t, std::int64_t>> lengths_;  // ns, by window and length
};

class LaunchesTable : public Analysis {
 public:
  explicit LaunchesTable(const AnalysisContext& context)
      : Analysis(context), names_(context.catalog.strings), rows_(context.catalog.processes.size()) {}

  void event(const Event& event, const Facts&) override {
    if (event.correlation == 0 || !is_slice(event) || !names_[event.name].launches) return;
    const Track& track = context_.catalog.tracks[event.track];
    process_of(track.process).queue.launch(event.start_ns, launch_key(track, event.correlation));
  }
  void work(const GpuWork& work) override {
    if (work.event->correlation == 0) return;
    const std::uint64_t key = launch_key(context_.catalog.tracks[work.event->track], work.event->correlation);
    OfProcess& process = process_of(work.process);
    if (!process.queue.work(work.start_ns, key, process.lengths)) return;
    const auto window = window_of(context_.windows, work);
    if (work.call == nullptr || !window) return;
    Launches& launches = process.launches[context_.windows.of(work.process)[*window].step ? *window : 0];
    const std::int64_t latency_ns = std::max<std::int64_t>(0, work.start_ns - work.call->end_ns),
                       call_ns = work.call->end_ns - work.call->start_ns;
    launches.latency_ns.push_back(latency_ns);
    launches.graphs += names_[work.call->name].launches_graph;
    launches.late += latency_ns > kLongerCall_ns;
    launches.long_calls += call_ns > kLongCall_ns;
    launches.longer_calls += call_ns > kLongerCall_ns;
    launches.shorter += work.end_ns - work.start_ns < call_ns;
  }
  // Computes the process's rows and frees its launches.
  void end_of(ProcessId id) override {
    if (!context_.chosen[id] || !rows_[id].empty()) return;
    OfProcess& process = process_of(id);
    process.queue.finish();
    given_up_ += process.queue.given_up();
    process.lengths.finish();
    const auto& windows = context_.windows.of(id);
    for (std::size_t i = 0; i < windows.size() && (i == 0 || windows[i].step); ++i)
      rows_[id].push_back(row(id, process, i));
    processes_.erase(id);
  }

  void finish(ResultTable& table) override {
    for (ProcessId id = 0; id < rows_.size(); ++id) {
      end_of(id);
      std::move(rows_[id].begin(), rows_[id].end(), std::back_inserter(table.rows));
    }
    if (given_up_ > 0) {
      table.notes.push_back(std::to_string(given_up_) +
                            " launches are excluded: their work is not in the trace, or began after " +
                            std::to_string(LaunchQueue::kMostWaiting) + " later launches");
    }
  }

 private:
  struct Launches {
    std::vector<std::int64_t> latency_ns;
    std::int64_t graphs = 0, late = 0, long_calls = 0, longer_calls = 0, shorter = 0;
  };
  struct OfProcess {
    OfProcess(const AnalysisContext& context, ProcessId id) : lengths(context, id) {}
    LaunchQueue queue;
    QueueLengths lengths;
    std::map<std::size_t, Launches> launches;  // by window, as in QueueLengths
  };

  OfProcess& process_of(ProcessId id) { return processes_.try_emplace(id, context_, id).first->second; }

  std::vector<Cell> row(ProcessId id, OfProcess& process, std::size_t window) {
    std::vector<Cell> cells = step_cells(id, context_.windows.of(id)[window].step);
    Launches& launches = process.launches[window];
    std::vector<std::int64_t>& ns = launches.latency_ns;
    append(cells, ns.size(), launches.graphs);
    if (ns.empty()) {
      append(cells, Cell(), Cell(), Cell(), Cell());
    } else {
      const Spread latency = spread_of(ns);
      append(cells, latency.least, latency.median, latency.p95, latency.most);
    }
    append(cells, launches.late, launches.long_calls, launches.longer_calls, launches.shorter);
    if (const auto* lengths = process.lengths.of(window)) append_queue(cells, *lengths);
    return cells;
  }

  static void append_queue(std::vector<Cell>& cells, const std::map<std::int64_t, std::int64_t>& lengths) {
    std::int64_t whole_ns = 0, below_ns = 0, p95 = 0;
    double weighted = 0;
    for (const auto& [length, ns] : lengths)
      whole_ns += ns, weighted += static_cast<double>(length) * static_cast<double>(ns);
    for (const auto& [length, ns] : lengths) {
      below_ns += ns;
      p95 = length;
      if (static_cast<double>(below_ns) >= 0.95 * static_cast<double>(whole_ns)) break;
    }
    append(cells, weighted / static_cast<double>(whole_ns), p95, lengths.rbegin()->first);
  }

  NameClasses names_;
  std::unordered_map<ProcessId, OfProcess> processes_;  // processes that have not ended
  std::vector<std::vector<std::vector<Cell>>> rows_;    // by ProcessId, of processes that have ended
  std::uint64_t given_up_ = 0;
};

}  // namespace

AnalysisEntry launches_analysis() {
  return analysis_entry<LaunchesTable, launch_columns>(
      {.name = "launches",
       .meaning = "Latency from launch to start of GPU work, and number of waiting launches",
       .by = {GroupBy::rank, GroupBy::step},
       .needs = {.kinds = kinds_of({Kind::runtime, Kind::driver}), .any_time = true}});
}

}  // namespace cli
