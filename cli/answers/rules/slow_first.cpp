// slow-first: the results include the first steps, in which programs compile and allocate memory. They were selected by
// --steps or --time, or there are too few steps to recognize warm-up.
#include "cli/answers/rules/rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kSlowFirstPercent = 150;  // of the median of the other steps
constexpr std::size_t kFewestOthers = 2;

class SlowFirst : public Rule {
 public:
  explicit SlowFirst(const AnalysisContext& context) : Rule(context), steps_(whole_steps(context)) {}

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Finding finding;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      const std::size_t slow = context_.chosen[id] ? slow_steps(id) : 0;
      if (slow == 0) continue;
      const std::vector<AnalysisWindow>& steps = steps_.of(id);
      finding.ranks.push_back(scope.rank(id));
      const std::int64_t median_ns = median_of_others(steps, slow);
      if (finding.title.empty()) {
        finding.title =
            fmt::format("the results include {}: step {} takes {}, the median of the others is {}",
                        count_text(slow, "warm-up step"), steps.front().step.value_or(0),
                        duration_text(steps.front().to_ns - steps.front().from_ns), duration_text(median_ns));
      }
      if (finding.evidence.size() < kMostEvidence) {
        finding.evidence.push_back({scope.rank(id), scope.since_start(id, steps.front().from_ns),
                                    scope.since_start(id, steps[slow - 1].to_ns), "warm-up"});
      }
      for (std::size_t i = 0; i < slow; ++i) finding.steps.push_back(steps[i].step.value_or(0));
    }
    if (finding.ranks.empty()) return {};
    std::sort(finding.steps.begin(), finding.steps.end());
    finding.steps.erase(std::unique(finding.steps.begin(), finding.steps.end()), finding.steps.end());
    finding.advice = fmt::format(
        "Exclude warm-up with --steps {}-, or record later steps: torch.profiler.schedule(wait=..., warmup=...). Times of warm-up steps do not apply to later steps.",
        finding.steps.back() + 1);
    return {finding};
  }

 private:
  // Returns the number of warm-up steps at the start of the diagnosed steps, which must be the first of the trace.
  std::size_t slow_steps(ProcessId id) const {
    const std::vector<Step>& found = context_.steps_found[id].steps;
    const std::vector<AnalysisWindow>& steps = steps_.of(id);
    if (steps.empty() || found.empty()) return 0;
    const std::size_t warm_up = warm_up_steps(found);
    std::size_t diagnosed = 0;
    while (diagnosed < steps.size() && diagnosed < warm_up && steps[diagnosed].step == found[diagnosed].number)
      ++diagnosed;
    if (diagnosed > 0 || warm_up > 0) return diagnosed;
    if (steps.size() <= kFewestOthers || steps.front().step != found.front().number) return 0;
    return 100 * (steps.front().to_ns - steps.front().from_ns) > kSlowFirstPercent * median_of_others(steps, 1) ? 1 : 0;
  }
  static std::int64_t median_of_others(const std::vector<AnalysisWindow>& steps, std::size_t first) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = first; i < steps.size(); ++i) lengths.push_back(steps[i].to_ns - steps[i].from_ns);
    return median(lengths);
  }

  const Windows steps_;
};

}  // namespace

RuleEntry slow_first_rule() {
  return rule_entry<SlowFirst>(
      {.name = "slow-first",
       .fires =
           "warm-up steps are selected, or the first step takes 1.5 times as long as the others and was not excluded as warm-up",
       .source = "PyTorch, torch.profiler.schedule: https://pytorch.org/docs/stable/profiler.html",
       .inputs = {RuleInput::steps}});
}

}  // namespace cli::rules
