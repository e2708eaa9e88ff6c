#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/compare/comparison.h"
#include "cli/answers/compare/diff_tables.h"
#include "cli/answers/compare/regressions.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::comparison;

namespace {

// A run of steps of 1 ms and a kernel each of the others, whose times in all steps are told.
RunProfile told_run(std::size_t steps, const std::vector<std::pair<std::string, std::int64_t>>& kernels,
                    std::int64_t step_ns = 1'000'000) {
  RunProfile run;
  run.source = "run";
  run.gpus = 1;
  run.ranks = {0};
  for (std::size_t step = 0; step < steps; ++step) {
    run.steps.push_back(static_cast<std::int64_t>(step));
    run.group(QuantityGroup::step)[{std::string(kStepTime)}].add(step, step_ns, 0);
    for (const auto& [name, ns] : kernels) {
      run.group(QuantityGroup::kernel)[{name}].add(step, ns, 2);
      run.group(QuantityGroup::work_class)[{"of " + name}].add(step, ns, 2);
      run.compute_classes.insert("of " + name);
      run.parts[{name}].add(step, ns, 0);
    }
  }
  return run;
}

ChangeWord word_of(const Comparison& comparison, const std::string& kernel) {
  for (const Change& change : comparison.group(QuantityGroup::kernel)) {
    if (change.quantity->name == kernel) return change.word;
  }
  FAIL(kernel + " is in neither");
  return ChangeWord::same;
}

void add_sequence(RunProfile& run, std::int64_t step, const std::vector<std::string>& names, std::int64_t grid = 1) {
  StepSequence& sequence = run.sequences.emplace_back(StepSequence{step, {}});
  for (const std::string& name : names) {
    run.names.push_back(name);
    sequence.kernels.push_back({static_cast<std::uint32_t>(run.names.size() - 1), {grid, 1, 1}});
  }
}

}  // namespace

