// step-outlier: single steps that took far longer than the median of all (table outliers).
#include <set>

#include "cli/answers/rules/rule.h"
#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kMuchLonger = 5;  // by 1 / N of the median
// 1 / N of a step's excess; a kernel that grew less does not explain it
constexpr std::int64_t kLeastKernelShare = 10;
constexpr std::int64_t kLeastExcessShare = 100;  // 1 / N of the time: all outliers of a rank

class StepOutlier : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    const TableReading outliers(tables, "outliers");
    if (scope.time.length_ns == 0) return {};                // no GPU work
    std::map<std::int64_t, std::vector<std::size_t>> ranks;  // rows of steps, the longest first
    for (std::size_t row = 0; row < outliers.rows(); ++row) {
      const bool is_long = outliers.number(row, "excess_ns") > outliers.number(row, "median_ns") / kMuchLonger;
      if (outliers.get<std::string>(row, "what") == "step" && is_long)
        ranks[outliers.get<std::int64_t>(row, "rank").value_or(-1)].push_back(row);
    }
    Finding finding;
    std::set<std::int64_t> steps;
    std::vector<std::size_t> rows;
    for (const auto& [rank, of_rank] : ranks) {
      std::int64_t excess_ns = 0;
      for (const std::size_t row : of_rank) {
        const std::int64_t one_ns = outliers.number(row, "excess_ns");
        // Outliers of unknown ranks may come from several processes
        excess_ns = rank >= 0 ? excess_ns + one_ns : std::max(excess_ns, one_ns);
      }
      if (excess_ns <= scope.time.length_ns / kLeastExcessShare) continue;
      finding.ranks.push_back(rank);
      finding.saving_ns = std::max(finding.saving_ns.value_or(0), excess_ns);
      for (const std::size_t row : of_rank) {
        rows.push_back(row);
        if (const auto step = outliers.get<std::int64_t>(row, "step")) steps.insert(*step);
      }
    }
    if (rows.empty()) return {};
    std::sort(rows.begin(), rows.end());  // into the order of the table
    finding.steps.assign(steps.begin(), steps.end());
    for (const std::size_t row : rows) {
      if (finding.evidence.size() == kMostEvidence) break;
      const std::int64_t at_ns = outliers.number(row, "at_ns");
      finding.evidence.push_back({outliers.get<std::int64_t>(row, "rank").value_or(-1), at_ns,
                                  at_ns + outliers.number(row, "longest_ns"), describe(outliers, row)});
    }
    const std::size_t longest = rows.front();
    finding.title = fmt::format("{} took far longer than the median of {}; the longest took {}: {}",
                                finding.steps.size() == 1 ? fmt::format("step {}", finding.steps.front())
                                                          : fmt::format("steps {}", number_list(finding.steps)),
                                duration_text(outliers.number(longest, "median_ns")),
                                duration_text(outliers.number(longest, "longest_ns")), describe(outliers, longest));
    finding.advice =
        "See what only these steps do: a checkpoint, an evaluation, logging, garbage collection (gc.freeze, gc.collect every N steps), or compilation and allocation for a new shape. "
        "Move it out of the step or to another thread.";
    return {finding};
  }

 private:
  // Returns, for example, "idle grew most, by 3.000 ms; among kernels gemm, by 1.000 ms".
  static std::string describe(const TableReading& outliers, std::size_t row) {
    const auto differs = outliers.get<std::string>(row, "differs"), kernel = outliers.get<std::string>(row, "kernel");
    if (!differs) return "its GPU activity does not explain it";
    std::string text =
        fmt::format("{} grew most, by {}", *differs == "exposed_comm" ? "exposed communication" : *differs,
                    duration_text(outliers.number(row, "grew_ns")));
    if (kernel && outliers.number(row, "kernel_grew_ns") >= outliers.number(row, "excess_ns") / kLeastKernelShare)
      text += fmt::format("; among kernels {}, by {}", short_name(*kernel),
                          duration_text(outliers.number(row, "kernel_grew_ns")));
    return text;
  }
};

}  // namespace

RuleEntry step_outlier_rule() {
  return rule_entry<StepOutlier>(
      {.name = "step-outlier",
       .fires =
           "outlier steps of a rank (more than median + 5 MAD, and 20 % above the median) together exceed the median by more than 1 % of the time",
       .source = "docs/tables.md, table outliers",
       .inputs = {RuleInput::steps},
       .tables = {"outliers"}});
}

}  // namespace cli::rules
