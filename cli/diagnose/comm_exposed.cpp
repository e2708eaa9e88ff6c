// comm-exposed: communication that no compute hides, without what is waiting for other ranks, which is the straggler's. Of a
// collective it counts from the moment on at which the last rank has begun it, where all are known.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/analyze/collective_columns.h"
#include "cli/collectives/operations.h"
#include "cli/diagnose/longest_evidence.h"

namespace cli {
namespace {

constexpr std::int64_t kMostExposedShare = 5;  // 1 / so much of the time
constexpr std::int64_t kLeastHiddenShare = 2;  // 1 / so much of the communication

class CommExposed : public Rule {
 public:
  explicit CommExposed(const AnalysisContext& context) : context_(context) {}

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    for (const MatchedCollective& each : context_.collectives->matched.collectives) {
      if (is_shown(context_, each)) look(each);
    }
    add_totals(TableReading(tables, "temporal"));
    Finding finding;
    std::vector<ProcessId> processes;
    const Times* most = nullptr;
    for (const auto& [id, times] : times_) {
      const bool fires = times.exposed_ns * kMostExposedShare > scope.time.lengths_ns[id] && times.exposed_ns * kLeastHiddenShare > times.comm_ns;
      if (!fires) continue;
      processes.push_back(id);
      if (most == nullptr || times.exposed_ns > most->exposed_ns) most = &times;
    }
    if (most == nullptr) return {};
    for (const ProcessId id : processes) finding.ranks.push_back(scope.rank(id));
    finding.saving_ns = most->exposed_ns;
    finding.evidence = evidence_.of(scope, processes);
    finding.title = fmt::format("communication is not hidden: {} in which nothing else runs; compute covers {:.0f} % of it{}", per_step_text(scope, most->exposed_ns),
                                100.0 - 100.0 * static_cast<double>(most->exposed_ns) / static_cast<double>(std::max<std::int64_t>(1, most->comm_ns)),
                                has_waits_ ? "" : "; waiting for other ranks is in it, whose traces are not here");
    finding.advice =
        "Overlap it with compute: DDP's bucket_cap_mb and gradient_as_bucket_view, FSDP's prefetch (backward_prefetch, reshard_after_forward), asynchronous tensor "
        "parallelism; communicate less: larger batches or accumulated gradients, compressed gradients (bf16).";
    return {finding};
  }

 private:
  struct Times {
    std::int64_t exposed_ns = 0, comm_ns = 0;  // without waits
  };

  void look(const MatchedCollective& collective) {
    const auto& [calls, matched, clocks] = *context_.collectives;
    const CollectiveTimes times = times_of(matched, calls, collective);
    const bool waits = times.all_started && collective.calls > 1 && all_depend_on_all(calls.whats[collective.what].operation);
    for (const MatchedCall& each : matched.calls_of(collective)) {
      const CollectiveCall& call = call_of(calls, each);
      if (!context_.chosen[each.process] || call.gpu_start_ns == kNoTime || call.gpu_end_ns == kNoTime) continue;
      const std::int64_t from_ns = waits ? std::clamp(times.last_start_ns, call.gpu_start_ns, call.gpu_end_ns) : call.gpu_start_ns;
      const std::int64_t wait_ns = from_ns - call.gpu_start_ns;
      has_waits_ = has_waits_ || waits;
      Times& sums = times_[each.process];
      sums.comm_ns -= wait_ns;
      sums.exposed_ns -= std::min(wait_ns, call.exposed_ns);
      const std::int64_t exposed_ns = std::min(call.exposed_ns, call.gpu_end_ns - from_ns);
      if (exposed_ns <= 0) continue;
      evidence_.add(each.process, from_ns, call.gpu_end_ns, exposed_ns, [&] { return collective_text(*context_.collectives, collective); });
    }
  }

  // Communication that is matched with none counts, too. A row is of a process's device, by process.
  void add_totals(const TableReading& devices) {
    std::map<std::pair<std::optional<std::int64_t>, std::optional<std::string>>, std::pair<std::int64_t, std::int64_t>> of_rank;
    for (std::size_t row = 0; row < devices.rows(); ++row) {
      auto& [exposed_ns, comm_ns] = of_rank[{devices.get<std::int64_t>(row, "rank"), devices.get<std::string>(row, "phase")}];
      exposed_ns = std::max(exposed_ns, devices.number(row, "exposed_comm_ns"));
      comm_ns = std::max(comm_ns, devices.number(row, "comm_ns"));
    }
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      const Process& process = context_.catalog.processes[id];
      const auto found = of_rank.find({process.rank >= 0 ? std::optional(process.rank) : std::nullopt, process.phase.empty() ? std::nullopt : std::optional(process.phase)});
      if (!context_.chosen[id] || found == of_rank.end()) continue;
      times_[id].exposed_ns += found->second.first;
      times_[id].comm_ns += found->second.second;
    }
  }

  const AnalysisContext& context_;
  std::map<ProcessId, Times> times_;
  LongestEvidence evidence_;
  bool has_waits_ = false;  // of some collective it is known
};

}  // namespace

RuleEntry comm_exposed_rule() {
  return {.name = "comm-exposed",
          .fires = "communication beyond waiting for ranks runs alone for 20 % of the time, and compute covers less than half of it",
          .source = "KempnerForge, Profiler: \"comm > 20 %\"; Profiling: \"NCCL calls between backward and optimizer: DDP gradient sync not overlapped\"",
          .tables = {"temporal"},
          .needs = {.collectives = true},
          .make = make_rule<CommExposed>};
}

}  // namespace cli
