#include "cli/compare/comparison.h"

#include <cmath>

#include "cli/compare/diff_tables.h"
#include "cli/compare/regressions.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// A run of steps of 1 ms and a kernel each of the others, whose times in all steps are told.
RunProfile told_run(std::size_t steps, const std::vector<std::pair<std::string, std::int64_t>>& kernels, std::int64_t step_ns = 1'000'000) {
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
  const RunProfile a = told_run(10, {{"same", 100'000}, {"grew", 100'000}, {"shrank", 100'000}, {"gone", 50'000}, {"little", 10'000}});
  const RunProfile b = told_run(10, {{"same", 100'000}, {"grew", 120'000}, {"shrank", 90'000}, {"new", 50'000}, {"little", 10'900}});
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
  const auto judged = judge_regressions(compare_runs(a, b, 0), {3, 1});
  REQUIRE(judged.size() == 2);
  CHECK(judged[0].is_step);
  CHECK_FALSE(judged[0].regressed);  // by 1 %
  CHECK(judged[1].change.quantity->name == "of slow");
  CHECK(judged[1].regressed);
  CHECK(judge_regressions(compare_runs(a, b, 0), {3, 0.1}).size() == 3);
  CHECK_FALSE(any_regressed(judge_regressions(compare_runs(a, b, 0), {5.1, 1})));
  CHECK_FALSE(any_regressed(judge_regressions(compare_runs(told_run(7, {{"slow", 1}}), told_run(7, {{"slow", 2}}), 0), {3, 0})));
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
