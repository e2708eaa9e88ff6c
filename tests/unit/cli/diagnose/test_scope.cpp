// What all rules share: traces that lack something, what is looked at, and the next command.
#include "tests/unit/catch.h"
#include "tests/unit/cli/diagnose/made_profile.h"

using namespace cli;

namespace {

// Steps of 1000 us, each with a kernel of 900 us, which in step `slow` begins late by `late_us`: the host was outside of all operators.
MadeProfile with_steps(std::int64_t count, std::int64_t slow, double late_us, std::int64_t also = -1) {
  MadeProfile made;
  double at = 0;
  for (std::int64_t step = 0; step < count; ++step) {
    const double late = step == slow ? late_us : step == also ? late_us / 2 : 0;
    made.step(step, at, at + 1000 + late);
    made.op("aten::mm", at + late + 10, at + late + 40);
    made.kernel("gemm", at + late + 60, at + late + 1000, made.call("cudaLaunchKernel", at + late + 40, at + late + 50));
    at += 1000 + late;
  }
  return made;
}

}  // namespace

TEST_CASE("diagnose: each rule takes a trace of copies alone, and an empty one") {
  MadeProfile copies, nothing;
  for (std::int64_t i = 0; i < 100; ++i) {
    const double at = 100.0 * static_cast<double>(i);
    copies.copy("Memcpy DtoD (Device -> Device)", at + 10, at + 20, copies.call("cudaMemcpyAsync", at, at + 5), 4096);
  }
  nothing.op("aten::mm", 0, 10);
  for (const RuleEntry& rule : rules()) {
    CAPTURE(std::string(rule.name));
    CHECK_NOTHROW(findings_of(rule.name, copies));
    CHECK(findings_of(rule.name, nothing).empty());
  }
  CHECK(findings_of("launch-bound", copies).empty());
  CHECK(findings_of("host-late", copies).size() == 1);
}

TEST_CASE("diagnose: the next command shows the first evidence") {
  const auto findings = findings_of("host-late", with_steps(6, 4, 800, 2));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].steps == std::vector<std::int64_t>{0, 1, 2, 3, 4});  // in which the five longest end, of equal ones the first
  CHECK(findings[0].next_command == "tracetool export --perfetto made/ --ranks 0 --steps 4 -o host-late.json.gz");
}

TEST_CASE("diagnose: a saving is at most the time that is looked at, and the largest of several ranks") {
  const MadeProfile one = with_steps(6, 4, 800), other = with_steps(6, 4, 2000), healthy = with_steps(6, -1, 0);
  const Diagnosis diagnosis = diagnosis_of("host-late", {&one, &other, &healthy});
  REQUIRE(diagnosis.findings.size() == 1);
  const Finding& found = diagnosis.findings[0];
  // Gaps of 60 us before each kernel, of which the launch has 20 behind its call's begin; and what is late.
  CHECK(found.saving_ns == 2'000'000 + 6 * 40'000);
  CHECK(found.ranks == std::vector<std::int64_t>{0, 1});
  CHECK(*found.saving_ns <= diagnosis.length_ns);
  CHECK(diagnosis.steps == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(diagnosis.processes == 3);
}
