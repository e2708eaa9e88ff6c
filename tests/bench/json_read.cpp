#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/base/threads.h"
#include "cli/formats/reading/reader.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_events.h"

namespace bench {
namespace {

struct CountingSink : cli::EventSink {
  void event(const cli::Event&, const cli::Facts& facts) override { seen += 1 + (facts.args.size() & 1); }
  std::uint64_t seen = 0;
};

void read_on(std::size_t threads, const std::string& path) {
  cli::Catalog catalog;
  CountingSink sink;
  cli::open_trace(path, {threads})->read(catalog, sink);
}

void read_all(const std::string& path) { read_on(1, path); }

// In turns, so that what else the machine does is the same for both.
std::pair<double, double> seconds_on_one_and_all(int rounds, const std::string& path) {
  double one_s = 1e9, all_s = 1e9;
  for (int i = 0; i < rounds; ++i) {
    one_s = std::min(one_s, fastest_s(1, [&] { read_all(path); }));
    all_s = std::min(all_s, fastest_s(1, [&] { read_on(cli::usable_cores(), path); }));
  }
  return {one_s, all_s};
}

}  // namespace

const Alone kJsonReadAlone{"json_read", read_all};

Figures json_read(bool small) {
  const std::string path = fmt::format("/tmp/tracetool-bench-{}.json", getpid());
  const std::uint64_t bytes = write_kineto(path, small ? 20 : 600);
  read_all(path);  // into the page cache
  const double seconds = fastest_cpu_s(small ? 1 : 5, [&] { read_all(path); });
  const auto [one_s, all_s] = seconds_on_one_and_all(small ? 1 : 7, path);
  const std::uint64_t peak = peak_bytes(kJsonReadAlone, path);
  const std::uint64_t tenth = write_kineto(path, small ? 2 : 60);
  const double tenth_s = fastest_cpu_s(small ? 1 : 10, [&] { read_all(path); });
  unlink(path.c_str());
  const double size_times = static_cast<double>(bytes) / static_cast<double>(tenth), times = seconds / tenth_s;
  const double rate = static_cast<double>(bytes) / seconds / 1e6;
  const double share = static_cast<double>(peak) / static_cast<double>(bytes);
  return {
      {"read Kineto JSON, one core", ">= 600 MB/s (goal 1,000)",
       fmt::format("{:.0f} MB/s ({:.0f} MB in {:.3f} s)", rate, static_cast<double>(bytes) / 1e6, seconds),
       rate >= 600},
      {fmt::format("... one file on {} cores", cli::usable_cores()), "none; printed",
       fmt::format("{:.0f} MB/s, {:.2f}x that of one", static_cast<double>(bytes) / all_s / 1e6, one_s / all_s), true},
      {"peak memory of that", "<= 0.1x the JSON",
       fmt::format("{:.2f}x ({:.1f} MB)", share, static_cast<double>(peak) / 1e6), share <= 0.1},
      {"time of it against a tenth of the events", "<= 10.5x",
       fmt::format("{:.2f}x for {:.2f}x the bytes", times, size_times), times <= 1.05 * size_times},
  };
}

}  // namespace bench
