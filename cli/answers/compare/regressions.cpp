#include "cli/answers/compare/regressions.h"

#include <cmath>
#include <functional>

#include "cli/answers/tables/cells.h"
#include "cli/trace/short_name.h"

namespace cli::comparison {
namespace {

// Returns the time of the quantity per step on this side.
double in_step(const Change& change, JudgedWhat what, const StepSample Change::*side) {
  const double count = what != JudgedWhat::kernel ? 1 : side == &Change::a ? change.count_a : change.count_b;
  return (change.*side).median * count;
}

bool is_large(const Change& change, JudgedWhat what, const Change& step, const RegressionLimits& limits) {
  return in_step(change, what, &Change::a) * 100 >= limits.least_share_pct * step.a.median ||
         in_step(change, what, &Change::b) * 100 >= limits.least_share_pct * step.b.median;
}

std::vector<JudgedChange> large_changes(const Comparison& comparison, QuantityGroup group, JudgedWhat what,
                                        const RegressionLimits& limits) {
  std::vector<JudgedChange> changes;
  for (const Change& change : comparison.group(group)) {
    if (is_large(change, what, comparison.step(), limits) && change.a.median > 0 && change.b.median > 0)
      changes.push_back({change, what, Judgement::unclear, {}});
  }
  std::ranges::stable_sort(changes, std::greater(),
                           [&](const JudgedChange& each) { return in_step(each.change, what, &Change::a); });
  return changes;
}

// Only longer runs are regressions, so the test is one-sided.
void judge(JudgedChange& judged, double chance, const RegressionLimits& limits) {
  Change& change = judged.change;
  change.noise_ns = noise_of(change.a, change.b, 2 * chance, change.resolution_ns);
  if (!change.noise_ns || change.a.median <= 0) return;
  const double difference_ns = difference_of(change.a, change.b);
  const double most_ns = limits.most_pct / 100 * change.a.median;
  judged.detectable_pct = std::max(limits.most_pct, 100 * *change.noise_ns / change.a.median);
  if (change.difference_ns() > most_ns) {
    if (difference_ns > *change.noise_ns) judged.judgement = Judgement::regressed;
  } else if (difference_ns + *margin_of(change.a, change.b, change.resolution_ns) <= most_ns) {
    judged.judgement = Judgement::passed;
  }
}

bool most_compute_passed(const std::vector<JudgedChange>& changes, const Comparison& comparison,
                         const RegressionLimits& limits) {
  double all_ns = 0, of_classes_ns = 0, of_kernels_ns = 0;
  for (const Change& change : comparison.group(QuantityGroup::work_class)) {
    if (comparison.compute_classes.contains(change.quantity->name) &&
        is_large(change, JudgedWhat::work_class, comparison.step(), limits))
      all_ns += change.a.median;
  }
  for (const JudgedChange& each : changes) {
    if (each.judgement != Judgement::passed) continue;
    if (each.what == JudgedWhat::kernel) of_kernels_ns += in_step(each.change, each.what, &Change::a);
    if (each.what == JudgedWhat::work_class && comparison.compute_classes.contains(each.change.quantity->name))
      of_classes_ns += each.change.a.median;
  }
  return 2 * std::max(of_classes_ns, of_kernels_ns) > all_ns;
}

Judgement verdict_of(const std::vector<JudgedChange>& changes, const Comparison& comparison,
                     const RegressionLimits& limits) {
  const auto regressed = [](const JudgedChange& each) { return each.judgement == Judgement::regressed; };
  if (std::any_of(changes.begin(), changes.end(), regressed)) return Judgement::regressed;
  const double most_ns = limits.most_pct / 100 * comparison.step().a.median;
  const auto lengthens_step = [&](const JudgedChange& each) {
    return each.judgement == Judgement::unclear && each.what != JudgedWhat::kernel &&
           each.change.difference_ns() > most_ns;
  };
  if (std::any_of(changes.begin(), changes.end(), lengthens_step)) return Judgement::unclear;
  return changes.front().judgement == Judgement::passed || most_compute_passed(changes, comparison, limits)
             ? Judgement::passed
             : Judgement::unclear;
}

constexpr Column kRegressed{"regressed", Unit::yes_no, "Whether it takes longer than allowed, beyond noise"};
constexpr Column kWhat{"what", Unit::text, "step, class or kernel"};
constexpr Column kBaseline{
    "baseline_ns", Unit::ns,
    "Median over the steps of the mean over the GPUs; for a kernel, of its mean duration per launch"};
constexpr Column kNow{"now_ns", Unit::ns, "The same value in the checked run"};
constexpr Column kChangePct{"change_pct", Unit::percent, "Difference relative to the baseline"};
constexpr Column kNoisePct{
    "noise_pct", Unit::percent,
    "Largest difference expected between identical runs; an upper bound for 3 to 7 steps; empty for fewer"};
constexpr Column kJudgement{"judgement", Unit::text,
                            "regressed, passed (not longer than allowed) or unclear (too much noise)"};
constexpr Column kDetectablePct{"detectable_pct", Unit::percent,
                                "Smallest change that would have been detected; empty for fewer than 3 steps"};
constexpr Column kConfiguration{"configuration", Unit::text, "Grid and block; empty if unknown"};
constexpr Column kClass{"class", Unit::text, "Class of the kernel"};
constexpr Column kName{"name", Unit::text, "Name of the class or kernel, or step"};

constexpr std::string_view kWhatTexts[] = {"step", "class", "kernel"};              // by JudgedWhat
constexpr std::string_view kJudgementTexts[] = {"passed", "regressed", "unclear"};  // by Judgement

void append_change(std::vector<Cell>& row, const JudgedChange& each) {
  const Change& change = each.change;
  const bool has_ratio = change.a.median > 0;
  append(row, each.judgement == Judgement::regressed, kWhatTexts[static_cast<std::size_t>(each.what)],
         std::llround(change.a.median), std::llround(change.b.median), has_ratio ? Cell(each.relative_pct()) : Cell(),
         change.noise_ns && has_ratio ? Cell(100 * *change.noise_ns / change.a.median) : Cell());
}

std::string pct_text(double pct) { return pct < 10 ? fmt::format("{:.2g}", pct) : fmt::format("{:.0f}", pct); }

// Returns, for example, "1.5 to 4".
std::string range_text(double least, double most) {
  return pct_text(least) == pct_text(most) ? pct_text(most) : fmt::format("{} to {}", pct_text(least), pct_text(most));
}

}  // namespace

std::vector<std::string> classes_of_one_run(const Comparison& comparison, const RegressionLimits& limits) {
  std::vector<std::string> names;
  for (const Change& change : comparison.group(QuantityGroup::work_class)) {
    const bool one = (change.a.median > 0) != (change.b.median > 0);
    if (one && is_large(change, JudgedWhat::work_class, comparison.step(), limits))
      names.push_back(change.quantity->name);
  }
  return names;
}

Judgements judge_regressions(const Comparison& comparison, const RegressionLimits& limits) {
  Judgements judgements;
  std::vector<JudgedChange>& changes = judgements.changes;
  changes.push_back({comparison.step(), JudgedWhat::step, Judgement::unclear, {}});
  for (const auto& [group, what] : {std::pair(QuantityGroup::work_class, JudgedWhat::work_class),
                                    std::pair(QuantityGroup::launch, JudgedWhat::kernel)}) {
    const std::vector<JudgedChange> large = large_changes(comparison, group, what, limits);
    changes.insert(changes.end(), large.begin(), large.end());
  }
  const auto others = static_cast<double>(changes.size() - 1);
  for (JudgedChange& each : changes) judge(each, kFalseWord / 2 / (each.what == JudgedWhat::step ? 1 : others), limits);
  judgements.verdict = verdict_of(changes, comparison, limits);
  return judgements;
}

ResultTable regressed_table(const Judgements& judgements) {
  ResultTable table{"check", {kRegressed, kWhat, kBaseline, kNow, kChangePct, kNoisePct, kName}, {}, {}};
  std::vector<std::string> classes;
  for (const JudgedChange& each : judgements.changes) {
    if (each.judgement != Judgement::regressed) continue;
    const Quantity& quantity = *each.change.quantity;
    if (each.what == JudgedWhat::work_class) classes.push_back(quantity.name);
    if (each.what == JudgedWhat::kernel &&
        std::find(classes.begin(), classes.end(), quantity.work_class) != classes.end())
      continue;
    std::vector<Cell>& row = table.rows.emplace_back();
    append_change(row, each);
    const std::string kernel =
        short_name(quantity.name) + (quantity.configuration.empty() ? "" : " " + quantity.configuration);
    row.push_back(Cell(each.what == JudgedWhat::step     ? "step"
                       : each.what == JudgedWhat::kernel ? kernel
                                                         : quantity.name));
  }
  return table;
}

std::vector<ResultTable> judged_tables(const Judgements& judgements) {
  const std::vector<Column> columns{kRegressed, kWhat,     kBaseline,  kNow,
                                    kChangePct, kNoisePct, kJudgement, kDetectablePct};
  std::vector<ResultTable> tables{{"check", joined(columns, {kName}), {}, {}},
                                  {"kernels", joined(columns, {kConfiguration, kClass, kName}), {}, {}}};
  for (const JudgedChange& each : judgements.changes) {
    const Quantity& quantity = *each.change.quantity;
    std::vector<Cell>& row = tables[each.what == JudgedWhat::kernel ? 1 : 0].rows.emplace_back();
    append_change(row, each);
    append(row, kJudgementTexts[static_cast<std::size_t>(each.judgement)], each.detectable_pct);
    if (each.what == JudgedWhat::kernel) append(row, text_cell(quantity.configuration), quantity.work_class);
    row.push_back(Cell(each.what == JudgedWhat::step ? "step" : quantity.name));
  }
  return tables;
}

std::string seen_text(const Judgements& judgements) {
  std::string text;
  for (const JudgedWhat what : {JudgedWhat::step, JudgedWhat::work_class, JudgedWhat::kernel}) {
    std::vector<double> pct;
    for (const JudgedChange& each : judgements.changes) {
      if (each.what == what && each.detectable_pct) pct.push_back(*each.detectable_pct);
    }
    if (pct.empty()) continue;
    const auto [least, most] = std::minmax_element(pct.begin(), pct.end());
    const std::string where = what == JudgedWhat::step         ? "the step"
                              : what == JudgedWhat::work_class ? count_text(pct.size(), "class", "classes")
                                                               : count_text(pct.size(), "kernel");
    text += fmt::format("{} {} % {}in {}", text.empty() ? "a change of" : ", of", range_text(*least, *most),
                        text.empty() ? "would have been detected " : "", where);
  }
  return text;
}

}  // namespace cli::comparison
