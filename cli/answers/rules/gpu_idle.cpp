// gpu-idle: the GPU idles, and the trace does not contain the cause: the call that launched the next work is missing,
// or it returned long before the work began.
//
// If the next work is the first of its stream in the trace, the stream may have run work that was launched before the
// trace began, which profilers do not record. The GPU may have been busy then, so the saving is unknown.
#include <set>

#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastIdleShare = 5;  // 1 / N of the time: busy for less than 80 %

class GpuIdle : public IdleRule {
 public:
  explicit GpuIdle(const AnalysisContext& context) : IdleRule(context, kLeastIdleShare) {}

  void claimed(const ClaimedGap& claim) override {
    if (is_first_of_stream(claim)) first_ns_[claim.gap.process] += claim.ns;
    IdleRule::claimed(claim);
  }
  void work(const GpuWork& work) override { streams_.insert(work.event->track); }
  void end_of(ProcessId process) override {
    std::erase_if(streams_, [&](TrackId stream) { return context_.catalog.tracks[stream].process == process; });
  }

 private:
  bool is_first_of_stream(const ClaimedGap& claim) const {
    return claim.gap.next->call != nullptr && !streams_.contains(claim.gap.next->event->track);
  }
  std::string describe(const ClaimedGap& claim) const override {
    const std::string_view why =
        claim.gap.next->call == nullptr ? "host state unknown; "
        : is_first_of_stream(claim)
            ? "the next work was launched long before it began, on a stream without earlier work in the trace; "
            : "the next work was launched long before it began; ";
    return std::string(why) + around_text(context_.catalog, claim.gap);
  }
  void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const override {
    const auto first = first_ns_.find(most);
    if (first != first_ns_.end() && 2 * first->second > sum.ns) {
      finding.saving_ns.reset();
      finding.title = fmt::format(
          "the trace has no GPU work for {}, mostly before the first work of a stream; work launched before the trace began may have run then",
          per_step_text(scope, sum.ns));
      finding.advice =
          "Synchronize before the profile begins, or profile more steps and exclude the first one (--steps).";
      return;
    }
    finding.title =
        fmt::format("the GPU idles {}, and the trace does not contain the cause", per_step_text(scope, sum.ns));
    finding.advice =
        "Record launches too: use the default TRACETOOL_EVENTS, or ProfilerActivity.CPU in addition to CUDA. Work that begins long after its launch waits for an event of another "
        "stream, or for another process on the GPU.";
  }

  std::set<TrackId> streams_;                   // streams with work so far
  std::map<ProcessId, std::int64_t> first_ns_;  // idle time before the first work of a stream
};

}  // namespace

RuleEntry gpu_idle_rule() {
  return rule_entry<GpuIdle>(
      {.name = "gpu-idle",
       .fires = "a GPU idles for more than 20 % of the time, and the trace does not contain the cause",
       .source = "docs/tables.md, table idle (unexplained)",
       .gap_owner = GapOwner::unexplained});
}

}  // namespace cli::rules
