// What all rules share: traces that lack something, what is looked at, and the next command.
#include "cli/answers/rules/write_findings.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;
using namespace cli::rules;

namespace {

// Steps of 1000 us, each with a kernel of 900 us, which in step `slow` begins late by `late_us`: the host was outside of all operators.
MadeProfile with_steps(std::int64_t count, std::int64_t slow, double late_us, std::int64_t also = -1) {
  MadeProfile made;
  double at = 0;
  for (std::int64_t step = 0; step < count; ++step) {
    const double late = step == slow ? late_us : step == also ? late_us / 2 : 0;
    made.step(step, at, at + 1000 + late);
    made.op("aten::mm", at + late + 10, at + late + 40);
    made.kernel("gemm", at + late + 60, at + late + 1000,
                made.call("cudaLaunchKernel", at + late + 40, at + late + 50));
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
  for (const RuleEntry& rule : rule_entries()) {
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
  CHECK(findings[0].steps ==
        std::vector<std::int64_t>{0, 1, 2, 3, 4});  // in which the five longest end, of equal ones the first
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

TEST_CASE("diagnose: a wait explains as much of a gap as it took, and what the host did after it the rest") {
  // The GPU idles from 10,000 us on. The host waits for it to 10,003 us, and launches at 110,000 us.
  const auto with_wait = [](const char* call, double us) {
    MadeProfile made;
    made.op("aten::mm", -20, -1);
    made.kernel("gemm", 0, 10'000, made.call("cudaLaunchKernel", -10, -5));
    made.call(call, 10'003 - us, 10'003);
    made.kernel("gemm", 110'010, 200'000, made.call("cudaLaunchKernel", 110'000, 110'004));
    return made;
  };
  CHECK(findings_of("host-sync", with_wait("cudaDeviceSynchronize", 303)).empty());
  const auto late = findings_of("host-late", with_wait("cudaDeviceSynchronize", 303));
  REQUIRE(late.size() == 1);
  CHECK(late[0].saving_ns == 110'000'000 - 10'303'000);
  REQUIRE(late[0].evidence.size() == 1);
  CHECK(late[0].evidence[0].start_ns == 10'323'000);  // the trace starts at -20 us
  CHECK(has_text(late[0].evidence[0].what, "outside of all operators"));
  const auto waits = findings_of("host-sync", with_wait("cudaStreamSynchronize", 2500));
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].saving_ns == 2'500'000);
  REQUIRE(waits[0].evidence.size() == 1);
  CHECK(waits[0].evidence[0].end_ns - waits[0].evidence[0].start_ns == 2'500'000);
}

TEST_CASE("diagnose: communication that is no collective is not taken for none") {
  MadeProfile made;
  made.kernel("void deep_ep::internode::dispatch<false, 4>(int4*, float*)", 0, 1000,
              made.call("cudaLaunchKernel", -10, -5));
  const auto reason_of = [](const MadeProfile& profile) {
    const auto not_checked = diagnosis_of("comm-slow", {&profile}).not_checked;
    return not_checked.size() == 1 ? not_checked[0].reason : "";
  };
  CHECK(reason_of(made) == "no collectives that can be matched; table overlap shows communication time");
  CHECK(reason_of(with_steps(2, -1, 0)) == "no collectives in the trace");
}

TEST_CASE("diagnose: an unknown rank is not mentioned if there is one process") {
  Finding finding;
  finding.ranks = {-1};
  finding.steps = {2, 5};
  Diagnosis one, two;
  one.processes = 1, two.processes = 2;
  CHECK(where_text(finding, one) == "seen in steps 2, 5");
  CHECK(where_text(finding, two) == "unknown ranks, seen in steps 2, 5");
  finding.ranks = {3};
  CHECK(where_text(finding, one) == "rank 3, seen in steps 2, 5");
}
