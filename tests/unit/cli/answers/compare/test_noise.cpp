// The noise model on made steps: how often it says a word that is wrong, and how often it misses one that is right.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "cli/answers/compare/noise.h"
#include "cli/answers/compare/regressions.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::comparison;

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

// AR(1) of 0.9 with a deviation of 2 %: one value per step. A run begins anywhere in the series.
class Drift {
 public:
  explicit Drift(std::mt19937& random) : last_(normal(random)) {}
  double next(std::mt19937& random) {
    last_ = 0.9 * last_ + std::sqrt(1 - 0.81) * normal(random);
    return 1 + 0.02 * last_;
  }

 private:
  double last_;
};

enum class Drifting { nothing, all_alike, each_class };

struct MadeRun {
  Draw draw = even;    // of each launch
  double matmul = 1;   // its duration
  double compute = 1;  // duration of all kernels
  std::size_t steps = 40, ranks = 1, launches = 1;
  Drifting drifting = Drifting::nothing;
};

// Steps of 10 ms of several classes, each of one kernel: matmul is 20 %.
RunProfile made_run(std::mt19937& random, const MadeRun& made) {
  RunProfile run;
  run.gpus = static_cast<std::int64_t>(made.ranks);
  const std::pair<const char*, double> shares[] = {
      {"attention", 0.3}, {"matmul", 0.2}, {"elementwise", 0.25}, {"communication", 0.15}, {"normalization", 0.1}};
  std::vector<Drift> drifts(std::size(shares), Drift(random));
  if (made.drifting == Drifting::each_class) {
    for (Drift& drift : drifts) drift = Drift(random);
  }
  for (const auto& [name, share] : shares) run.compute_classes.insert(name);
  for (std::size_t step = 0; step < made.steps; ++step) {
    run.steps.push_back(static_cast<std::int64_t>(step));
    std::int64_t whole_ns = 0;
    double factor = 1;
    for (std::size_t i = 0; i < std::size(shares); ++i) {
      const auto& [name, share] = shares[i];
      if (made.drifting == Drifting::each_class || (made.drifting == Drifting::all_alike && i == 0))
        factor = drifts[i].next(random);
      const double slower = made.compute * (std::string_view(name) == "matmul" ? made.matmul : 1);
      const std::size_t launches = made.launches * made.ranks;
      std::int64_t ns = 0;
      for (std::size_t launch = 0; launch < launches; ++launch)
        ns += static_cast<std::int64_t>(10e6 * share * factor * made.draw(random) * slower /
                                        static_cast<double>(made.launches));
      run.group(QuantityGroup::work_class)[{name}].add(step, ns, static_cast<std::int64_t>(launches));
      run.group(QuantityGroup::launch)[{name, -1, {}, "64x1x1 128x1x1", name}].add(step, ns,
                                                                                   static_cast<std::int64_t>(launches));
      whole_ns += ns;
    }
    run.group(QuantityGroup::step)[{std::string(kStepTime)}].add(step, whole_ns, 0);
  }
  return run;
}

struct Verdicts {
  int alarms = 0, named = 0, passed = 0;
};

// Of `repetitions` pairs of runs.
Verdicts repeat(const MadeRun& first, const MadeRun& second, double most_pct, int repetitions = 100) {
  Verdicts verdicts;
  for (int i = 0; i < repetitions; ++i) {
    std::mt19937 random(static_cast<unsigned>(1000 + i));
    const RunProfile a = made_run(random, first), b = made_run(random, second);
    const Judgements judged = judge_regressions(compare_runs(a, b, 0), {most_pct, 1});
    verdicts.alarms += judged.verdict == Judgement::regressed ? 1 : 0;
    verdicts.passed += judged.verdict == Judgement::passed ? 1 : 0;
    for (const JudgedChange& each : judged.changes) {
      verdicts.named += each.what == JudgedWhat::work_class && each.judgement == Judgement::regressed &&
                                each.change.quantity->name == "matmul"
                            ? 1
                            : 0;
    }
  }
  return verdicts;
}

