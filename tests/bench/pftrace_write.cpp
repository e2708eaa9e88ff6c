#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/show/export/export_job.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_events.h"

namespace bench {
namespace {

struct Written {
  cli::ExportSummary summary;
  std::uint64_t bytes = 0;
};

// What arguments the slices have.
enum class Arguments { of_recordings, of_kineto, ids_only };

// Operators, launches and kernels, a third each, with a flow from each launch to its kernel.
class Stream {
 public:
  Stream(cli::Catalog& catalog, Arguments arguments) : many_(catalog, 0), arguments_(arguments) {
    operator_ = catalog.strings.intern("aten::linear");
    for (std::size_t i = 0; i < kineto_.size(); ++i) {
      kineto_[i] = fmt::format(
          "\"External id\": {0}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {0}, "
          "\"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 2.181818, \"warps per SM\": "
          "8.727273, \"grid\": [288, 1, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %\": 14",
          1'000'000 + i);
      ids_[i] = fmt::format("\"External id\": {}", 1'000'000 + i);
    }
    catalog.processes[0].first_ns = many_.at(0).start_ns - 500;
  }

  template <typename Call>
  void each(std::uint64_t slices, Call&& call) {
    for (std::uint64_t i = 0; i < slices * 2 / 3; ++i) {
      cli::Event event = many_.at(i);
      if (i % 2 == 0) call(operator_around(event), operator_args(i));
      event.json.args_complete = arguments_ == Arguments::of_kineto;
      call(event, facts(event, i));
    }
  }

 private:
  cli::Event operator_around(cli::Event event) const {
    event.kind = cli::Kind::cpu_op, event.name = operator_, event.correlation = 0, event.json.args_complete = true;
    event.start_ns -= 500, event.duration_ns += 1000;
    return event;
  }
  std::string_view operator_args(std::uint64_t i) const {
    if (arguments_ != Arguments::of_recordings) return ids_[i % ids_.size()];
    return "\"Input type\": [\"c10::BFloat16\"], \"Input Strides\": [[768, 1]], \"Input Dims\": [[48, 768]]";
  }
  cli::Facts facts(const cli::Event& event, std::uint64_t i) const {
    if (arguments_ == Arguments::ids_only) return {};
    if (arguments_ == Arguments::of_recordings || event.kind != cli::Kind::kernel) return many_.facts(event);
    return kineto_[i % kineto_.size()];
  }

  ManyEvents many_;
  Arguments arguments_;
  cli::StringId operator_;
  std::array<std::string, 4099> kineto_, ids_;
};

Written export_all(std::uint64_t slices, Arguments arguments, cli::PacketCompression compression) {
  cli::Catalog catalog;
  Stream stream(catalog, arguments);
  NullSink sink;
  const auto& formats = cli::export_formats();
  const auto native = std::find_if(formats.begin(), formats.end(), [](const auto& f) { return f.flag == "pftrace"; });
  const auto exporter = native->make({compression, false});
  exporter->begin(catalog, sink);
  stream.each(slices, [&](const auto& event, const cli::Facts& facts) { exporter->prepare(event, facts); });
  stream.each(slices, [&](const auto& event, const cli::Facts& facts) { exporter->event(event, facts); });
  return {exporter->finish(), sink.total};
}

double bytes_a_slice(const Written& result) {
  return static_cast<double>(result.bytes) / static_cast<double>(result.summary.slices_out);
}

Figure size(const char* what, double budget, const Written& result) {
  return {what, fmt::format("<= {} B", budget), fmt::format("{:.1f} B", bytes_a_slice(result)),
          bytes_a_slice(result) <= budget};
}

}  // namespace

const Alone kPftraceWriteAlone{"pftrace_write", [](const std::string& slices) {
                                 export_all(std::stoull(slices), Arguments::of_kineto, cli::PacketCompression::deflate);
                               }};

namespace {

Figure rate(const char* what, Arguments arguments, std::uint64_t slices, bool small) {
  Written result;
  const double seconds =
      fastest_cpu_s(small ? 1 : 3, [&] { result = export_all(slices, arguments, cli::PacketCompression::none); });
  const double per_s = static_cast<double>(result.summary.slices_out) / seconds;
  return {what, ">= 4 M slices/s",
          fmt::format("{:.2f} M slices/s, {} flows, {:.1f} B a slice", per_s / 1e6, result.summary.flows_out,
                      bytes_a_slice(result)),
          per_s >= 4e6};
}

Figure squeezed(std::uint64_t slices) {
  Written result;
  const double seconds =
      fastest_s(1, [&] { result = export_all(slices, Arguments::of_recordings, cli::PacketCompression::deflate); });
  return {"... to deflate packets, on 2 cores", "none; printed",
          fmt::format("{:.2f} M slices/s, {:.1f} B a slice", static_cast<double>(slices) / seconds / 1e6,
                      bytes_a_slice(result)),
          true};
}

Figure memory(std::uint64_t slices) {
  const std::uint64_t peak = peak_bytes(kPftraceWriteAlone, std::to_string(slices));
  const std::uint64_t ten = peak_bytes(kPftraceWriteAlone, std::to_string(10 * slices));
  return {fmt::format("... peak memory at {:.1f} M and {:.1f} M slices", static_cast<double>(slices) / 1e6,
                      static_cast<double>(slices) / 1e5),
          "flat but ~1 B a launch",
          fmt::format("{:.0f} MB, {:.0f} MB", static_cast<double>(peak) / 1e6, static_cast<double>(ten) / 1e6),
          static_cast<double>(ten) <= 1.1 * static_cast<double>(peak) + 1.5 * static_cast<double>(3 * slices)};
}

}  // namespace

Figures pftrace_write(bool small) {
  const std::uint64_t slices = small ? 30'000 : 3'000'000;
  const auto uncompressed = cli::PacketCompression::none;
  return {rate("write native Perfetto to memory", Arguments::of_recordings, slices, small),
          rate("... with arguments as in Kineto's files", Arguments::of_kineto, slices, small),
          size("... bytes of a slice with all arguments", 95, export_all(slices, Arguments::of_kineto, uncompressed)),
          size("... bytes of a slice with ids only", 45, export_all(slices, Arguments::ids_only, uncompressed)),
          squeezed(slices),
          memory(small ? 30'000 : 1'000'000)};
}

}  // namespace bench
