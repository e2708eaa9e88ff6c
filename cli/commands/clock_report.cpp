#include "cli/commands/clock_report.h"

#include <algorithm>
#include <array>
#include <set>

#include "cli/base/text.h"
#include "cli/timeline/merge/align.h"

namespace cli {
namespace {

// Writes the members that a fit and its later pieces share.
template <typename Bounded>
void write_line(const Bounded& fit, JsonWriter& json) {
  json.members("offset_ns", fit.offset_ns, "reference_ns", fit.reference_ns, "drift_ppm", fit.drift_ppm);
}

template <typename Bounded>
void write_bound(const Bounded& fit, JsonWriter& json) {
  json.array("bound_ns", std::array{fit.bound_lo_ns, fit.bound_hi_ns});
}

void write_fit(const ClockFit& fit, JsonWriter& json) {
  json.open('{');
  json.members("host", fit.host, "boot_id", fit.boot_id);
  json.array("ranks", fit.ranks);
  write_line(fit, json);
  json.members("samples", fit.samples, "mad_ns", fit.mad_ns);
  write_bound(fit, json);
  json.text("method", fit.method);
  json.array("later", fit.later, [&](const ClockPiece& piece) {
    json.open('{');
    json.number("from_ns", piece.from_ns);
    write_line(piece, json);
    write_bound(piece, json);
    json.close('}');
  });
  json.close('}');
}

// Returns the maximum error of the estimate, from its bounds; empty if unknown.
template <typename Bounded>
std::optional<std::int64_t> error_of(const Bounded& fit) {
  if (!fit.bound_lo_ns || !fit.bound_hi_ns) return {};
  return std::max({*fit.bound_hi_ns - fit.offset_ns, fit.offset_ns - *fit.bound_lo_ns, std::int64_t{0}});
}

}  // namespace

void write_clocks(std::string_view key, const std::vector<ClockFit>& fits, JsonWriter& json) {
  json.array(key, fits, [&](const ClockFit& fit) { write_fit(fit, json); });
}

std::string clocks_text(const Catalog& catalog, const std::vector<ClockFit>& fits) {
  if (fits.empty()) {
    std::set<std::string> names;
    std::size_t unnamed = 0;
    for (const Process& process : catalog.processes) {
      if (clock_name(process).empty()) {
        ++unnamed;
      } else {
        names.insert(clock_name(process));
      }
    }
    const std::size_t clocks = names.size() + unnamed;
    return clocks < 2 ? "" : fmt::format("clocks: {}; merge aligns them by shared collectives", clocks);
  }
  if (fits.size() == 1) return "";
  std::size_t aligned = 0, unbounded = 0, set = 0, alone = 0;
  std::int64_t largest_ns = 0;
  for (const ClockFit& fit : fits) {
    alone += fit.samples == 0 && fit.method != "reference";
    set += !fit.later.empty();
    if (fit.samples == 0 && fit.later.empty()) continue;
    aligned += fit.samples != 0;
    bool bounded = true;
    const auto take = [&](std::optional<std::int64_t> error_ns) {
      bounded = bounded && error_ns;
      largest_ns = std::max(largest_ns, error_ns.value_or(0));
    };
    if (fit.samples != 0) take(error_of(fit));
    for (const ClockPiece& piece : fit.later) take(error_of(piece));
    unbounded += !bounded;
  }
  if (aligned == 0) return fmt::format("clocks: {}, not aligned: timestamps are host times", fits.size());
  std::string text = fmt::format("clocks: {}; {} aligned by collectives", fits.size(), aligned);
  if (unbounded < aligned) text += fmt::format("; maximum error {}", duration_text(largest_ns));
  if (unbounded > 0) text += fmt::format("; {} without an error bound", unbounded);
  if (set > 0) text += fmt::format("; {} adjusted or changed rate during the run", set);
  if (alone > 0) text += fmt::format("; {} not aligned (no shared collective)", alone);
  return text;
}

void write_clock_report(const std::vector<ClockFit>& fits, ByteSink& sink) {
  write_json(sink, [&](JsonWriter& json) { write_clocks("hosts", fits, json); });
}

}  // namespace cli