MadeRun with(MadeRun run, double matmul) {
  run.matmul = matmul;
  return run;
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
    words += differ(a, b, noise_of(a, b, kFalseWord / static_cast<double>(judged))) ? 1 : 0;
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
  const std::vector<Draw> draws{even, heavy, outlying};
  for (std::size_t i = 0; i < (case_step() > 1 ? 1 : draws.size()); ++i) {
    const MadeRun run{draws[i]};
    const Verdicts same = repeat(run, run, 3), slower = repeat(run, with(run, 1.05), 3);
    CHECK(same.alarms <= 1);
    CHECK(same.passed >= 99);
    CHECK(slower.named >= 98);
  }
  if (case_step() == 1)
    CHECK(repeat({}, {}, 0).alarms <= 3);  // by the noise alone, which bounds all judgements together
}

namespace {

void check_alarms(const std::vector<std::size_t>& all_steps, int pairs, int most_alarms) {
  for (const std::size_t steps : all_steps) {
    std::vector<MadeRun> runs;
    for (const std::size_t ranks : {1u, 8u}) {
      if (ranks == 8 && steps > 12) continue;
      for (const Draw& draw : {Draw(even), Draw(heavy)}) runs.push_back({draw, 1, 1, steps, ranks});
      for (const Drifting drifting : {Drifting::all_alike, Drifting::each_class})
        runs.push_back({even, 1, 1, steps, ranks, 5, drifting});
    }
    runs.push_back({outlying, 1, 1, steps});
    for (const MadeRun& run : runs) {
      INFO(steps << " steps, " << run.ranks << " ranks, run " << &run - runs.data());
      CHECK(repeat(run, run, 3, pairs).alarms <= most_alarms);
    }
  }
}

}  // namespace

TEST_CASE("check: runs that do not differ raise no alarm, whatever their steps are like", "[compare][slow]") {
  // Less than 1 is expected; more than 2 by chance once in 70.
  check_alarms(case_step() > 1 ? std::vector<std::size_t>{3, 12} : std::vector<std::size_t>{3, 4, 7, 12, 40},
               50 / static_cast<int>(std::min<std::size_t>(case_step(), 5)), 2);
}

TEST_CASE("check: at most 1 % of runs that do not differ raise an alarm", "[.][long]") {  // minutes
  check_alarms({3, 4, 5, 6, 7, 8, 11, 12, 16, 20, 40, 100}, 1000, 15);                    // 10 are expected at most
}

TEST_CASE("check: 4 steps with many launches are enough to see 20 %, and to pass 0.5 %", "[compare]") {
  for (const Draw& draw : {Draw(even), Draw(heavy)}) {
    MadeRun run{draw, 1, 1, 4, 1, 30}, slower = run, alike = run;
    slower.compute = 1.2;
    alike.compute = 1.005;
    CHECK(repeat(run, slower, 3, 50).alarms == 50);
    CHECK(repeat(run, alike, 3, 50).passed >= 49);
    std::mt19937 random(3);
    const RunProfile a = made_run(random, run);
    CHECK(judge_regressions(compare_runs(a, a, 0), {3, 1}).verdict == Judgement::passed);
  }
}

TEST_CASE("check: what neither regressed nor passed is unclear", "[compare]") {
  const Draw wild = [](std::mt19937& random) { return std::exp(0.5 * normal(random)); };
  CHECK(repeat({wild, 1, 1, 4}, {wild, 1, 1, 4}, 3).passed <= 5);  // with 95 %
  const MadeRun two{even, 1, 1, 2, 1, 30};
  const Verdicts verdicts = repeat(two, two, 3);
  CHECK(verdicts.passed + verdicts.alarms == 0);
}

