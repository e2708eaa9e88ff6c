// The noise model on made steps: how often it says a word that is wrong, and how often it misses one that is right.
#include "cli/compare/noise.h"

#include <cmath>
#include <functional>
#include <random>

#include "cli/compare/regressions.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// Of one step: a factor around 1.
using Draw = std::function<double(std::mt19937&)>;

double normal(std::mt19937& random) { return std::normal_distribution<double>(0, 1)(random); }

// Noise of 2 %.
double even(std::mt19937& random) { return 1 + 0.02 * normal(random); }
// Student's distribution of 3 degrees of freedom, with the same middle half.
double heavy(std::mt19937& random) { return 1 + 0.02 * 0.882 * std::student_t_distribution<double>(3)(random); }
// One step in 20 takes three times as long, as with a checkpoint.
double outlying(std::mt19937& random) { return random() % 20 == 0 ? 3 : even(random); }
// Two speeds.
double twofold(std::mt19937& random) { return (random() % 2 == 0 ? 1.0 : 1.1) * (1 + 0.002 * normal(random)); }

// A step of 10 ms of several classes, each with a noise of its own: matmul is 20 %.
RunProfile made_run(std::mt19937& random, const Draw& draw, double matmul = 1, std::size_t steps = 40) {
  RunProfile run;
  run.gpus = 1;
  run.ranks = {0};
  const std::pair<const char*, double> shares[] = {{"attention", 0.3}, {"matmul", 0.2}, {"elementwise", 0.25}, {"communication", 0.15}, {"normalization", 0.1}};
  for (std::size_t step = 0; step < steps; ++step) {
    run.steps.push_back(static_cast<std::int64_t>(step));
    std::int64_t whole_ns = 0;
    for (const auto& [name, share] : shares) {
      const bool is_slower = std::string_view(name) == "matmul";
      const auto ns = static_cast<std::int64_t>(10e6 * share * draw(random) * (is_slower ? matmul : 1));
      run.group(QuantityGroup::work_class)[{name}].add(step, ns, 1);
      whole_ns += ns;
    }
    run.group(QuantityGroup::step)[{std::string(kStepTime)}].add(step, whole_ns, 0);
  }
  return run;
}

struct Verdicts {
  int alarms = 0, named = 0;
};

// Of `repetitions` pairs of runs; the second has a slower matmul.
Verdicts repeat(const Draw& draw, double matmul, double most_pct, std::size_t steps = 40, int repetitions = 100) {
  Verdicts verdicts;
  for (int i = 0; i < repetitions; ++i) {
    std::mt19937 random(static_cast<unsigned>(1000 + i));
    const RunProfile a = made_run(random, draw, 1, steps), b = made_run(random, draw, matmul, steps);
    const auto judged = judge_regressions(compare_runs(a, b, 0), {most_pct, 1});
    verdicts.alarms += any_regressed(judged) ? 1 : 0;
    for (const JudgedChange& each : judged) verdicts.named += !each.is_step && each.regressed && each.change.quantity->name == "matmul" ? 1 : 0;
  }
  return verdicts;
}

std::vector<std::int64_t> drawn(std::mt19937& random, const Draw& draw, std::size_t steps) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < steps; ++i) values.push_back(static_cast<std::int64_t>(1e6 * draw(random)));
  return values;
}

// How many of so many pairs that do not differ are called different.
int false_words(const Draw& draw, std::size_t steps, std::size_t judged, int pairs) {
  std::mt19937 random(17);
  int words = 0;
  for (int i = 0; i < pairs; ++i) {
    const StepSample a(drawn(random, draw, steps), 1), b(drawn(random, draw, steps), 1);
    words += differ(a, b, noise_of(a, b, judged)) ? 1 : 0;
  }
  return words;
}

}  // namespace

TEST_CASE("noise: quantiles of Student's distribution are those of its tables", "[compare]") {
  CHECK(student_quantile(0.05, 1) == Approx(12.706).epsilon(1e-3));
  CHECK(student_quantile(0.05, 10) == Approx(2.228).epsilon(1e-3));
  CHECK(student_quantile(0.01, 5) == Approx(4.032).epsilon(1e-3));
  CHECK(student_quantile(0.001, 30) == Approx(3.646).epsilon(1e-3));
  CHECK(student_quantile(0.01, 1e4) == Approx(2.576).epsilon(6e-3));
  CHECK(student_quantile(0.0002, 3) == Approx(22.204).epsilon(1e-2));
}

