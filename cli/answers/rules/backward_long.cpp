// backward-long: the backward pass takes far longer on the GPU than the forward pass. A factor of two is normal,
// because it computes two gradients per product, and a factor of three with activation checkpointing, which repeats the
// forward pass.
#include "cli/answers/rules/rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kMostBackward = 3;        // times the forward pass
constexpr std::int64_t kLeastBackwardShare = 5;  // 1 / N of the time: backward pass

class BackwardLong : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    const TableReading phases(tables, "step_phases");
    std::map<std::int64_t, Passes> ranks;
    for (std::size_t row = 0; row < phases.rows(); ++row) {
      const auto forward_ns = phases.get<std::int64_t>(row, "forward_ns"),
                 backward_ns = phases.get<std::int64_t>(row, "backward_ns");
      if (!forward_ns || !backward_ns) continue;
      Passes& passes = ranks[phases.get<std::int64_t>(row, "rank").value_or(-1)];
      passes.forward_ns += *forward_ns;
      passes.backward_ns += *backward_ns;
      if (const auto step = phases.get<std::int64_t>(row, "step")) passes.steps.push_back(*step);
    }
    std::erase_if(ranks, [&](const auto& each) {
      const Passes& passes = each.second;
      return passes.forward_ns == 0 || passes.backward_ns / kMostBackward <= passes.forward_ns ||
             passes.backward_ns <= scope.time.length_ns / kLeastBackwardShare;
    });
    if (ranks.empty()) return {};
    const auto most = std::ranges::max_element(ranks, {}, [](const auto& each) { return each.second.ratio(); });
    Finding finding;
    for (const auto& [rank, passes] : ranks) finding.ranks.push_back(rank);
    finding.steps = most->second.steps;
    std::sort(finding.steps.begin(), finding.steps.end());
    finding.steps.erase(std::unique(finding.steps.begin(), finding.steps.end()), finding.steps.end());
    finding.title =
        fmt::format("the backward pass takes {:.1f} times as long on the GPU as the forward pass: {} against {}",
                    most->second.ratio(), per_step_text(scope, most->second.backward_ns),
                    per_step_text(scope, most->second.forward_ns));
    finding.advice =
        "If the model uses activation checkpointing and memory is free, checkpoint fewer layers: the backward pass computes checkpointed layers again. Otherwise find the slow backward "
        "kernels (scatters and index_put with atomics, deterministic algorithms, layout copies).";
    return {finding};
  }

 private:
  struct Passes {
    std::int64_t forward_ns = 0, backward_ns = 0;
    std::vector<std::int64_t> steps;
    double ratio() const { return static_cast<double>(backward_ns) / static_cast<double>(forward_ns); }
  };
};

}  // namespace

RuleEntry backward_long_rule() {
  return rule_entry<BackwardLong>(
      {.name = "backward-long",
       .fires =
           "the backward pass takes more than 3 times as long on the GPU as the forward pass, and more than 20 % of the time",
       .source = "PyTorch, torch.utils.checkpoint: https://pytorch.org/docs/stable/checkpoint.html",
       .inputs = {RuleInput::passes},
       .tables = {"step_phases"}});
}

}  // namespace cli::rules
