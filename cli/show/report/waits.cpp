#include <algorithm>
#include <map>

#include "cli/answers/tables/cells.h"
#include "cli/show/report/section.h"
#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/trace/event_times.h"

namespace cli::report {
namespace {

using DeviceOf = std::pair<ProcessId, std::int64_t>;

// The times in which communication ran on a device without compute.
class ExposedTimes {
 public:
  void add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns) {
    intervals_.add(work_class, start_ns, end_ns, *this);
  }
  void finish() { intervals_.finish(*this); }

  // Calls each(from_ns, to_ns) for the exposed parts of the time range.
  template <typename Each>
  void each_in(std::int64_t from_ns, std::int64_t to_ns, Each&& each) const {
    auto at = std::upper_bound(times_.begin(), times_.end(), from_ns,
                               [](std::int64_t ns, const auto& time) { return ns < time.second; });
    for (; at != times_.end() && at->first < to_ns; ++at)
      each(std::max(at->first, from_ns), std::min(at->second, to_ns));
  }

  // Callbacks of intervals_.
  void gap(std::int64_t, std::int64_t) {}
  void busy(std::int64_t, std::int64_t) {}
  void ran(WorkClass, std::int64_t, std::int64_t) {}
  void exposed(std::int64_t from_ns, std::int64_t to_ns) { times_.emplace_back(from_ns, to_ns); }

 private:
  GpuIntervals intervals_;
  std::vector<std::pair<std::int64_t, std::int64_t>> times_;  // sorted
};

struct WaitSum {
  std::int64_t collectives = 0, wait_ns = 0, exposed_ns = 0;
};

struct OneWait {
  DeviceOf device;
  std::int64_t from_ns = 0, to_ns = 0;
  ProcessId waited_for = 0;
};

class Waits : public TablesObserver {
 public:
  Waits(const AnalysisContext& context, WaitTables& tables)
      : context_(context),
        steps_(context.steps, true,
               std::vector<TimeWindow>(context.catalog.processes.size(), {kEarliest_ns, kLatest_ns})),
        tables_(tables) {}

  void work(const GpuWork& work) override {
    exposed_[{work.process, work.device}].add(work.work_class, work.start_ns, work.end_ns);
  }

  void finish(const std::vector<ResultTable>&) override {
    for (const MatchedCollective& each : matched().collectives) {
      if (is_shown(context_, each)) add(each);
    }
    expose();
    write_by_communicator();
    write_by_rank();
    tables_.by_step = {"step_waits",
                       {kStepColumn,
                        {"for_rank", Unit::number, "Rank that was waited for"},
                        {"exposed_ns", Unit::ns, "Exposed time of all ranks' waits for it"}}};
    for (const auto& [where, exposed_ns] : by_step_)
      tables_.by_step.rows.push_back({where.first, where.second, exposed_ns});
  }

 private:
  const MatchedCollectives& matched() const { return context_.collectives->matched; }
  const CollectiveCalls& calls() const { return context_.collectives->calls; }

  void add(const MatchedCollective& collective) {
    const CollectiveTimes times = times_of(matched(), calls(), collective);
    if (!times.all_started) return;
    const auto some = matched().calls_of(collective);
    const ProcessId last = some[times.last_call].process;
    for (const MatchedCall& each : some) {
      const CollectiveCall& call = call_of(calls(), each);
      if (call.gpu_start_ns == kNoTime || !context_.chosen[each.process]) continue;
      const std::int64_t wait_ns = times.last_start_ns - call.gpu_start_ns;
      WaitSum& sum = by_communicator_[{each.process, matched().groups[collective.group].communicator}];
      ++sum.collectives;
      sum.wait_ns += wait_ns;
      if (each.process == last) continue;
      WaitSum& for_rank = by_rank_[{each.process, last}];
      ++for_rank.collectives;
      for_rank.wait_ns += wait_ns;
      waits_.push_back({{each.process, context_.catalog.tracks[call.gpu_track].group},
                        call.gpu_start_ns,
                        times.last_start_ns,
                        last});
    }
  }

