#include <fmt/format.h>

#include "cli/answers/derived/overlay.h"
#include "cli/show/export/export_job.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_events.h"

namespace bench {
namespace {

struct Result {
  cli::ExportSummary summary;
  std::uint64_t bytes;
};

// `step` 2 exports the kernels alone: slices without flows.
Result export_all(std::uint64_t events, std::uint64_t first, std::uint64_t step, bool computed = false) {
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
      call(event, many.facts(event));
    }
  };
  if (exporter->needs_two_passes()) each([&](const auto& event, auto args) { exporter->prepare(event, args); });
  cli::Overlay overlay(catalog, *exporter);
  each([&](const auto& event, auto args) {
    if (computed) overlay.event(event, args);
    exporter->event(event, args);
  });
  if (computed) overlay.finish();
  return {exporter->finish(), sink.total};
}

// Counts what it gets.
struct Counted : cli::DerivedSink {
  void derived(const cli::Derived&) override { ++items; }
  std::uint64_t items = 0;
};

std::uint64_t compute_all(std::uint64_t events) {
  cli::Catalog catalog;
  ManyEvents many(catalog, 0);
  catalog.processes[0].first_ns = many.at(0).start_ns;
  catalog.processes[0].last_ns = many.at(events).start_ns + 4321;
  Counted sink;
  cli::Overlay overlay(catalog, sink);
  for (std::uint64_t i = 0; i < events; ++i) {
    const cli::Event& event = many.at(i);
    overlay.event(event, many.facts(event));
  }
  overlay.finish();
  return sink.items;
}

Figure overlay_rate(double seconds, std::uint64_t events, std::uint64_t items) {
  const double rate = static_cast<double>(events) / seconds;
  return {"derive tracks and counters, without writing", ">= 10 M events/s",
          fmt::format("{:.2f} M events/s, {:.2f} items an event", rate / 1e6,
                      static_cast<double>(items) / static_cast<double>(events)),
          rate >= 10e6};
}

// The budget is of slices alone: flows, and what is computed, come besides.
Figure rate(const char* what, bool alone, double seconds, const Result& result) {
  const double slices = static_cast<double>(result.summary.slices_out);
  return {what, alone ? ">= 5 M slices/s" : "none; printed",
          fmt::format("{:.2f} M slices/s, {} flows, {:.0f} B a slice", slices / seconds / 1e6, result.summary.flows_out,
                      static_cast<double>(result.bytes) / slices),
          !alone || slices / seconds >= 5e6};
}

}  // namespace

Figures json_write(bool small) {
  const std::uint64_t events = small ? 20'000 : 2'000'000;
  Result plain{}, flows{};
  const double plain_s = fastest_cpu_s(small ? 1 : 3, [&] { plain = export_all(events, 1, 2); });
  const double flows_s = fastest_cpu_s(small ? 1 : 3, [&] { flows = export_all(events, 0, 1); });
  Result all{};
  const double all_s = fastest_cpu_s(small ? 1 : 3, [&] { all = export_all(events, 0, 1, true); });
  std::uint64_t items = 0;
  const double overlay_s = fastest_cpu_s(small ? 1 : 3, [&] { items = compute_all(events); });
  return {rate("write Chrome JSON to memory, slices alone", true, plain_s, plain),
          rate("write Chrome JSON, a flow per kernel", false, flows_s, flows),
          rate("write Chrome JSON, with derived tracks", false, all_s, all), overlay_rate(overlay_s, events, items)};
}

}  // namespace bench
