// The processes for which a rule fires, and the device that loses most.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cli/answers/rules/longest_evidence.h"
#include "cli/answers/rules/rule.h"

namespace cli {

struct Fired {
  std::vector<ProcessId> processes;  // ascending
  std::vector<std::int64_t> losses_ns;  // by processes: of the device that loses most
  ProcessId most = 0;
  std::int64_t device = -1;  // of `most`
  std::int64_t most_ns = -1;

  // Processes come ascending.
  void add(ProcessId id, std::int64_t of_device, std::int64_t ns) {
    if (processes.empty() || processes.back() != id) {
      processes.push_back(id);
      losses_ns.push_back(ns);
    }
    losses_ns.back() = std::max(losses_ns.back(), ns);
    if (ns > most_ns) most = id, device = of_device, most_ns = ns;
  }
  bool empty() const { return processes.empty(); }
  // With ranks, saving and evidence.
  Finding finding(const DiagnosisScope& scope, const LongestEvidence& evidence) const {
    Finding finding;
    for (const ProcessId id : processes) finding.ranks.push_back(scope.rank(id));
    finding.saving_ns = most_ns;
    finding.rank_savings_ns = losses_ns;
    finding.evidence = evidence.of(scope, processes);
    return finding;
  }
};

}  // namespace cli