  // If waits on a device overlap, the time counts for the wait that began first.
  void expose() {
    for (auto& [device, times] : exposed_) times.finish();
    std::ranges::sort(waits_, [](const OneWait& a, const OneWait& b) {
      return std::tie(a.device, a.from_ns, a.to_ns) < std::tie(b.device, b.from_ns, b.to_ns);
    });
    const OneWait* before = nullptr;
    std::int64_t counted_to_ns = kEarliest_ns;
    for (const OneWait& wait : waits_) {
      if (before == nullptr || before->device != wait.device) counted_to_ns = kEarliest_ns;
      before = &wait;
      const auto device = exposed_.find(wait.device);
      if (device == exposed_.end()) continue;
      const ProcessId process = wait.device.first;
      device->second.each_in(
          std::max(wait.from_ns, counted_to_ns), wait.to_ns, [&](std::int64_t from_ns, std::int64_t to_ns) {
            context_.windows.each_part(
                process, from_ns, to_ns, [&](std::size_t, std::int64_t start_ns, std::int64_t end_ns) {
                  by_rank_[{process, wait.waited_for}].exposed_ns += end_ns - start_ns;
                  steps_.each_part(process, start_ns, end_ns,
                                   [&](std::size_t window, std::int64_t part_ns, std::int64_t part_end_ns) {
                                     const std::int64_t rank = context_.catalog.processes[wait.waited_for].rank;
                                     if (const auto& step = steps_.of(process)[window].step; step && rank >= 0)
                                       by_step_[{*step, rank}] += part_end_ns - part_ns;
                                   });
                });
          });
      counted_to_ns = std::max(counted_to_ns, wait.to_ns);
    }
  }

  void write_by_communicator() {
    tables_.by_communicator = {
        "waits",
        joined(process_columns(context_.keys),
               {kCommunicatorColumn,
                kDescriptionColumn,
                kEpochColumn,
                {"collectives", Unit::count, "Number of collectives with a known wait of the rank"},
                {"wait_ns", Unit::ns, "Time from its start to the last start, summed over them"}}),
        {},
        {}};
    for (const auto& [where, sum] : by_communicator_) {
      std::vector<Cell> cells;
      append_process(cells, context_.catalog.processes[where.first], context_.keys);
      append_communicator(cells, calls().communicators[where.second]);
      append(cells, sum.collectives, sum.wait_ns);
      tables_.by_communicator.rows.push_back(std::move(cells));
    }
  }

  void write_by_rank() {
    tables_.by_rank = {"waits_for",
                       joined(process_columns(context_.keys),
                              {{"for_rank", Unit::number, "Rank that started last"},
                               {"collectives", Unit::count, "Number of collectives in which it started last"},
                               {"wait_ns", Unit::ns,
                                "Time from the start of the waiting rank to that of the last rank, summed over them"},
                               {"exposed_ns", Unit::ns, "Part of wait_ns without compute"}})};
    for (const auto& [where, sum] : by_rank_) {
      std::vector<Cell> cells;
      append_process(cells, context_.catalog.processes[where.first], context_.keys);
      const std::int64_t rank = context_.catalog.processes[where.second].rank;
      append(cells, known_cell(rank), sum.collectives, sum.wait_ns, sum.exposed_ns);
      tables_.by_rank.rows.push_back(std::move(cells));
    }
  }

  const AnalysisContext& context_;
  const Windows steps_;
  WaitTables& tables_;
  std::map<DeviceOf, ExposedTimes> exposed_;
  std::vector<OneWait> waits_;
  std::map<std::pair<ProcessId, CommunicatorId>, WaitSum> by_communicator_;
  std::map<std::pair<ProcessId, ProcessId>, WaitSum> by_rank_;             // by waiting rank and awaited rank
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> by_step_;  // by step and rank
};

}  // namespace

TablesObserverEntry waits_observer(WaitTables& tables) {
  ObserverNeeds needs;
  needs.collectives = true;
  needs.any_time = true;  // exposed time depends on work before the chosen time
  return {needs, [&tables](const AnalysisContext& context) { return std::make_unique<Waits>(context, tables); }};
}

}  // namespace cli::report
