// Rules of copies and of memory, each on a made profile whose figures are summed by hand.
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;
using namespace cli::rules;

namespace {

const char* const kPageable = "Memcpy HtoD (Pageable -> Device)";
const char* const kPinned = "Memcpy HtoD (Pinned -> Device)";

// 100,000 us of kernels. At 0 a kernel that runs to 1000; a copy that the host waits for, whose call is [500, copied + 2]; the next
// launch 30 us later.
MadeProfile with_copy(const char* memory, const char* call_name, double copied_us) {
  MadeProfile made;
  made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
  made.op("aten::copy_", 490, copied_us + 3);
  const auto copy = made.call(call_name, 500, copied_us + 2);
  made.copy(memory, 1000, copied_us, copy, 8 << 20);
  const double launched_us = copied_us + 32;
  made.kernel("gemm", launched_us + 10, 100'000, made.call("cudaLaunchKernel", launched_us, launched_us + 5));
  return made;
}

}  // namespace

TEST_CASE("pageable-copy: the copy, and idle time until the next launch runs") {
  // Copied from 1000 to 2000, then idle to 2042: 1042 of 100,000 us.
  const auto findings = findings_of("pageable-copy", with_copy(kPageable, "cudaMemcpyAsync", 2000));
  REQUIRE(findings.size() == 1);
  const Finding& found = findings[0];
  CHECK(found.saving_ns == 1'042'000);
  CHECK(found.ranks == std::vector<std::int64_t>{0});
  INFO(found.title);
  CHECK(
      found.title ==
      "copies to the GPU from pageable memory run 1 time: they take 1.000 ms (1.0 %), and the GPU idles 42.00 us (0.0 %) around them");
  REQUIRE(found.evidence.size() == 2);
  CHECK(found.evidence[0].end_ns - found.evidence[0].start_ns == 1'000'000);
  CHECK(has_text(found.evidence[0].what, "of 8.0 MiB, launched in aten::copy_"));
}

TEST_CASE("pageable-copy: of several ranks the largest saving, and the evidence of all") {
  const MadeProfile first = with_copy(kPageable, "cudaMemcpyAsync", 2000),
                    second = with_copy(kPageable, "cudaMemcpyAsync", 3000),
                    third = with_copy(kPinned, "cudaMemcpyAsync", 3000);
  const auto findings = diagnosis_of("pageable-copy", {&first, &second, &third}).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].ranks == std::vector<std::int64_t>{0, 1});
  CHECK(findings[0].saving_ns == 2'042'000);
  REQUIRE(findings[0].evidence.size() == 4);
  CHECK(findings[0].evidence[0].rank == 1);
}

TEST_CASE("pageable-copy: silent below 1 % of the time, and of pinned memory that does not block") {
  CHECK(findings_of("pageable-copy", with_copy(kPageable, "cudaMemcpyAsync", 1957)).empty());  // 957 + 42 us
  CHECK(findings_of("pageable-copy", with_copy(kPageable, "cudaMemcpyAsync", 1959)).size() == 1);
  CHECK(findings_of("pageable-copy", with_copy(kPinned, "cudaMemcpyAsync", 2000)).empty());
  const auto blocking = findings_of("pageable-copy", with_copy(kPinned, "cudaMemcpy", 2000));
  REQUIRE(blocking.size() == 1);
  CHECK(has_text(blocking[0].title, "by blocking calls run 1 time"));
}

TEST_CASE("exposed-copy: copies for which the host does not wait, as far as nothing else runs") {
  // Kernels run in [0, 1000] and [11000, 100000] us, pinned copies in [1000, 7000] and, to the host, in [9000, 11000].
  const auto made = [](const char* memory) {
    MadeProfile made;
    made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
    made.copy(memory, 1000, 7000, made.call("cudaMemcpyAsync", 10, 15), 64 << 20);
    made.copy("Memcpy DtoH (Device -> Pinned)", 9000, 11'000, made.call("cudaMemcpyAsync", 20, 25), 32 << 20, 8);
    made.kernel("gemm", 11'000, 100'000, made.call("cudaLaunchKernel", 30, 35));
    made.copy(kPinned, 20'000, 30'000, made.call("cudaMemcpyAsync", 40, 45), 64 << 20, 8);  // hidden
    return made;
  };
  const auto findings = findings_of("exposed-copy", made(kPinned));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 8'000'000);
  CHECK(findings[0].title == "copies between host and GPU run 3 times; the GPU does nothing else for 8.000 ms (8.0 %)");
  CHECK(findings_of("exposed-copy", made(kPageable)).empty());  // pageable-copy has the 6 ms; 2 ms are below 5 %
}

