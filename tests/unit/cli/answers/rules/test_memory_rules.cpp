// The code that rules of memory name, and releases of the allocator's cache, each on a made profile whose figures are summed by hand.
#include "cli/answers/rules/write_findings.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;
using namespace cli::rules;

namespace {

constexpr std::int64_t kMiBytes = std::int64_t{1} << 20, kGiBytes = std::int64_t{1} << 30;

// A GPU of 40 GiB: 1 GiB from before the trace, 20 GiB by model.py and 15.5 GiB by train.py.
MadeProfile with_blocks() {
  MadeProfile made;
  made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
  made.function("/home/user/train.py(7): main", 10, 900);
  made.function("/home/user/model.py(30): forward", 50, 400);
  made.block(100, 4096, 12 * kGiBytes, 13 * kGiBytes);
  made.op("aten::mm", 190, 210);
  made.block(200, 8192, 8 * kGiBytes, 21 * kGiBytes);
  made.block(450, 12288, 31 * kGiBytes / 2, 73 * kGiBytes / 2);
  made.block(500, 4096, -12 * kGiBytes, 49 * kGiBytes / 2);
  made.block(600, 4096, 10 * kGiBytes, 69 * kGiBytes / 2);
  return made;
}

// Ten steps. In each, aten::cat allocates 4 MiB that stay in use, and aten::mm allocates 64 MiB for a while.
MadeProfile with_leak() {
  MadeProfile made;
  std::int64_t in_use = kGiBytes;
  const auto change = [&](double at, std::int64_t address, std::int64_t bytes) {
    made.block(at, address, bytes, in_use += bytes);
  };
  for (std::int64_t step = 0; step < 10; ++step) {
    const double at = 1000.0 * static_cast<double>(step);
    made.step(step, at, at + 1000);
    made.kernel("gemm", at + 10, at + 990, made.call("cudaLaunchKernel", at, at + 5));
    made.op("aten::cat", at + 290, at + 310);
    change(at + 300, 4096 * (step + 2), 4 * kMiBytes);
    made.op("aten::mm", at + 390, at + 410);
    change(at + 400, 4096, 64 * kMiBytes);
    change(at + 600, 4096, -64 * kMiBytes);
  }
  return made;
}

// Five steps of 1000 us, each with a kernel to 700 us. `calls` makes calls between 720 and 900 us.
template <typename Calls>
MadeProfile in_steps(Calls&& calls, bool has_operators = true) {
  MadeProfile made;
  for (std::int64_t step = 0; step < 5; ++step) {
    const double at = 1000.0 * static_cast<double>(step);
    made.step(step, at, at + 1000);
    if (has_operators) made.op("aten::mm", at - 2, at + 7);
    made.kernel("gemm", at + 10, at + 700, made.call("cudaLaunchKernel", at, at + 5));
    calls(made, at);
  }
  return made;
}
void release_three(MadeProfile& made, double at) {  // 72 us
  made.call("cudaFree", at + 756, at + 800);
  made.call("cudaFree", at + 801, at + 820);
  made.call("cudaFree", at + 821, at + 830);
}
void retry(MadeProfile& made, double at) {  // 141 us
  made.call("cudaMalloc", at + 745, at + 755);
  made.call("cudaGetLastError", at + 755, at + 756);
  release_three(made, at);
  made.call("cudaMalloc", at + 831, at + 890);
}

}  // namespace

TEST_CASE("memory-peak: the line that holds most of it") {
  const auto findings = findings_of("memory-peak", with_blocks());
  REQUIRE(findings.size() == 1);
  CHECK(
      findings[0].title ==
      "91.2 % of the memory of GPU 0 of rank 0 is in use at the peak: 36.5 GiB of 40.0 GiB; user/model.py(30): forward allocated 20.0 GiB of it, more than any other code in the trace");
  CHECK(findings[0].saving_bytes == 20 * kGiBytes);
  CHECK(saving_text(findings[0], 1'000'000) == "at most 20.0 GiB of GPU memory");
  REQUIRE(findings[0].evidence.size() == 1);
  CHECK(has_text(findings[0].evidence[0].what, "36.5 GiB in use, the peak; user/model.py(30): forward allocated 20.0"));
}

