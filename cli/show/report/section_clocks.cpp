// How well the clocks of the hosts are known.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "cli/answers/tables/cells.h"
#include "cli/trace/ranks.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli {
namespace {

std::vector<Column> clock_columns() {
  return {{"host", Unit::text, "Host of the clock"},
          {"ranks", Unit::text, "Ranks that use the clock"},
          {"offset_ns", Unit::ns, "Offset added to its times, in the middle of its samples"},
          {"drift_ppm", Unit::text, "Growth of the offset over time, in parts per million"},
          {"samples", Unit::count, "Number of samples in the estimate; 0 if nothing was estimated"},
          {"mad_ns", Unit::ns, "Median absolute deviation of the samples"},
          {"bound_lo_ns", Unit::ns, "Lower bound of the true offset; unknown if it has none"},
          {"bound_hi_ns", Unit::ns, "Upper bound of the true offset; unknown if it has none"},
          {"method", Unit::text, "Method of the estimate"},
          {"later", Unit::count, "Number of times that the clock was set or changed its rate"}};
}

// Those that a chosen rank reads; where all are chosen, also those of unknown ranks.
std::vector<ClockFit> chosen_fits(const ReportFacts& facts) {
  if (std::find(facts.chosen.begin(), facts.chosen.end(), false) == facts.chosen.end()) return facts.fits;
  std::set<std::int64_t> ranks;
  for (ProcessId id = 0; id < facts.catalog.processes.size(); ++id) {
    if (facts.chosen[id]) ranks.insert(facts.catalog.processes[id].rank);
  }
  std::vector<ClockFit> fits;
  std::copy_if(facts.fits.begin(), facts.fits.end(), std::back_inserter(fits), [&](const ClockFit& fit) {
    return std::any_of(fit.ranks.begin(), fit.ranks.end(), [&](std::int64_t rank) { return ranks.contains(rank); });
  });
  return fits;
}

// A single clock needs no alignment unless it was set.
bool has_clocks(const ReportFacts& facts) {
  return !facts.clocks.empty() || std::any_of(facts.fits.begin(), facts.fits.end(), [](const ClockFit& fit) { return !fit.later.empty(); });
}

void write_clocks_section(const ReportFacts& facts, Html& page) {
  if (!facts.clocks.empty()) write_paragraph(page, facts.clocks);
  if (facts.fits.empty()) return;
  ResultTable table{"clocks", clock_columns(), {}, {}};
  for (const ClockFit& fit : chosen_fits(facts)) {
    auto& cells = table.rows.emplace_back();
    append(cells, fit.host, rank_list(fit.ranks), fit.offset_ns, fit.drift_ppm, static_cast<std::int64_t>(fit.samples), known(fit.mad_ns), known(fit.bound_lo_ns),
           known(fit.bound_hi_ns), fit.method, static_cast<std::int64_t>(fit.later.size()));
  }
  write_folded_table(page, table, facts, "alignment of each clock", {.command = fmt::format("tracetool merge {} -o merged.ttrace --report -", facts.inputs)});
}

}  // namespace

SectionEntry clocks_section() { return {"clocks", "Clock error", {}, write_clocks_section, has_clocks}; }

}  // namespace cli