TEST_CASE("comparison: grew, shrank, appeared, vanished", "[compare]") {
  const RunProfile a =
      told_run(10, {{"same", 100'000}, {"grew", 100'000}, {"shrank", 100'000}, {"gone", 50'000}, {"little", 10'000}});
  const RunProfile b =
      told_run(10, {{"same", 100'000}, {"grew", 120'000}, {"shrank", 90'000}, {"new", 50'000}, {"little", 10'900}});
  const Comparison comparison = compare_runs(a, b, 0.001);
  CHECK(word_of(comparison, "same") == ChangeWord::same);
  CHECK(word_of(comparison, "grew") == ChangeWord::grew);
  CHECK(word_of(comparison, "shrank") == ChangeWord::shrank);
  CHECK(word_of(comparison, "gone") == ChangeWord::vanished);
  CHECK(word_of(comparison, "new") == ChangeWord::appeared);
  CHECK(word_of(comparison, "little") == ChangeWord::same);  // less than 0.1 % of the step
  CHECK(comparison.step().word == ChangeWord::same);
  CHECK(std::abs(comparison.group(QuantityGroup::kernel).front().difference_ns()) == 50'000);
}

TEST_CASE("comparison: what runs in few steps is no change of the median", "[compare]") {
  RunProfile a = told_run(20, {{"k", 100'000}}), b = told_run(20, {{"k", 100'000}});
  b.group(QuantityGroup::kernel)[{"evaluation"}].add(7, 900'000, 1);
  const Comparison comparison = compare_runs(a, b, 0.001);
  CHECK(word_of(comparison, "evaluation") == ChangeWord::same);
}

TEST_CASE("comparison: parts sum to the difference of the mean step, to the nanosecond", "[compare]") {
  RunProfile a = told_run(3, {{"x", 100}, {"y", 200}, {"z", 301}}), b = told_run(3, {{"x", 101}, {"y", 150}, {"w", 7}});
  a.gpus = b.gpus = 7;  // means are no integers
  std::int64_t a_ns = 0, b_ns = 0;
  const Comparison comparison = compare_runs(a, b, 0);
  CHECK(comparison.parts.size() == 4);
  for (const PartChange& part : comparison.parts) a_ns += part.a_ns, b_ns += part.b_ns;
  CHECK(a_ns == 86);  // 601 / 7
  CHECK(b_ns == 37);  // 258 / 7
}

TEST_CASE("check: the step and large classes of both runs are judged, each alone", "[compare]") {
  const RunProfile a = told_run(10, {{"slow", 200'000}, {"tiny", 5'000}, {"gone", 100'000}});
  const RunProfile b = told_run(10, {{"slow", 210'000}, {"tiny", 50'000 / 6}, {"new", 300'000}}, 1'010'000);
  const Judgements judged = judge_regressions(compare_runs(a, b, 0), {3, 1});
  REQUIRE(judged.changes.size() == 2);
  CHECK(judged.changes[0].what == JudgedWhat::step);
  CHECK(judged.changes[0].judgement == Judgement::passed);  // by 1 %
  CHECK(judged.changes[1].change.quantity->name == "of slow");
  CHECK(judged.changes[1].judgement == Judgement::regressed);
  CHECK(*judged.changes[1].detectable_pct == 3);
  CHECK(judged.verdict == Judgement::regressed);
  CHECK(judge_regressions(compare_runs(a, b, 0), {3, 0.1}).changes.size() == 3);
  CHECK(judge_regressions(compare_runs(a, b, 0), {5.1, 1}).verdict == Judgement::passed);
  CHECK(judge_regressions(compare_runs(told_run(2, {{"slow", 1}}), told_run(2, {{"slow", 2}}), 0), {3, 0}).verdict ==
        Judgement::unclear);
  CHECK(classes_of_one_run(compare_runs(a, b, 0), {3, 1}) == std::vector<std::string>{"of new", "of gone"});
}

namespace {

// Steps that take `values`, with a class that always takes 100 us.
RunProfile uneven_run(const std::vector<std::int64_t>& values) {
  RunProfile run = told_run(values.size(), {{"steady", 100'000}}, 0);
  for (std::size_t step = 0; step < values.size(); ++step)
    run.group(QuantityGroup::step)[{std::string(kStepTime)}].add(step, values[step], 0);
  return run;
}

Judgement verdict_of(const RunProfile& a, const RunProfile& b, double most_pct = 3) {
  return judge_regressions(compare_runs(a, b, 0), {most_pct, 1}).verdict;
}

}  // namespace

TEST_CASE("check: classes stand for a step that cannot be judged, unless it seems to be longer", "[compare]") {
  const RunProfile a = uneven_run({1'000'000, 1'300'000, 1'200'000, 1'100'000});
  CHECK(verdict_of(a, a) == Judgement::passed);
  CHECK(verdict_of(a, uneven_run({1'100'000, 1'400'000, 1'300'000, 1'200'000})) == Judgement::unclear);
  RunProfile other = uneven_run({1'000'000, 1'300'000, 1'200'000, 1'100'000});
  other.compute_classes.clear();
  CHECK(verdict_of(other, other) == Judgement::unclear);
}

TEST_CASE("check: launches of a kernel by configuration, in the steps that have any", "[compare]") {
  const auto run = [](std::int64_t ns, std::int64_t in_third) {
    RunProfile made = told_run(5, {}, 1'000'000);
    for (std::size_t step = 0; step < 5; ++step) {
      made.group(QuantityGroup::launch)[{"k", -1, {}, "1x1x1 32x1x1", "c"}].add(step, 10 * ns, 10);
      if (step < 3)
        made.group(QuantityGroup::launch)[{"k", -1, {}, "2x1x1 32x1x1", "c"}].add(step, step == 2 ? in_third : 100'000,
                                                                                  2);
    }
    return made;
  };
  const RunProfile a = run(20'000, 100'000), b = run(24'000, 300'000);  // changes point into them
  const Judgements judged = judge_regressions(compare_runs(a, b, 0), {3, 1});
  REQUIRE(judged.changes.size() == 3);
  CHECK(judged.changes[1].change.a.median == 20'000);
  CHECK(judged.changes[1].judgement == Judgement::regressed);
  CHECK(judged.changes[2].change.a.steps == 3);
  CHECK(judged.changes[2].judgement == Judgement::unclear);
  CHECK(regressed_table(judged).rows.size() == 1);
  CHECK(judged_tables(judged)[1].rows.size() == 2);
}

TEST_CASE("sequences: of the steps that are most alike, equal changes once", "[compare]") {
  RunProfile a, b;
  add_sequence(a, 4, {"a", "b"});
  add_sequence(a, 5, {"add", "mul", "gemm", "add", "mul", "gemm", "norm"});
  add_sequence(b, 9, {"fused", "gemm", "fused", "gemm", "norm", "loss"});
  const auto compared = compare_sequences(a, b);
  REQUIRE(compared);
  CHECK(compared->step_a == 5);
  CHECK(compared->kernels_b == 6);
  REQUIRE(compared->changes);
  REQUIRE(compared->changes->size() == 2);
  const KernelChange& fused = compared->changes->front();
  CHECK(fused.times == 2);
  CHECK(fused.at_a == 0);
  CHECK(fused.removed.size() == 2);
  CHECK(fused.added.size() == 1);
  CHECK(compared->changes->back().at_b == 5);
  CHECK_FALSE(compare_sequences(a, RunProfile()));

  RunProfile wider;
  add_sequence(wider, 1, {"a", "b"}, 2);
  const auto grids = compare_sequences(a, wider);
  REQUIRE(grids->changes->size() == 1);
  CHECK(grids->changes->front().grid_alone);
}

TEST_CASE("sums of steps: those that come later, of another rank, are added", "[compare]") {
  StepSums sums;
  for (const std::size_t step : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 0u, 6u}) sums.add(step, 10, 1);
  CHECK(sums.ns(8) == std::vector<std::int64_t>{20, 10, 10, 10, 10, 10, 20, 0});
  CHECK(sums.counts(8) == std::vector<std::int64_t>{2, 1, 1, 1, 1, 1, 2, 0});
}
