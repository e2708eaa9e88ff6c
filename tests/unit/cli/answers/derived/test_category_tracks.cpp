// Counters of memory by category: they add up to the total of PyTorch's allocator at each moment, also in an export that
// is split.
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/derived/category_tracks.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr std::int64_t kBefore = 5000;  // bytes in use before the trace, on each device

// A process that allocates memory in steps of setup, forward, backward and optimizer, and its totals.
class AllocatingJob {
 public:
  explicit AllocatingJob(std::uint32_t seed) : random_(seed) {
    catalog.processes.emplace_back();
    thread_ = catalog.track(0, TrackKind::thread, 1, 1);
    const StackId setup = stack("_apply", "torch/nn/modules/module.py"), forward = stack("forward", "model.py"),
                  backward = stack("backward", "loss.py"), optimizer = stack("step", "torch/optim/adam.py");
    run(setup, 5, false);
    for (int step = 0; step < 3; ++step) {
      run(forward, 8, false);
      run(backward, 8, true);
      run(optimizer, 2, false);
    }
  }

  memory::CategoryChanges changes() {
    catalog.strings.intern("[memory]");
    memory::TraceMemory memory(catalog);
    for (const auto& [event, facts] : events_) memory.event(event, facts);
    return memory::category_changes(memory);
  }

  Catalog catalog;
  // The total after the last change at each time, by device
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> totals = {};

 private:
  StackId stack(std::string_view function, std::string_view file) {
    StackFrame frame;
    frame.name = catalog.strings.intern(function);
    frame.file = catalog.strings.intern(file);
    frame.what = StackFrame::kPython;
    return catalog.stacks.intern(frame);
  }

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  // Allocates memory, and releases some of the memory in use if `releases`.
  void run(StackId stack, int allocations, bool releases) {
    for (int i = 0; i < allocations; ++i) {
      const std::int64_t device = number(0, 1), bytes = number(1, 1000);
      live_.emplace_back(device, std::pair(++address_, bytes));
      add(device, address_, bytes, stack);
    }
    while (releases && live_.size() > 10) {
      const auto chosen = live_.begin() + number(0, static_cast<std::int64_t>(live_.size()) - 1);
      const auto [device, block] = *chosen;
      live_.erase(chosen);
      add(device, block.first, -block.second, {});
    }
  }

  void add(std::int64_t device, std::uint64_t address, std::int64_t bytes, StackId stack) {
    now_ns_ += number(0, 3);  // several changes may have one time
    auto& total = total_.try_emplace(device, kBefore).first->second;
    total += bytes;
    totals[device][now_ns_] = total;
    Event event;
    event.start_ns = now_ns_, event.track = thread_, event.kind = Kind::instant, event.phase = 'i';
    AllocatorFacts facts;
    facts.device_type = 1, facts.device = device, facts.address = address, facts.bytes = bytes, facts.stack = stack;
    facts.allocated_bytes = total, facts.reserved_bytes = 1 << 20;
    facts.has = AllocatorFacts::kAllocated | AllocatorFacts::kReserved | AllocatorFacts::kDeviceId |
                AllocatorFacts::kAddress | AllocatorFacts::kBytes;
    events_.emplace_back(event, facts);
  }

  std::mt19937 random_;
  TrackId thread_ = 0;
  std::int64_t now_ns_ = 1'000'000;
  std::uint64_t address_ = 0;
  std::map<std::int64_t, std::int64_t> total_;
  std::vector<std::pair<std::int64_t, std::pair<std::uint64_t, std::int64_t>>> live_;  // device, address, bytes
  std::vector<std::pair<Event, KeptFacts>> events_;
};

struct Counters : DerivedSink {
  void derived(const Derived& derived) override {
    REQUIRE(derived.start_ns >= from_ns);
    REQUIRE(derived.start_ns < to_ns);
    values[derived.device][derived.track][derived.start_ns] = static_cast<std::int64_t>(derived.value);
  }
  // Returns the sum of all counters of a device at a time.
  std::int64_t sum(std::int64_t device, std::int64_t ns) const {
    std::int64_t sum = 0;
    for (const auto& [track, values_of] : values.at(device)) {
      const auto next = values_of.upper_bound(ns);
      if (next != values_of.begin()) sum += std::prev(next)->second;
    }
    return sum;
  }
  std::map<std::int64_t, std::map<DerivedTrack, std::map<std::int64_t, std::int64_t>>> values;
  std::int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
};

}  // namespace

TEST_CASE("category tracks: the counters add up to the memory in use") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    AllocatingJob job(seed);
    const memory::CategoryChanges changes = job.changes();
    Counters counters;
    CategoryTracks tracks(changes, {true}, counters);
    tracks.finish();
    REQUIRE(counters.values.size() == job.totals.size());
    for (const auto& [device, totals] : job.totals) {
      CHECK(counters.values.at(device).size() >= 4);  // unknown, parameters, and more
      for (const auto& [ns, total] : totals) REQUIRE(counters.sum(device, ns) == total);
    }
  }
}

TEST_CASE("category tracks: the parts of a split export each contain all values") {
  AllocatingJob job(7);
  const memory::CategoryChanges changes = job.changes();
  const auto& totals = job.totals.begin()->second;
  const std::int64_t device = job.totals.begin()->first;
  const std::int64_t cut_ns = std::next(totals.begin(), static_cast<std::ptrdiff_t>(totals.size() / 2))->first;
  Counters first, second;
  struct Switch : DerivedSink {
    void derived(const Derived& derived) override { to->derived(derived); }
    Counters* to = nullptr;
  } both;
  both.to = &first;
  first.to_ns = cut_ns;
  CategoryTracks tracks(changes, {true}, both);
  tracks.cut(cut_ns);
  both.to = &second;
  second.from_ns = cut_ns;
  tracks.finish();
  for (const auto& [ns, total] : totals) REQUIRE((ns < cut_ns ? first : second).sum(device, ns) == total);
}

TEST_CASE("category tracks: a process that is not written has no counters") {
  AllocatingJob job(7);
  const memory::CategoryChanges changes = job.changes();
  Counters counters;
  CategoryTracks(changes, {false}, counters).finish();
  CHECK(counters.values.empty());
}