TEST_CASE("noise: 40 steps a side, a noise of 2 %, a check at 3 %", "[compare][slow]") {
  for (const Draw& draw : {Draw(even), Draw(heavy), Draw(outlying)}) {
    CHECK(repeat(draw, 1, 3).alarms <= 1);
    CHECK(repeat(draw, 1.05, 3).named >= 99);
  }
  CHECK(repeat(even, 1, 0).alarms <= 3);  // by the noise alone, which bounds all judgements together
}

TEST_CASE("noise: the chance of a false word is bounded, whatever steps are like", "[compare][slow]") {
  for (const std::size_t steps : {8u, 12u, 40u, 200u}) {
    int kind = 0;
    for (const Draw& draw : {Draw(even), Draw(heavy), Draw(outlying), Draw(twofold)}) {
      INFO(steps << " steps, distribution " << ++kind);
      // 6, and none, are expected at most; of two speeds that are equally frequent the median lies at the edge of one of them, which no order tells.
      CHECK(false_words(draw, steps, 1, 600) <= (kind == 4 ? 30 : 14));
      CHECK(false_words(draw, steps, 100, 300) <= (kind == 4 ? 5 : 1));
    }
  }
}

TEST_CASE("noise: steps that are like those before them widen it", "[compare]") {
  double last = 0;
  const Draw slow = [&](std::mt19937& random) {
    last = 0.5 * last + normal(random);
    return 1 + 0.02 * last;
  };
  CHECK(false_words(slow, 40, 10, 1000) <= 20);
}

TEST_CASE("noise: of few steps none is known, and sides that do not mix differ", "[compare]") {
  const StepSample a({10, 11, 12}, 1), b({13, 14, 15, 16, 17, 18, 19, 20, 21}, 1), c({12, 20}, 1);
  CHECK_FALSE(noise_of(a, b, 1));
  CHECK(differ(a, b, std::nullopt));
  CHECK(differ(b, a, std::nullopt));
  CHECK_FALSE(differ(a, c, std::nullopt));
}

TEST_CASE("noise: values are means over GPUs; equal steps have the least noise", "[compare]") {
  const StepSample two(std::vector<std::int64_t>(10, 2000), 2);
  CHECK(two.median == 1000);
  CHECK(two.mean == 1000);
  CHECK(two.error == Approx(1000 * kLeastError));
  CHECK(StepSample(std::vector<std::int64_t>(10, 0), 2).never);
  CHECK_FALSE(two.never);
  CHECK(StepSample({}, 1).median == 0);
}

TEST_CASE("noise: the error of a median is the larger of two", "[compare]") {
  // 11 low, 18 in the middle, 11 high: the interval of the median lies in the middle, and more than half are far from it.
  std::vector<std::int64_t> values;
  for (int i = 0; i < 40; ++i) values.push_back(i % 4 == 0 || i == 1 ? 900 : i % 4 == 2 || i == 21 ? 1100 : 1000);
  CHECK(StepSample(values, 1).error == Approx(1.2533 * 1.4826 * 100 / std::sqrt(40)));
  // 8 steps: the whole range.
  CHECK(StepSample({100, 180, 120, 160, 130, 150, 140, 141}, 1).error == Approx(80 / (2 * 2.5758)).epsilon(0.3));
}

TEST_CASE("noise: of few steps it is wider, and of many rows", "[compare]") {
  std::vector<std::int64_t> values;
  for (int i = 0; i < 8; ++i) values.push_back(1000 + (i * 5) % 8);
  const StepSample few(values, 1);
  const double joint = few.error * std::sqrt(2);
  CHECK(*noise_of(few, few, 10) == Approx(joint * student_quantile(0.001, 2 * 0.37 * 7)));
  CHECK(*noise_of(few, few, 1) == Approx(joint * student_quantile(0.01, 2 * 0.37 * 7)));
  CHECK(student_quantile(0.001, 2 * 0.37 * 7) > 6);
}

TEST_CASE("noise: each median is outside of the interval of the other", "[compare]") {
  // Both have two speeds, one of them a little more often than the other.
  std::vector<std::int64_t> slow(200, 1100), fast(200, 1000);
  for (std::size_t i = 0; i < 98; ++i) slow[2 * i + 1] = 1000, fast[2 * i + 1] = 1100;
  const StepSample a(fast, 1), b(slow, 1);
  CHECK(b.median - a.median == 100);
  CHECK(a.above == 100);
  CHECK_FALSE(differ(a, b, noise_of(a, b, 1)));
  CHECK_FALSE(differ(b, a, noise_of(b, a, 1)));
}
