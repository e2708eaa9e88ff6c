// comm-slow: a communicator transfers data slower than others of the same size, in the same operation and with messages
// of the same size. Compares the transfers, from the last start to the end (collectives/match.h); the links are
// unknown.
#include <bit>

#include "cli/answers/rules/rule.h"
#include "cli/answers/tables/cells.h"
#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

constexpr std::size_t kFewestGroups = 3, kFewestTransfers = 4;
constexpr std::int64_t kSlowGroupPercent = 60;  // of the bandwidth of the median group
constexpr std::int64_t kLeastSlowShare = 100;   // 1 / N of the time

class CommSlow : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    collect();
    std::map<std::uint32_t, Slow> slow;  // by group
    for (auto& [kind, groups] : transfers_) {
      std::vector<std::int64_t> medians;
      for (auto& [group, ns] : groups) {
        if (ns.size() >= kFewestTransfers) medians.push_back(median(ns));
      }
      if (medians.size() < kFewestGroups) continue;
      const std::int64_t usual_ns = median(medians);
      for (auto& [group, ns] : groups) {
        if (ns.size() < kFewestTransfers || usual_ns <= 0 || usual_ns * 100 >= median(ns) * kSlowGroupPercent) continue;
        Slow& each = slow[group];
        for (const std::int64_t one_ns : ns) each.excess_ns += std::max<std::int64_t>(0, one_ns - usual_ns);
        const double slower = static_cast<double>(median(ns)) / static_cast<double>(usual_ns),
                     known = static_cast<double>(each.own_ns) / static_cast<double>(each.usual_ns);
        if (slower >= known)
          each.own_ns = median(ns), each.usual_ns = usual_ns, each.operation = std::get<Operation>(kind);
      }
    }
    std::vector<Finding> findings;
    for (const auto& [group, each] : slow) {
      if (each.excess_ns > scope.time.length_ns / kLeastSlowShare) findings.push_back(finding(scope, group, each));
    }
    return findings;
  }

 private:
  struct Slow {
    std::int64_t excess_ns = 0, own_ns = 0, usual_ns = 1;
    Operation operation{};
  };
  using Kind =
      std::tuple<std::int64_t, Operation, std::int64_t>;  // ranks, operation, bytes rounded down to a power of two

  void collect() {
    const auto& [calls, matched, clocks] = *context_.collectives;
    for (const MatchedCollective& each : matched.collectives) {
      const auto bytes = size_of(matched, calls, each);
      const CollectiveTimes times = times_of(matched, calls, each);
      if (!bytes || !times.transfer_ns || !is_shown(context_, each)) continue;
      const Operation operation = calls.whats[each.what].operation;
      const auto from = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*bytes)));
      transfers_[{ranks_of(matched, each), operation, from}][each.group].push_back(*times.transfer_ns);
    }
  }

  Finding finding(const DiagnosisScope& scope, std::uint32_t group, const Slow& slow) const {
    const auto& [calls, matched, clocks] = *context_.collectives;
    const std::string& label = calls.communicators[matched.groups[group].communicator].label;
    Finding finding;
    for (const ProcessId id : matched.groups[group].members) finding.ranks.push_back(scope.rank(id));
    finding.saving_ns = slow.excess_ns;
    finding.title = fmt::format("communicator {} of {} is slow: {} takes {}, in similar communicators {}", label,
                                rank_list(finding.ranks), operation_name(slow.operation), duration_text(slow.own_ns),
                                duration_text(slow.usual_ns));
    finding.advice =
        "Compare links and network adapters of these hosts with other hosts (nvidia-smi topo -m, nvidia-smi nvlink -e, ibstat). Run nccl-tests on these hosts alone. NCCL_DEBUG=INFO prints the chosen transport.";
    LongestEvidence evidence;
    const ProcessId shown = matched.groups[group].members.front();
    for (const MatchedCollective& each : matched.collectives) {
      const CollectiveTimes times = times_of(matched, calls, each);
      if (each.group != group || !times.transfer_ns || calls.whats[each.what].operation != slow.operation ||
          !is_shown(context_, each))
        continue;
      evidence.add(shown, times.last_start_ns, times.end_ns, *times.transfer_ns,
                   [&] { return collective_text(*context_.collectives, each); });
    }
    finding.evidence = evidence.of(scope, {shown});
    return finding;
  }

  std::map<Kind, std::map<std::uint32_t, std::vector<std::int64_t>>> transfers_;  // ns, by group
};

}  // namespace

RuleEntry comm_slow_rule() {
  return rule_entry<CommSlow>(
      {.name = "comm-slow",
       .fires =
           "a communicator reaches less than 60 % of the median bandwidth of similar communicators, and this costs more than 1 % of the time",
       .source = "NVIDIA nccl-tests, Performance: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md",
       .inputs = {RuleInput::matched_collectives},
       .needs = {.collectives = true}});
}

}  // namespace cli::rules
