#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "cli/merge/merged_writer.h"
#include "cli/merge/sort_runs.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_events.h"

namespace bench {
namespace {

constexpr int kRanks = 8;

// What `tracetool merge` does after reading: sorts the events of all ranks and writes the merged file.
std::uint64_t merge_all(std::uint64_t events) {
  cli::Catalog catalog;
  cli::SortRoom room(cli::kDefaultMemory, kRanks, "/tmp");
  cli::RunWalk walk(room, catalog.shapes);
  for (int rank = 0; rank < kRanks; ++rank) {
    cli::EventSorter sorter(room, true);
    ManyEvents many(catalog, rank);
    for (std::uint64_t i = 0; i < events / kRanks; ++i) {
      const cli::Event& event = many.at(i);
      sorter.event(event, many.facts(event));
    }
    walk.add(sorter.finish(), 0, nullptr);
  }
  NullSink sink;
  cli::MergedWriter writer(sink, catalog);
  walk.walk({cli::ClockFit{}}, writer);
  writer.finish(catalog, {});
  return sink.total;
}

}  // namespace

const Alone kMergeAlone{"merge", [](const std::string& events) { merge_all(std::stoull(events)); }};

Figures merge(bool small) {
  const std::uint64_t events = small ? 100'000 : 8'000'000;
  std::uint64_t bytes = 0;
  double cpu_s = 1e300;  // of all threads
  const double seconds = fastest_s(small ? 1 : 2, [&] {
    const std::clock_t before = std::clock();
    bytes = merge_all(events);
    cpu_s = std::min(cpu_s, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  });
  const double rate = static_cast<double>(events) / seconds;
  const std::uint64_t peak = peak_bytes(kMergeAlone, std::to_string(events));
  const std::uint64_t twice = peak_bytes(kMergeAlone, std::to_string(2 * events));
  return {
      {"merge 8 ranks, on 2 cores", ">= 3 M events/s",
       fmt::format("{:.2f} M events/s ({:.2f} M a CPU second), {:.1f} B an event", rate / 1e6,
                   static_cast<double>(events) / cpu_s / 1e6, static_cast<double>(bytes) / static_cast<double>(events)),
       rate >= 3e6},
      {"peak memory of that, and with twice the events", "flat",
       fmt::format("{:.0f} MB, {:.0f} MB", static_cast<double>(peak) / 1e6, static_cast<double>(twice) / 1e6),
       static_cast<double>(twice) <= 1.1 * static_cast<double>(peak) + 64e6},
  };
}

}  // namespace bench
