#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/timeline/merge/merge_inputs.h"
#include "tests/bench/bench.h"

namespace bench {
namespace {

// Recordings of a run, written by the agent.
class Rings {
 public:
  Rings(int ranks, std::size_t kernels, const char* buffer) : folder_("/tmp/tracetool-bench-rings-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
    for (int rank = 0; rank < ranks; ++rank)
      peak_bytes(kRingAlone, fmt::format("{} {} {} {}", rank, kernels, buffer, folder_));
  }
  ~Rings() { std::filesystem::remove_all(folder_); }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

std::vector<cli::TraceInput> inputs_in(const std::string& folder) {
  std::vector<cli::TraceInput> inputs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".ring") inputs.push_back({entry.path().string(), {}});
  }
  std::sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return inputs;
}

struct Merged {
  std::uint64_t events = 0, bytes = 0;
};

// What `tracetool merge` does.
Merged merge_all(const std::string& folder) {
  NullSink sink;
  cli::MergeOptions options;
  options.scratch_directory = "/tmp";
  const std::uint64_t events = cli::merge_inputs(inputs_in(folder), options, sink).events;
  return {events, sink.total};
}

Figure rate(int ranks, double budget, std::string_view goal, const Rings& rings, int rounds) {
  Merged merged;
  double cpu_s = 1e300;  // of all threads
  const double seconds = fastest_s(rounds, [&] {
    const std::clock_t before = std::clock();
    merged = merge_all(rings.folder());
    cpu_s = std::min(cpu_s, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  });
  const auto events = static_cast<double>(merged.events);
  return {fmt::format("merge {} rings, on 2 cores", ranks), fmt::format(">= {} M events/s{}", budget, goal),
          fmt::format("{:.2f} M events/s ({:.2f} M a CPU second), {} events, {:.1f} B an event", events / seconds / 1e6,
                      events / cpu_s / 1e6, merged.events, static_cast<double>(merged.bytes) / events),
          merged.events > 0 && events / seconds >= budget * 1e6};
}

}  // namespace

const Alone kMergeAlone{"merge", [](const std::string& folder) { merge_all(folder); }};

Figures merge(bool small) {
  const Rings eight(8, small ? 5'000 : 200'000, "16M"), twice(8, small ? 10'000 : 400'000, "16M");
  const int many_ranks = small ? 32 : 1024;
  const Rings many(many_ranks, small ? 100 : 8'000, "1M");
  const std::uint64_t peak = peak_bytes(kMergeAlone, eight.folder()),
                      of_twice = peak_bytes(kMergeAlone, twice.folder());
  const std::uint64_t of_many = peak_bytes(kMergeAlone, many.folder());
  const auto mb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return {
      rate(8, 6, " (goal 10)", eight, small ? 1 : 5),
      {"... peak memory, and with twice the events", "flat beyond 256 MiB of events",
       fmt::format("{:.0f} MB, {:.0f} MB", mb(peak), mb(of_twice)),
       of_twice > 0 && mb(of_twice) <= 1.1 * mb(peak) + 64},
      rate(many_ranks, 3, "", many, small ? 1 : 2),
      {"... peak memory", "<= 1 GiB", fmt::format("{:.0f} MB", mb(of_many)),
       of_many > 0 && of_many <= std::uint64_t{1} << 30},
  };
}

}  // namespace bench
