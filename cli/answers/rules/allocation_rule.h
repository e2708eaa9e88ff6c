// Base of the rules about calls that allocate or release GPU memory in training steps (late_allocations.h).
#pragma once
#include "cli/answers/rules/rule.h"

namespace cli::rules {

class AllocationRule : public Rule {
 public:
  using Rule::Rule;

  void allocated(ProcessId process, const AllocationCalls& calls) override {
    if (!is_judged(calls)) return;
    add(process, calls);
    calls_ns_[process] += calls.ns;
    evidence_.add(process, calls.start_ns, calls.end_ns, calls.ns, [&] {
      return evidence_text(calls) + ", called " + claims_->activity().text(calls.thread, calls.start_ns);
    });
  }
  void claimed(const ClaimedGap& claim) override { idle_ns_[{claim.gap.process, claim.gap.device}] += claim.ns; }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, idle_ns] : idle_ns_) {
      if (idle_ns > scope.time.lengths_ns[device.first] / kLeastShare) fired.add(device.first, device.second, idle_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    explain(scope, fired.most, finding);
    finding.title += fmt::format("; the calls take {}, and the GPU idles {} in and after them",
                                 per_step_text(scope, calls_ns_[fired.most]), per_step_text(scope, fired.most_ns));
    return {finding};
  }

 protected:
  virtual bool is_judged(const AllocationCalls& calls) const = 0;
  virtual void add(ProcessId process, const AllocationCalls& calls) = 0;
  virtual std::string evidence_text(const AllocationCalls& calls) const = 0;
  // Sets the advice and the begin of the title, for the process that loses most.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, Finding& finding) const = 0;

  // Returns "cudaFree" or "cudaFree x 12".
  std::string calls_text(StringId name, std::int64_t count) const {
    return count == 1 ? name_of(name) : fmt::format("{} x {}", name_of(name), count);
  }

 private:
  static constexpr std::int64_t kLeastShare = 100;  // 1 / N of the time: idle time in and after the calls

  std::map<ProcessId, std::int64_t> calls_ns_;
  std::map<std::pair<ProcessId, std::int64_t>, std::int64_t> idle_ns_;  // by device
  LongestEvidence evidence_;
};

}  // namespace cli::rules