TEST_CASE("noise: the chance of a false word is bounded, whatever steps are like", "[compare][slow]") {
  for (const std::size_t steps : {8u, 12u, 40u, 200u}) {
    if (case_step() > 1 && steps > 12) break;
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

TEST_CASE("noise: of fewer than 3 steps none is known; of fewer than 8 sides that do not mix differ", "[compare]") {
  const StepSample a({10, 11, 12}, 1), b({13, 14, 15, 16, 17, 18, 19, 20, 21}, 1), c({12, 20}, 1);
  CHECK(noise_of(a, b, 0.01));
  CHECK_FALSE(noise_of(a, c, 0.01));
  CHECK_FALSE(margin_of(c, a));
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

TEST_CASE("noise: it is wider where more rows are judged", "[compare]") {
  std::vector<std::int64_t> values;
  for (int i = 0; i < 12; ++i) values.push_back(1000 + (i * 5) % 12);
  const StepSample some(values, 1);
  const double joint = some.widest_error * std::sqrt(2);
  CHECK(*noise_of(some, some, 0.001) == Approx(joint * student_quantile(0.001, 2 * 0.37 * 11)));
  CHECK(*noise_of(some, some, 0.01) == Approx(joint * student_quantile(0.01, 2 * 0.37 * 11)));
  CHECK(*noise_of(some, some, 0.01, 500) == 500);  // timestamps are not that exact
}

TEST_CASE("noise: means of few steps", "[compare]") {
  const StepSample a({1000, 1010, 990, 1004}, 1), b({1200, 1190, 1205, 1209}, 1);
  CHECK(difference_of(a, b) == 200);
  const double variance = (a.deviation * a.deviation + b.deviation * b.deviation) / 2;
  CHECK(a.deviation == Approx(8.4063));
  CHECK(*margin_of(a, b) == Approx(std::sqrt(variance / 2) * student_quantile(0.1, 6)));
  CHECK(*noise_of(a, b, 0.01) == Approx(std::sqrt(variance / 2) * widening(4, 0.9) * student_quantile(0.01, 6)));
}

TEST_CASE("noise: by how much a mean of steps that are alike is less certain", "[compare]") {
  CHECK(widening(4, 0) == 1);
  // The sum of all correlations, term by term.
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) sum += i == j ? 0 : std::pow(0.9, std::abs(i - j));
  }
  const double mean = sum / 20;
  CHECK(widening(5, 0.9) == Approx(std::sqrt((1 + 4 * mean) / (1 - mean))));
  CHECK(widening(100'000, 0.5) == Approx(std::sqrt(3)).epsilon(1e-3));
}

TEST_CASE("noise: the correlation of neighbours is an upper estimate from 12 steps on", "[compare]") {
  std::mt19937 random(5);
  std::vector<std::int64_t> white, drifting;
  Drift drift(random);
  for (int i = 0; i < 400; ++i)
    white.push_back(static_cast<std::int64_t>(1e6 * even(random))),
        drifting.push_back(static_cast<std::int64_t>(1e6 * drift.next(random)));
  CHECK(StepSample(white, 1).dependence < 0.2);
  CHECK(StepSample(drifting, 1).dependence > 0.8);
  CHECK(StepSample(std::vector<std::int64_t>(white.begin(), white.begin() + 11), 1).dependence == 0.9);
}

TEST_CASE("noise: each median is outside of the interval of the other", "[compare]") {
  // Both have two speeds, one of them a little more often than the other.
  std::vector<std::int64_t> slow(200, 1100), fast(200, 1000);
  for (std::size_t i = 0; i < 98; ++i) slow[2 * i + 1] = 1000, fast[2 * i + 1] = 1100;
  const StepSample a(fast, 1), b(slow, 1);
  CHECK(b.median - a.median == 100);
  CHECK(a.above == 100);
  CHECK_FALSE(differ(a, b, noise_of(a, b, kFalseWord)));
  CHECK_FALSE(differ(b, a, noise_of(b, a, kFalseWord)));
}