TEST_CASE("exposed-copy: silent up to 5 % of the time, and for blocking calls and copies within the GPU") {
  const auto made = [](const char* memory, const char* call, double end_us) {
    MadeProfile made;
    made.copy(memory, 0, end_us, made.call(call, -10, -5), 64 << 20);
    made.kernel("gemm", end_us, 100'000, made.call("cudaLaunchKernel", 30, 35));
    return made;
  };
  CHECK(findings_of("exposed-copy", made(kPinned, "cudaMemcpyAsync", 5000)).empty());
  CHECK(findings_of("exposed-copy", made(kPinned, "cudaMemcpyAsync", 5001)).size() == 1);
  CHECK(findings_of("exposed-copy", made(kPinned, "cudaMemcpy", 50'000)).empty());
  CHECK(findings_of("exposed-copy", made("Memcpy DtoD (Device -> Device)", "cudaMemcpyAsync", 50'000)).empty());
}

TEST_CASE("pageable-copy: less of the time, where it is slower than pinned ones of that size") {
  for (const std::int64_t pinned_us : {80, 91}) {
    // 4 MiB in 300 us, of 100,000: 14.0 GB/s. In 80 us 52.4 GB/s, in 91 us 46.1, of which that is 30.3 %.
    MadeProfile made;
    made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
    made.copy(kPageable, 1000, 1300, made.call("cudaMemcpyAsync", 5, 1301), 4 << 20);
    made.kernel("gemm", 1300, 100'000, made.call("cudaLaunchKernel", 1302, 1304));
    made.copy(kPinned, 1400, 1400 + static_cast<double>(pinned_us), made.call("cudaMemcpyAsync", 1350, 1355), 4 << 20,
              8);
    const auto findings = findings_of("pageable-copy", made);
    REQUIRE(findings.size() == (pinned_us == 80 ? 1 : 0));
    if (findings.empty()) continue;
    INFO(findings[0].title);
    CHECK(has_text(findings[0].title,
                   "; pageable copies of at least 4.0 MiB run at 14 GB/s, pinned copies at 52.4 GB/s"));
    CHECK(findings[0].saving_ns == 300'000);
  }
}

namespace {

// Steps 0 to 4 of 1000 us, each with a kernel from its start to 200 us before its end. In each, at 850 us, a call of so many us.
MadeProfile with_calls(const char* name, double us, std::int64_t steps) {
  MadeProfile made;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double at = 1000.0 * static_cast<double>(step);
    made.step(step, at, at + 1000);
    made.kernel("gemm", at + 10, at + 800, made.call("cudaLaunchKernel", at, at + 5));
    made.call(name, at + 850, at + 850 + us);
  }
  return made;
}

}  // namespace

TEST_CASE("allocation-in-step: in steps after the second, as far as the GPU idles") {
  const auto findings = findings_of("allocation-in-step", with_calls("cudaMalloc", 40, 5));
  REQUIRE(findings.size() == 1);
  // Of 4800 us, from the first step to the end of the last kernel, three calls of 40 us; behind the last call no work follows.
  INFO(findings[0].title);
  CHECK(findings[0].saving_ns == 80'000);
  CHECK(has_text(
      findings[0].title,
      "3 times in 5 steps, mostly with cudaMalloc; the calls take 24.00 us a step (2.5 %), and the GPU idles 16.00 us a step (1.7 %)"));
  CHECK(findings[0].steps == std::vector<std::int64_t>{3, 4});  // in whose time on the GPU it idles
}

TEST_CASE("allocation-in-step: silent in the first two steps, below 1 % and of memory of the host") {
  CHECK(findings_of("allocation-in-step", with_calls("cudaMalloc", 100, 2)).empty());
  CHECK(findings_of("allocation-in-step", with_calls("cudaMalloc", 23, 5)).empty());
  CHECK(findings_of("allocation-in-step", with_calls("cudaFree", 25, 5)).size() == 1);
  CHECK(findings_of("allocation-in-step", with_calls("cudaMallocHost", 100, 5)).empty());
  CHECK(findings_of("allocation-in-step", with_calls("cudaFreeAsync", 100, 5)).empty());
}

TEST_CASE("allocation-in-step: a release in which the GPU runs dry costs as much idle time as it took") {
  MadeProfile made;
  for (std::int64_t step = 0; step < 4; ++step) {
    const double at = 1000.0 * static_cast<double>(step);
    made.step(step, at, at + 1000);
    made.kernel("gemm", at + 10, at + 800, made.call("cudaLaunchKernel", at, at + 5));
    made.call("cudaFree", at + 700, at + 810);
  }
  // Of steps 2 and 3; behind that of step 3 no work follows. The GPU idles for 210 us, from 800 to 1010; the call took 110.
  const auto findings = findings_of("allocation-in-step", made);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 110'000);
}

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30, kMiB = std::int64_t{1} << 20;

// Of a GPU of 40 GiB.
MadeProfile with_memory(std::int64_t in_use, std::int64_t reserved) {
  MadeProfile made;
  made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
  made.memory(100, kGiB, 2 * kGiB);
  made.memory(500, in_use, reserved);
  made.memory(600, kGiB, reserved);
  return made;
}

// Steps at whose middle so much is in use.
MadeProfile with_levels(const std::vector<std::int64_t>& bytes) {
  MadeProfile made;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double at = 1000.0 * static_cast<double>(i);
    made.step(static_cast<std::int64_t>(i), at, at + 1000);
    made.kernel("gemm", at + 10, at + 990, made.call("cudaLaunchKernel", at, at + 5));
    made.memory(at + 500, bytes[i], 2 * kGiB);
  }
  return made;
}
std::vector<std::int64_t> growing(std::size_t steps, std::int64_t by) {
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < steps; ++i) bytes.push_back(kGiB + static_cast<std::int64_t>(i) * by);
  return bytes;
}

}  // namespace

TEST_CASE("memory-peak: above 90 % of the GPU's memory") {
  const auto findings = findings_of("memory-peak", with_memory(73 * kGiB / 2, 37 * kGiB));
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].saving_ns);
  CHECK(findings[0].title == "91.2 % of the memory of GPU 0 of rank 0 is in use at the peak: 36.5 GiB of 40.0 GiB");
  REQUIRE(findings[0].evidence.size() == 1);
  CHECK(findings[0].evidence[0].start_ns == 510'000);
  CHECK(findings_of("memory-peak", with_memory(36 * kGiB, 39 * kGiB)).empty());
  MadeProfile unknown = with_memory(39 * kGiB, 39 * kGiB);
  unknown.memory_bytes = 0;
  CHECK(findings_of("memory-peak", unknown).empty());
}

TEST_CASE("memory-growth: from step to step, and when the GPU is full") {
  const auto findings = findings_of("memory-growth", with_levels(growing(10, 4 * kMiB)));
  REQUIRE(findings.size() == 1);
  // 40,960 MiB less 1,024 + 36, by 4.
  CHECK(
      findings[0].title ==
      "memory in use on GPU 0 of rank 0 grows by 4.0 MiB a step, in 9 of 9 steps; it will be full after 9975 more steps");
  CHECK(findings_of("memory-growth", with_levels(growing(8, 4 * kMiB))).size() == 1);
  CHECK(findings_of("memory-growth", with_levels(growing(7, 4 * kMiB))).empty());
  CHECK(findings_of("memory-growth", with_levels(growing(10, kMiB - 1))).empty());
  std::vector<std::int64_t> fills = growing(8, 4 * kMiB);  // 7 of 9
  fills.insert(fills.end(), 2, fills.back());
  CHECK(findings_of("memory-growth", with_levels(fills)).empty());
}

TEST_CASE("fragmentation: reserved, never in use, and the GPU is nearly full of it") {
  const auto findings = findings_of("fragmentation", with_memory(24 * kGiB, 33 * kGiB));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].title ==
        "the allocator reserves 33.0 GiB of 40.0 GiB on GPU 0 of rank 0, but at most 24.0 GiB is in use");
  CHECK(findings_of("fragmentation", with_memory(25 * kGiB, 33 * kGiB)).empty());
  CHECK(findings_of("fragmentation", with_memory(20 * kGiB, 32 * kGiB)).empty());
}
