// straggler: a rank is late to collectives, and the others wait for it. Stragglers and their causes come from the table
// `stragglers` (collectives/stragglers.h).
#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/cells.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastDelayShare = 100;  // 1 / N of the time

std::string_view advice_of(std::string_view cause) {
  if (cause == "host") {
    return "See what the host of this rank did before these collectives: data loading, garbage collection, logging or checkpoints on one rank alone. "
           "Check other programs, CPU frequency and NUMA placement on that machine.";
  }
  if (cause == "slow_kernels")
    return "Compare clocks, temperature and power limit of this GPU with others (nvidia-smi -q -d CLOCK,PERFORMANCE), and check for errors (nvidia-smi -q -d ECC). Try the rank on another GPU.";
  if (cause == "more_work")
    return "Balance layers, sequence lengths or experts over the ranks: this rank computes more than the others.";
  if (cause == "copy")
    return "Use pinned memory and non_blocking=True, and check the PCIe link of this GPU (nvidia-smi -q -d PCIE): its copies take longer.";
  if (cause == "other_collective")
    return "Look at the rank that is late in the other communicator: this rank waits there first.";
  return "Record NVTX ranges or operators on this rank: its GPU activity does not explain the delay.";
}

class Straggler : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    const TableReading ranks(tables, "stragglers");
    std::vector<Finding> findings;
    std::size_t row = 0;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      if (!context_.chosen[id]) continue;
      const std::int64_t delayed_ns = ranks.number(row, "delayed_ns");
      if (ranks.get<bool>(row, "straggler").value_or(false) && delayed_ns > scope.time.length_ns / kLeastDelayShare) {
        Finding& finding = findings.emplace_back();
        finding.ranks = {scope.rank(id)};
        finding.saving_ns = delayed_ns;
        const std::string cause = ranks.get<std::string>(row, "cause").value_or("unknown"),
                          evidence = ranks.get<std::string>(row, "evidence").value_or("");
        finding.title =
            fmt::format("{} is late to collectives: the others wait {} for it; cause: {}{}", ranks.rank(row),
                        per_step_text(scope, delayed_ns), cause, evidence.empty() ? "" : " (" + evidence + ")");
        const bool collects =
            cause == "host" && context_.collectives->calls.processes[id].host_delay.mostly_collecting();
        if (cause == "host") finding.cause_rule = "host-late";
        finding.advice = collects ? kGarbageCollectionAdvice : advice_of(cause);
        finding.evidence = waits_for(scope, id);
      }
      ++row;
    }
    return findings;
  }

 private:
  // Returns collectives in which the rank starts last, from the last start of the others to its own. If clocks cannot
  // be compared, uses times on the common axis.
  std::vector<Evidence> waits_for(const DiagnosisScope& scope, ProcessId late) const {
    const auto& [calls, matched, clocks] = *context_.collectives;
    LongestEvidence evidence;
    for (const MatchedCollective& each : matched.collectives) {
      const Operation operation = calls.whats[each.what].operation;
      if (!all_depend_on_all(operation) || !is_shown(context_, each)) continue;
      std::int64_t own_ns = kNoTime, others_ns = kNoTime;
      for (const MatchedCall& member : matched.calls_of(each)) {
        std::int64_t& last_ns = member.process == late ? own_ns : others_ns;
        last_ns = std::max(last_ns, call_of(calls, member).gpu_start_ns);
      }
      if (others_ns == kNoTime || own_ns <= others_ns) continue;
      evidence.add(late, others_ns, own_ns, own_ns - others_ns, [&] {
        return "the last of " + count_text(each.calls, "rank") + " to begin " +
               collective_text(*context_.collectives, each);
      });
    }
    return evidence.of(scope, {late});
  }
};

}  // namespace

RuleEntry straggler_rule() {
  return rule_entry<Straggler>(
      {.name = "straggler",
       .fires =
           "a rank is late to collectives (table stragglers), and the others wait for it for more than 1 % of the time",
       .source = "docs/collectives.md, who is late, and why",
       .inputs = {RuleInput::matched_collectives},
       .tables = {"stragglers"},
       .needs = {.collectives = true}});
}

}  // namespace cli::rules
