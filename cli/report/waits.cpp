#include "cli/report/waits.h"

#include <map>
#include <utility>

#include "cli/analyze/collective_columns.h"

namespace cli {
namespace {

struct WaitSum {
  std::int64_t collectives = 0, wait_ns = 0;
};

class Waits : public TablesObserver {
 public:
  Waits(const AnalysisContext& context, ResultTable& table) : context_(context), table_(table) {}

  void finish(const std::vector<ResultTable>&) override {
    for (const MatchedCollective& each : matched().collectives) {
      if (is_shown(context_, each)) add(each);
    }
    table_ = {"waits", joined(process_columns(context_.keys), {kCommunicatorColumn, kDescriptionColumn, kEpochColumn,
                                                               {"collectives", Unit::count, "In which it is known how long the rank waited"},
                                                               {"wait_ns", Unit::ns, "From its starts to the last rank's, summed over them"}}), {}, {}};
    for (const auto& [where, sum] : sums_) {
      std::vector<Cell> cells;
      append_process(cells, context_.catalog.processes[where.first], context_.keys);
      append_communicator(cells, calls().communicators[where.second]);
      append(cells, sum.collectives, sum.wait_ns);
      table_.rows.push_back(std::move(cells));
    }
  }

 private:
  const MatchedCollectives& matched() const { return context_.collectives->matched; }
  const CollectiveCalls& calls() const { return context_.collectives->calls; }

  void add(const MatchedCollective& collective) {
    const CollectiveTimes times = times_of(matched(), calls(), collective);
    if (!times.all_started) return;
    for (const MatchedCall& each : matched().calls_of(collective)) {
      const CollectiveCall& call = call_of(calls(), each);
      if (call.gpu_start_ns == kNoTime || !context_.chosen[each.process]) continue;
      WaitSum& sum = sums_[{each.process, matched().groups[collective.group].communicator}];
      ++sum.collectives;
      sum.wait_ns += times.last_start_ns - call.gpu_start_ns;
    }
  }

  const AnalysisContext& context_;
  ResultTable& table_;
  std::map<std::pair<ProcessId, CommunicatorId>, WaitSum> sums_;
};

}  // namespace

TablesObserverEntry waits_observer(ResultTable& table) {
  ObserverNeeds needs;
  needs.collectives = true;
  return {needs, [&table](const AnalysisContext& context) { return std::make_unique<Waits>(context, table); }};
}

}  // namespace cli
