// Why calls allocate or release memory, of calls in a recording, which contains their results.
#include "cli/answers/rules/late_allocations.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::rules;

namespace {

constexpr std::uint32_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation

// A process with one thread, in step 2.
class MadeCalls {
 public:
  MadeCalls() {
    Process process;
    process.format = SourceFormat::ring;
    track_ = catalog_.track(catalog_.add_process(process), TrackKind::thread, 7, 8);
    steps_ = {{Step{2, 0, 1'000'000}}};
    context_.emplace(AnalysisContext{catalog_, Windows(std::size_t{1}), found_, steps_, chosen_, 0, clocks_, {}});
    late_.emplace(*context_);
  }

  // Of 10 ns. Returns what it shows of earlier calls.
  std::optional<AllocationCalls> call(std::string_view name, std::uint32_t result = 0) {
    Event event;
    event.kind = Kind::runtime;
    event.phase = 'X';
    event.track = track_;
    event.name = catalog_.strings.intern(name);
    event.start_ns = now_ns_ += 20;
    event.duration_ns = 10;
    const CallFacts facts{1, result};
    return late_->event(event, facts);
  }
  std::vector<AllocationPurpose> purposes() const {
    std::vector<AllocationPurpose> found;
    late_->each_within(0, 0, 1'000'000, [&](const auto& each) { found.push_back(each.purpose); });
    return found;
  }
  LateAllocations& late() { return *late_; }

 private:
  Catalog catalog_;
  TrackId track_ = 0;
  std::vector<ProcessSteps> found_ = std::vector<ProcessSteps>(1);
  Steps steps_;
  std::vector<bool> chosen_ = {true};
  ProcessClocks clocks_;
  std::optional<AnalysisContext> context_;
  std::optional<LateAllocations> late_;
  std::int64_t now_ns_ = 0;
};

}  // namespace

TEST_CASE("allocations: a failed call, a release, and a call that succeeds are a retry") {
  MadeCalls made;
  CHECK_FALSE(made.call("cudaMalloc", kOutOfMemory));
  CHECK_FALSE(made.call("cudaGetLastError"));
  CHECK_FALSE(made.call("cudaFree"));
  const auto found = made.call("cudaMalloc");
  REQUIRE(found);
  CHECK(found->purpose == AllocationPurpose::retry);
  CHECK((found->allocations == 2 && found->releases == 1 && found->ns == 30));
  CHECK(found->end_ns - found->start_ns == 70);
  CHECK(made.purposes() == std::vector<AllocationPurpose>(3, AllocationPurpose::retry));
}

TEST_CASE("allocations: a retry that fails is followed by another one") {
  MadeCalls made;
  made.call("cudaMalloc", kOutOfMemory);
  made.call("cudaFree");
  REQUIRE(made.call("cudaMalloc", kOutOfMemory));
  CHECK_FALSE(made.call("cudaFree"));
  const auto second = made.call("cudaMalloc");
  REQUIRE(second);
  CHECK(second->purpose == AllocationPurpose::retry);
  CHECK((second->allocations == 1 && second->releases == 1));
}

TEST_CASE("allocations: after a call that succeeds, releases are no retry") {
  MadeCalls made;
  CHECK_FALSE(made.call("cudaMalloc"));
  const auto first = made.call("cudaFree");
  REQUIRE(first);
  CHECK((first->purpose == AllocationPurpose::other && first->allocations == 1 && first->releases == 0));
  CHECK_FALSE(made.call("cudaFree"));
  const auto second = made.call("cudaMalloc");
  REQUIRE(second);
  CHECK((second->purpose == AllocationPurpose::other && second->allocations == 0 && second->releases == 2));
  std::vector<AllocationCalls> rest;
  made.late().settle_rest(0, [&](const AllocationCalls& calls) { rest.push_back(calls); });
  REQUIRE(rest.size() == 1);
  CHECK((rest[0].allocations == 1 && rest[0].purpose == AllocationPurpose::other));
  CHECK(made.purposes() == std::vector<AllocationPurpose>(4, AllocationPurpose::other));
}

TEST_CASE("allocations: a launch ends what the allocator does") {
  MadeCalls made;
  made.call("cudaMalloc", kOutOfMemory);
  made.call("cudaFree");
  const auto found = made.call("cudaLaunchKernel");
  REQUIRE(found);
  CHECK((found->purpose == AllocationPurpose::other && found->allocations == 1 && found->releases == 1));
  CHECK_FALSE(made.call("cudaMalloc"));
  CHECK(made.late().call_at(0, 25)->start_ns == 20);
  CHECK_FALSE(made.late().call_at(0, 35));
}
