// comm-exposed: exposed communication without waiting for other ranks. If every rank of a collective depends on all
// others, only the time after the last rank's start counts. If that start is unknown (ranks that are not in the trace,
// unmatched calls, broadcasts, sends and receives), the waiting time is unknown, and so is the saving.
#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/cells.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kMostExposedShare = 5;  // 1 / N of the time
constexpr std::int64_t kLeastHiddenShare = 2;  // 1 / N of the communication

class CommExposed : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    for (const MatchedCollective& each : context_.collectives->matched.collectives) {
      if (is_shown(context_, each)) look(each);
    }
    add_totals(TableReading(tables, "temporal"));
    const auto fires = [&](ProcessId id, std::int64_t exposed_ns, std::int64_t comm_ns) {
      return exposed_ns > scope.time.lengths_ns[id] / kMostExposedShare && exposed_ns > comm_ns / kLeastHiddenShare;
    };
    std::vector<ProcessId> known, unknown;
    for (const auto& [id, times] : times_) {
      if (fires(id, times.exposed_ns, times.comm_ns))
        known.push_back(id);
      else if (times.unknown_exposed_ns > 0 &&
               fires(id, times.exposed_ns + times.unknown_exposed_ns, times.comm_ns + times.unknown_comm_ns))
        unknown.push_back(id);
    }
    if (known.empty() && unknown.empty()) return {};
    return {known.empty() ? unknown_finding(scope, unknown) : known_finding(scope, known)};
  }

 private:
  struct Times {
    std::int64_t exposed_ns = 0, comm_ns = 0;  // after the last start
    std::int64_t waited_ns = 0;                // exposed, before the last start
    std::pair<std::int64_t, std::int64_t> order() const { return {exposed_ns, waited_ns}; }
    std::int64_t unknown_exposed_ns = 0, unknown_comm_ns = 0;  // if the last start is unknown
    std::int64_t known_exposed_ns = 0, known_comm_ns = 0;      // if the last start is known, including waits
  };

  void look(const MatchedCollective& collective) {
    const CollectiveCalls& calls = context_.collectives->calls;
    const MatchedCollectives& matched = context_.collectives->matched;
    const auto some = matched.calls_of(collective);
    const CollectiveTimes times = times_of(matched, calls, collective);
    if (!times.all_started || !times.all_ended || collective.state == CollectiveState::mismatch ||
        !all_depend_on_all(calls.whats[collective.what].operation))
      return look_alone(collective);
    // If clocks cannot be compared, the ranks still end together: the shortest call is that of the last rank.
    const bool by_ends = std::ranges::any_of(some, [&](const MatchedCall& each) {
      return !context_.collectives->clocks.error_between(each.process, some[0].process);
    });
    std::int64_t shortest_ns = kLatest_ns;
    for (const MatchedCall& each : some)
      shortest_ns = std::min(shortest_ns, call_of(calls, each).gpu_end_ns - call_of(calls, each).gpu_start_ns);
    for (const MatchedCall& each : some) {
      const CollectiveCall& call = call_of(calls, each);
      if (!context_.chosen[each.process] || !context_.windows.hold(each.process, call.gpu_start_ns, call.gpu_end_ns))
        continue;
      const std::int64_t from_ns =
          by_ends ? call.gpu_end_ns - shortest_ns : std::clamp(times.last_start_ns, call.gpu_start_ns, call.gpu_end_ns);
      const std::int64_t exposed_ns = std::min(call.exposed_ns, call.gpu_end_ns - from_ns);
      Times& sums = times_[each.process];
      sums.exposed_ns += exposed_ns;
      sums.comm_ns += call.gpu_end_ns - from_ns;
      sums.waited_ns += call.exposed_ns - exposed_ns;
      sums.known_exposed_ns += call.exposed_ns;
      sums.known_comm_ns += call.gpu_end_ns - call.gpu_start_ns;
      if (exposed_ns <= 0) continue;
      evidence_.add(each.process, from_ns, call.gpu_end_ns, exposed_ns,
                    [&] { return collective_text(*context_.collectives, collective); });
    }
  }

  // Handles a collective whose last start is unknown.
  void look_alone(const MatchedCollective& collective) {
    const auto& [calls, matched, clocks] = *context_.collectives;
    for (const MatchedCall& each : matched.calls_of(collective)) {
      const CollectiveCall& call = call_of(calls, each);
      if (!context_.chosen[each.process] || call.gpu_end_ns == kNoTime || call.exposed_ns <= 0 ||
          !context_.windows.hold(each.process, call.gpu_start_ns, call.gpu_end_ns))
        continue;
      unknown_evidence_.add(each.process, call.gpu_start_ns, call.gpu_end_ns, call.exposed_ns,
                            [&] { return collective_text(*context_.collectives, collective); });
    }
  }

  // Adds the totals of all communication. The table has one row per device, sorted by process.
  void add_totals(const TableReading& devices) {
    std::map<std::pair<std::optional<std::int64_t>, std::optional<std::string>>, std::pair<std::int64_t, std::int64_t>>
        of_rank;
    for (std::size_t row = 0; row < devices.rows(); ++row) {
      auto& [exposed_ns, comm_ns] =
          of_rank[{devices.get<std::int64_t>(row, "rank"), devices.get<std::string>(row, "phase")}];
      exposed_ns = std::max(exposed_ns, devices.number(row, "exposed_comm_ns"));
      comm_ns = std::max(comm_ns, devices.number(row, "comm_ns"));
    }
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      const Process& process = context_.catalog.processes[id];
      const auto found = of_rank.find({process.rank >= 0 ? std::optional(process.rank) : std::nullopt,
                                       process.phase.empty() ? std::nullopt : std::optional(process.phase)});
      if (!context_.chosen[id] || found == of_rank.end()) continue;
      Times& sums = times_[id];
      sums.exposed_ns = std::min(sums.exposed_ns, found->second.first);
      sums.unknown_exposed_ns = std::max<std::int64_t>(0, found->second.first - sums.known_exposed_ns);
      sums.unknown_comm_ns = std::max<std::int64_t>(0, found->second.second - sums.known_comm_ns);
    }
  }

  Finding known_finding(const DiagnosisScope& scope, const std::vector<ProcessId>& processes) const {
    const auto most = std::ranges::max_element(processes, {}, [&](ProcessId id) { return times_.at(id).order(); });
    const Times& times = times_.at(*most);
    Finding finding = finding_of(scope, processes, evidence_);
    finding.saving_ns = times.exposed_ns;
    finding.title = fmt::format("communication is exposed for {}; compute hides {:.0f} % of it",
                                per_step_text(scope, times.exposed_ns),
                                100.0 - 100.0 * static_cast<double>(times.exposed_ns) /
                                            static_cast<double>(std::max<std::int64_t>(1, times.comm_ns)));
    if (times.waited_ns > 0)
      finding.title +=
          fmt::format("; {} of waiting for other ranks is excluded", per_step_text(scope, times.waited_ns));
    if (times.unknown_exposed_ns > 0)
      finding.title +=
          fmt::format("; another {} may be waiting for other ranks", per_step_text(scope, times.unknown_exposed_ns));
    return finding;
  }

  Finding unknown_finding(const DiagnosisScope& scope, const std::vector<ProcessId>& processes) const {
    const auto of_both = [&](ProcessId id) { return times_.at(id).exposed_ns + times_.at(id).unknown_exposed_ns; };
    const auto most = std::ranges::max_element(processes, {}, of_both);
    Finding finding = finding_of(scope, processes, unknown_evidence_);
    finding.title =
        fmt::format("communication is exposed for {}, which includes an unknown amount of waiting for other ranks",
                    per_step_text(scope, of_both(*most)));
    return finding;
  }

  Finding finding_of(const DiagnosisScope& scope, const std::vector<ProcessId>& processes,
                     const LongestEvidence& evidence) const {
    Finding finding;
    for (const ProcessId id : processes) finding.ranks.push_back(scope.rank(id));
    finding.evidence = evidence.of(scope, processes);
    finding.advice =
        "Overlap communication with compute: DDP buckets (bucket_cap_mb, gradient_as_bucket_view), FSDP prefetching (backward_prefetch, reshard_after_forward) or asynchronous tensor "
        "parallelism. Communicate less: larger batches, gradient accumulation or compressed gradients (bf16).";
    return finding;
  }

  std::map<ProcessId, Times> times_;
  LongestEvidence evidence_, unknown_evidence_;  // after the last start; without a known last start
};

}  // namespace

RuleEntry comm_exposed_rule() {
  return rule_entry<CommExposed>(
      {.name = "comm-exposed",
       .fires =
           "exposed communication, without waiting for other ranks, takes more than 20 % of the time, and compute hides less than half of the communication",
       .source =
           "PyTorch, DistributedDataParallel: https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
       .tables = {"temporal"},
       .needs = {.collectives = true}});
}

}  // namespace cli::rules
