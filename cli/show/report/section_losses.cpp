// Data missing from the recordings, and the accuracy of the hosts' clocks.

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/answers/tables/cells.h"
#include "cli/base/text.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/trace/losses.h"
#include "cli/trace/ranks.h"

namespace cli::report {

namespace {

// Missing data.

Cell told(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
Cell counted(std::uint64_t number) { return Cell(static_cast<std::int64_t>(number)); }

std::vector<Column> loss_columns() {
  return {kRankColumn,
          {"host", Unit::text, "Host of the process"},
          {"pid", Unit::number, "Process ID"},
          {"gpu", Unit::text, "GPU of the process"},
          {"state", Unit::text, "live, clean (closed), recovered (the writer was killed) or unknown"},
          {"overwritten", Unit::count, "Events that the ring replaced with newer ones"},
          {"lost", Unit::count, "Counted events that never reached the recording"},
          {"what", Unit::text, "Kinds of these events, and how the file ends"}};
}

std::string what_is_missing(const Process& process) {
  std::string text = loss_text(process);
  if (!process.cut.empty()) text += (text.empty() ? "" : "; ") + process.cut;
  for (const std::string& note : process.notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

// The losses of a truncated file are not counted anywhere.
std::string losses_text(std::uint64_t overwritten, std::uint64_t lost, std::uint64_t cut) {
  std::string text =
      overwritten + lost == 0 ? "" : fmt::format("{} overwritten, {} lost.", count_text(overwritten, "event"), lost);
  if (cut > 0)
    return fmt::format("{}{}{} cut; the number of missing events is unknown.", text, text.empty() ? "" : " ",
                       cut == 1 ? "1 recording is" : fmt::format("{} recordings are", cut));
  return text.empty() ? "No events are known to be missing." : text;
}

struct LossSums {
  ResultTable table{"losses", loss_columns()};
  std::uint64_t overwritten = 0, lost = 0, incomplete = 0, cut = 0;
};

LossSums losses_of(const ReportFacts& facts) {
  LossSums sums;
  const std::vector<bool> beside = beside_ranks(facts.catalog);
  for (ProcessId id = 0; id < facts.catalog.processes.size(); ++id) {
    const Process& process = facts.catalog.processes[id];
    if (beside[id] || !facts.chosen[id]) continue;
    const std::string missing = what_is_missing(process);
    sums.overwritten += total(process.overwritten);
    sums.lost += total(process.lost) + process.lost_unknown_kind;
    sums.incomplete += !missing.empty();
    sums.cut += !process.cut.empty();
    auto& cells = sums.table.rows.emplace_back();
    append(cells, process.rank >= 0 ? Cell(process.rank) : Cell(), told(process.host),
           process.pid >= 0 ? Cell(process.pid) : Cell(), told(process.device_name), std::string(word(process.state)),
           counted(total(process.overwritten)), counted(total(process.lost) + process.lost_unknown_kind),
           told(missing));
  }
  return sums;
}

bool has_losses(const ReportFacts& facts) { return losses_of(facts).incomplete > 0; }

void write_losses(const ReportFacts& facts, Html& page) {
  const LossSums sums = losses_of(facts);
  write_paragraph(page, losses_text(sums.overwritten, sums.lost, sums.cut));
  write_paragraph(page, fmt::format("{} of {} have missing events or notes; see the table.", sums.incomplete,
                                    count_text(sums.table.rows.size(), "process", "processes")));
  write_folded_table(page, sums.table, facts, "missing events of each rank",
                     {.command = fmt::format("tracetool info {}", facts.inputs)});
}

// Accuracy of the hosts' clocks.

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

// Returns the fits that a chosen rank uses; if all ranks are chosen, also those of unknown ranks.
std::vector<ClockFit> chosen_fits(const ReportFacts& facts) {
  if (std::ranges::find(facts.chosen, false) == facts.chosen.end()) return facts.fits;
  std::set<std::int64_t> ranks;
  for (ProcessId id = 0; id < facts.catalog.processes.size(); ++id) {
    if (facts.chosen[id]) ranks.insert(facts.catalog.processes[id].rank);
  }
  std::vector<ClockFit> fits;
  std::ranges::copy_if(facts.fits, std::back_inserter(fits), [&](const ClockFit& fit) {
    return std::ranges::any_of(fit.ranks, [&](std::int64_t rank) { return ranks.contains(rank); });
  });
  return fits;
}

// A single clock needs no alignment unless it was set.
bool has_clocks(const ReportFacts& facts) {
  return !facts.clocks.empty() ||
         std::ranges::any_of(facts.fits, [](const ClockFit& fit) { return !fit.later.empty(); });
}

void write_clocks_section(const ReportFacts& facts, Html& page) {
  if (!facts.clocks.empty()) write_paragraph(page, facts.clocks);
  if (facts.fits.empty()) return;
  ResultTable table{"clocks", clock_columns()};
  for (const ClockFit& fit : chosen_fits(facts)) {
    auto& cells = table.rows.emplace_back();
    append(cells, fit.host, rank_list(fit.ranks), fit.offset_ns, fit.drift_ppm, static_cast<std::int64_t>(fit.samples),
           fit.mad_ns, fit.bound_lo_ns, fit.bound_hi_ns, fit.method, static_cast<std::int64_t>(fit.later.size()));
  }
  write_folded_table(page, table, facts, "alignment of each clock",
                     {.command = fmt::format("tracetool merge {} -o merged.ttrace --report -", facts.inputs)});
}

}  // namespace

SectionEntry losses_section() { return {"losses", "Losses", {}, write_losses, has_losses}; }

SectionEntry clocks_section() { return {"clocks", "Clock error", {}, write_clocks_section, has_clocks}; }

}  // namespace cli::report
