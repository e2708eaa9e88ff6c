#include <fmt/format.h>

#include "cli/export/formats.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_events.h"

namespace bench {
namespace {

// Memory that forgets: what it costs to make the bytes, without keeping them.
struct NullSink : cli::ByteSink {
  void write(std::string_view bytes) override { total += bytes.size(); }
  void finish() override {}
  std::uint64_t total = 0;
};

struct Result {
  cli::ExportSummary summary;
  std::uint64_t bytes;
};

// `step` 2 exports the kernels alone: slices without arrows.
Result export_all(std::uint64_t events, std::uint64_t first, std::uint64_t step) {
  cli::Catalog catalog;
  ManyEvents many(catalog, 0);
  catalog.processes[0].first_ns = many.at(first).start_ns;
  catalog.processes[0].last_ns = many.at(events).start_ns + 4321;
  NullSink sink;
  const auto exporter = cli::export_formats().front().make({});
  exporter->begin(catalog, sink);
  const auto each = [&](auto&& call) {
    for (std::uint64_t i = first; i < events; i += step) {
      const cli::Event& event = many.at(i);
      call(event, many.args(event));
    }
  };
  if (exporter->needs_two_passes()) each([&](const auto& event, auto args) { exporter->prepare(event, args); });
  each([&](const auto& event, auto args) { exporter->event(event, args); });
  return {exporter->finish(), sink.total};
}

Figure rate(const char* what, double seconds, const Result& result) {
  const double slices = static_cast<double>(result.summary.slices_out);
  return {what, ">= 1.5 M slices/s",
          fmt::format("{:.2f} M slices/s, {} arrows, {:.0f} B a slice", slices / seconds / 1e6,
                      result.summary.arrows_out, static_cast<double>(result.bytes) / slices),
          slices / seconds >= 1.5e6};
}

}  // namespace

Figures json_write(bool small) {
  const std::uint64_t events = small ? 20'000 : 2'000'000;
  Result plain{}, arrows{};
  const double plain_s = fastest_cpu_s(small ? 1 : 3, [&] { plain = export_all(events, 1, 2); });
  const double arrows_s = fastest_cpu_s(small ? 1 : 3, [&] { arrows = export_all(events, 0, 1); });
  return {rate("write Chrome JSON to memory, slices alone", plain_s, plain),
          rate("write Chrome JSON, an arrow per kernel", arrows_s, arrows)};
}

}  // namespace bench