TEST_CASE("memory-peak: code at the peak of the chosen time") {
  // The trace begins at -10 us. 36.5 GiB are in use until 500 us.
  Selection selection;
  selection.time = TimeRange{515'000, 1'000'000};
  const auto late = findings_of("memory-peak", with_blocks(), selection);
  CHECK(late.empty());  // at most 34.5 GiB
  selection.time = TimeRange{490'000, 1'000'000};
  const auto findings = findings_of("memory-peak", with_blocks(), selection);
  REQUIRE(findings.size() == 1);
  CHECK(has_text(findings[0].title, "user/model.py(30): forward allocated 20.0 GiB of it"));
}

TEST_CASE("memory-growth: the code whose memory grows") {
  const auto findings = findings_of("memory-growth", with_leak());
  REQUIRE(findings.size() == 1);
  INFO(findings[0].title);
  CHECK(has_text(findings[0].title, "grows by 4.0 MiB a step, in 9 of 9 steps"));
  CHECK(has_text(findings[0].title, "; memory allocated by aten::cat grows most, by 4.0 MiB a step"));
  CHECK(findings[0].saving_bytes == 36 * kMiBytes);  // since the first event
}

TEST_CASE("fragmentation: the bytes saved") {
  MadeProfile made;
  made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
  made.memory(500, 24 * kGiBytes, 33 * kGiBytes);
  const auto findings = findings_of("fragmentation", made);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_bytes == 9 * kGiBytes);
}

TEST_CASE("allocation-retries: the allocator releases its cache and allocates again") {
  const MadeProfile made = in_steps([](MadeProfile& each, double at) {
    each.op("aten::empty", at + 740, at + 900);
    retry(each, at);
  });
  const auto findings = findings_of("allocation-retries", made);
  REQUIRE(findings.size() == 1);
  INFO(findings[0].title);
  CHECK(findings[0].saving_ns == 2 * 141'000);  // steps 2 and 3: no work follows the calls of step 4
  CHECK(has_text(
      findings[0].title,
      "PyTorch's allocator runs out of memory 3 times in 5 steps, releases its cache and allocates again (cudaFree x 9, cudaMalloc x 6); the calls take 84.60 us a step"));
  REQUIRE(findings[0].evidence.size() == 3);
  CHECK(findings[0].evidence[0].what == "cudaFree x 3, then cudaMalloc, called in aten::empty");
  CHECK(findings[0].evidence[0].end_ns - findings[0].evidence[0].start_ns == 145'000);
  CHECK(has_text(findings[0].advice, "expandable_segments:True"));
  CHECK_FALSE(has_text(findings[0].advice, "empty_cache"));
  CHECK(findings_of("allocation-in-step", made).empty());
}

TEST_CASE("allocation-retries: a limit of the allocator fails the allocation without a call") {
  const auto findings = findings_of("allocation-retries", in_steps([](MadeProfile& each, double at) {
                                      each.op("aten::empty", at + 740, at + 900);
                                      release_three(each, at);
                                      each.call("cudaMalloc", at + 831, at + 890);
                                    }));
  REQUIRE(findings.size() == 1);
  CHECK(has_text(findings[0].title, "runs out of memory"));
  CHECK(findings[0].saving_ns == 2 * 131'000);
}

TEST_CASE("allocation-retries: without operators, releases between two allocations") {
  const MadeProfile made = in_steps([](MadeProfile& each, double at) { retry(each, at); }, false);
  CHECK(findings_of("allocation-retries", made).size() == 1);
  CHECK(findings_of("allocation-in-step", made).empty());
}

TEST_CASE("allocation-retries: the program empties the cache") {
  const MadeProfile made = in_steps([](MadeProfile& each, double at) {
    release_three(each, at);
    each.op("aten::empty", at + 831, at + 900);
    each.call("cudaMalloc", at + 832, at + 891);
  });
  const auto findings = findings_of("allocation-retries", made);
  REQUIRE(findings.size() == 1);
  INFO(findings[0].title);
  CHECK(findings[0].saving_ns == 2 * (72'000 + 59'000));  // and the allocation, which the cache would have avoided
  CHECK(has_text(findings[0].title,
                 "the program empties PyTorch's cache 3 times in 5 steps (cudaFree x 9, cudaMalloc x 3); "));
  CHECK(has_text(findings[0].evidence.at(0).what, "cudaFree x 3, called outside of all operators"));
  CHECK(has_text(findings[0].advice, "Remove torch.cuda.empty_cache()"));
  CHECK_FALSE(has_text(findings[0].advice, "expandable_segments"));
  CHECK(findings_of("allocation-in-step", made).empty());
}

TEST_CASE("allocation-retries: no more allocations than releases belong to an emptied cache") {
  const MadeProfile made = in_steps([](MadeProfile& each, double at) {
    if (at == 2000) {
      each.call("cudaFree", at + 740, at + 750);
      each.call("cudaFree", at + 751, at + 760);
    }
    for (int i = 0; i < 3; ++i) {
      each.op("aten::empty", at + 800 + 30 * i, at + 829 + 30 * i);
      each.call("cudaMalloc", at + 801 + 30 * i, at + 821 + 30 * i);
    }
  });
  const auto emptied = findings_of("allocation-retries", made), others = findings_of("allocation-in-step", made);
  REQUIRE((emptied.size() == 1 && others.size() == 1));
  CHECK(emptied[0].saving_ns == 19'000 + 2 * 20'000);
  CHECK(others[0].saving_ns == 4 * 20'000);  // the third of step 2, and those of step 3
}

TEST_CASE("allocation-retries: silent for other allocations and releases") {
  const auto fires = [](auto calls, bool has_operators) {
    const MadeProfile made = in_steps(calls, has_operators);
    const bool is_retry = !findings_of("allocation-retries", made).empty();
    CHECK(findings_of("allocation-in-step", made).empty() == is_retry);
    return is_retry;
  };
  const auto three = [](MadeProfile& each, double at) { release_three(each, at); };
  CHECK(fires(three, true));
  CHECK_FALSE(fires(three, false));  // a program's own buffers
  CHECK_FALSE(fires(
      [](MadeProfile& each, double at) {  // a library that releases one buffer and allocates another
        each.op("aten::sort", at + 740, at + 900);
        each.call("cudaMalloc", at + 745, at + 765);
        each.kernel("sort", at + 768, at + 769, each.call("cudaLaunchKernel", at + 766, at + 767));
        each.call("cudaFree", at + 770, at + 800);
        each.call("cudaMalloc", at + 831, at + 890);
      },
      true));
  CHECK(findings_of("allocation-retries", in_steps([](MadeProfile&, double) {})).empty());
  const MadeProfile early = in_steps([](MadeProfile& each, double at) {
    if (at < 2000) retry(each, at);
  });
  CHECK(findings_of("allocation-retries", early).empty());
}
