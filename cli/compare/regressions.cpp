#include "cli/compare/regressions.h"

#include <algorithm>
#include <cmath>

#include "cli/analyze/cells.h"

namespace cli {
namespace {

double relative_pct(const Change& change) { return 100 * change.difference_ns() / change.a.median; }

bool is_large(const Change& change, const Change& step, const RegressionLimits& limits) {
  return change.a.median * 100 >= limits.least_share_pct * step.a.median || change.b.median * 100 >= limits.least_share_pct * step.b.median;
}

}  // namespace

std::vector<std::string> classes_of_one_run(const Comparison& comparison, const RegressionLimits& limits) {
  std::vector<std::string> names;
  for (const Change& change : comparison.group(QuantityGroup::work_class)) {
    const bool one = (change.a.median > 0) != (change.b.median > 0);
    if (one && is_large(change, comparison.step(), limits)) names.push_back(change.quantity->name);
  }
  return names;
}

std::vector<JudgedChange> judge_regressions(const Comparison& comparison, const RegressionLimits& limits) {
  std::vector<JudgedChange> judged{{comparison.step(), true, false}};
  const Change& step = comparison.step();
  for (const Change& change : comparison.group(QuantityGroup::work_class)) {
    if (is_large(change, step, limits) && change.a.median > 0 && change.b.median > 0) judged.push_back({change, false, false});
  }
  std::stable_sort(judged.begin() + 1, judged.end(), [](const JudgedChange& x, const JudgedChange& y) { return x.change.a.median > y.change.a.median; });
  for (JudgedChange& each : judged) {
    Change& change = each.change;
    change.noise_ns = noise_of(change.a, change.b, judged.size());
    each.regressed = change.noise_ns && change.a.median > 0 && relative_pct(change) > limits.most_pct && change.difference_ns() > *change.noise_ns;
  }
  return judged;
}

bool any_regressed(const std::vector<JudgedChange>& judged) {
  return std::any_of(judged.begin(), judged.end(), [](const JudgedChange& each) { return each.regressed; });
}

ResultTable regression_table(const std::vector<JudgedChange>& judged, bool all) {
  ResultTable table{"check",
                    {{"regressed", Unit::yes_no, "By more than is allowed, and beyond the noise"},
                     {"what", Unit::text, "step or class"},
                     {"baseline_ns", Unit::ns, "Median over the steps, of the mean over the GPUs"},
                     {"now_ns", Unit::ns, "The same"},
                     {"change_pct", Unit::percent, "The difference, of the baseline"},
                     {"noise_pct", Unit::percent, "What the difference may be of steps that do not differ; empty: it is not known"},
                     {"name", Unit::text, "Of the class"}},
                    {},
                    {}};
  for (const JudgedChange& each : judged) {
    if (!each.regressed && !all) continue;
    const Change& change = each.change;
    append(table.rows.emplace_back(), each.regressed, std::string(each.is_step ? "step" : "class"), static_cast<std::int64_t>(std::llround(change.a.median)),
           static_cast<std::int64_t>(std::llround(change.b.median)), change.a.median > 0 ? Cell(relative_pct(change)) : Cell(),
           change.noise_ns && change.a.median > 0 ? Cell(100 * *change.noise_ns / change.a.median) : Cell(), each.is_step ? Cell() : Cell(change.quantity->name));
  }
  return table;
}

}  // namespace cli
