// Rules of whole steps, each on a made profile whose figures are summed by hand.
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;

namespace {

// Steps of these lengths, from 10 on, whose GPU is busy but for 100 us at the start.
MadeProfile with_steps(const std::vector<std::int64_t>& us) {
  MadeProfile made;
  double at = 0;
  for (std::size_t i = 0; i < us.size(); ++i) {
    const double end = at + static_cast<double>(us[i]);
    made.step(static_cast<std::int64_t>(10 + i), at, end);
    made.kernel("gemm", at + 100, end, made.call("cudaLaunchKernel", at, at + 5));
    at = end;
  }
  return made;
}

}  // namespace

TEST_CASE("step-outlier: the excess over the median, and what differs") {
  const auto findings =
      findings_of("step-outlier", with_steps({1000, 1000, 1000, 1000, 1000, 1500, 1000, 1000, 1000, 1000}));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 500'000);
  CHECK(findings[0].steps == std::vector<std::int64_t>{15});
  INFO(findings[0].title);
  CHECK(
      findings[0].title ==
      "step 15 took far longer than the median of 1.000 ms; the longest took 1.500 ms: compute grew most, by 500.0 us; among kernels gemm, by 500.0 us");
  CHECK(findings[0].ranks == std::vector<std::int64_t>{0});
  REQUIRE(findings[0].evidence.size() == 1);
  CHECK(findings[0].evidence[0].end_ns - findings[0].evidence[0].start_ns == 1'500'000);
}

TEST_CASE("step-outlier: a kernel that grew by less than a tenth of the excess explains nothing") {
  for (const double grew_us : {49.0, 51.0}) {
    MadeProfile made;
    double at = 0;
    for (std::int64_t i = 0; i < 10; ++i) {
      const double more = i == 5 ? 500 : 0;
      made.step(i, at, at + 1000 + more);
      made.kernel("gemm", at + 100 + more - (i == 5 ? grew_us : 0), at + 1000 + more,
                  made.call("cudaLaunchKernel", at, at + 5));
      at += 1000 + more;
    }
    const auto findings = findings_of("step-outlier", made);
    REQUIRE(findings.size() == 1);
    INFO(findings[0].title);
    CHECK(has_text(findings[0].title, "idle grew most, by 4"));
    CHECK(has_text(findings[0].title, "among kernels gemm") == (grew_us > 50));
  }
}

TEST_CASE("step-outlier: silent where all steps are alike, and where it is little of the time") {
  CHECK(findings_of("step-outlier", with_steps({1000, 1000, 1000, 1000, 1000, 1200, 1000, 1000, 1000, 1000})).empty());
  std::vector<std::int64_t> many(60, 1000);
  many[30] = 1500;  // 0.8 %
  CHECK(findings_of("step-outlier", with_steps(many)).empty());
  many.resize(40);
  CHECK(findings_of("step-outlier", with_steps(many)).size() == 1);
}

TEST_CASE("slow-first: a first step that is not left out") {
  const auto findings = findings_of("slow-first", with_steps({1501, 1000, 1000}));
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].saving_ns);
  CHECK(findings[0].title ==
        "the results include 1 warm-up step: step 10 takes 1.501 ms, the median of the others is 1.000 ms");
  CHECK(findings[0].steps == std::vector<std::int64_t>{10});
  CHECK(has_text(findings[0].advice, "--steps 11-"));
  CHECK(findings_of("slow-first", with_steps({1500, 1000, 1000})).empty());
  CHECK(findings_of("slow-first", with_steps({1000, 3000, 1000})).empty());
}

TEST_CASE("slow-first: warm-up that a person chose") {
  const MadeProfile made = with_steps({3000, 2500, 1000, 1000, 1000, 1000, 1000});
  CHECK(findings_of("slow-first", made).empty());  // it is left out
  Selection chosen;
  chosen.steps = NumberRanges("--steps", "10-14");
  const auto findings = findings_of("slow-first", made, chosen);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].steps == std::vector<std::int64_t>{10, 11});
  chosen.steps = NumberRanges("--steps", "12-14");
  CHECK(findings_of("slow-first", made, chosen).empty());
}

TEST_CASE("recording-overhead: 2 % of the time, once where it overlaps") {
  const auto with_overhead = [](double us) {
    MadeProfile made;
    made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
    made.slice("overhead", "Activity Buffer Request", 100, 110, -1, 0);
    made.slice("overhead", "Instrumentation", 105, 100 + us, -1, 5);
    made.slice("overhead", "Command Buffer Full", 500, 900, -1, 5);  // the program's own
    return made;
  };
  const auto findings = findings_of("recording-overhead", with_overhead(21));
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].saving_ns);
  CHECK(
      findings[0].title ==
      "recording overhead takes 21.00 us (2.1 %), mostly in Instrumentation; times are longer than without recording");
  CHECK(findings_of("recording-overhead", with_overhead(20)).empty());
}

TEST_CASE("recording-overhead: buffers that another thread flushes cost nothing") {
  for (const std::int64_t thread : {MadeProfile::kThread, std::int64_t{5}}) {
    MadeProfile made;
    made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
    made.slice("overhead", "Buffer Flush", 100, 300, 1, thread);
    CHECK(findings_of("recording-overhead", made).size() == (thread == MadeProfile::kThread ? 1 : 0));
  }
}

TEST_CASE("backward-long: more than three times the forward pass") {
  const auto with_passes = [](double backward_us) {
    MadeProfile made;
    for (const double at : {0.0, 1000.0}) {
      made.step(at > 0 ? 1 : 0, at, at + 1000);
      made.range("forward", at, at + 20);
      made.kernel("gemm", at + 10, at + 110, made.call("cudaLaunchKernel", at + 5, at + 8));
      made.range("backward", at + 30, at + 60);
      made.kernel("gemm", at + 200, at + 200 + backward_us, made.call("cudaLaunchKernel", at + 40, at + 45));
    }
    return made;
  };
  const auto findings = findings_of("backward-long", with_passes(310));
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].saving_ns);
  INFO(findings[0].title);
  CHECK(has_text(
      findings[0].title,
      "takes 3.1 times as long on the GPU as the forward pass: 310.0 us a step (41.1 %) against 100.0 us a step (13.2 %)"));
  CHECK(findings[0].steps == std::vector<std::int64_t>{0, 1});
  CHECK(findings_of("backward-long", with_passes(300)).empty());
}
