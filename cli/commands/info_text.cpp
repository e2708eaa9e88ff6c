#include "cli/commands/info_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "cli/commands/clock_report.h"
#include "cli/commands/info_recorder.h"
#include "cli/commands/launch_summary.h"
#include "cli/base/text_table.h"
#include "cli/base/units.h"
#include "cli/base/visible_text.h"
#include "cli/trace/beside_ranks.h"
#include "cli/trace/kinds.h"
#include "cli/trace/losses.h"
#include "cli/trace/totals.h"

namespace cli {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string number_or(std::int64_t value, const char* unknown) {
  return value < 0 ? unknown : fmt::format("{}", value);
}

std::string name_of(const Process& process) {
  if (process.rank < 0) return process.source;
  return fmt::format("rank {}{}{}", process.rank, process.phase.empty() ? "" : " ", process.phase);
}

// "12 kernel, 3 runtime"; "" when all are 0.
std::string list(const KindCounts& counts, std::size_t from) {
  std::string out;
  for (std::size_t kind = from; kind < counts.size(); ++kind) {
    if (counts[kind] != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[kind], kKinds[kind].name);
  }
  return out;
}

std::string ranks_table(const Catalog& catalog, const std::vector<bool>& beside) {
  std::vector<std::string> head{"rank", "host", "pid", "device", "span"};
  for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
    const bool calls = static_cast<Kind>(kind) == Kind::nccl;  // on the host: what they launch are kernels
    head.push_back(fmt::format("{}{}", kKinds[kind].name, calls ? " calls" : ""));
  }
  head.insert(head.end(), {"other", "state"});
  Table table(head);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (beside[id]) continue;
    const Process& process = catalog.processes[id];
    std::vector<std::string> row{number_or(process.rank, "?") + (process.phase.empty() ? "" : ' ' + process.phase),
                                 or_dash(process.host), number_or(process.pid, "?"), or_dash(process.device_name),
                                 duration_text(process.last_ns - process.first_ns)};
    std::uint64_t others = total(process.counts);
    for (std::size_t kind = 0; kind < kRecordedKinds; ++kind) {
      row.push_back(fmt::format("{}", process.counts[kind]));
      others -= process.counts[kind];
    }
    row.insert(row.end(), {fmt::format("{}", others), std::string(word(process.state))});
    table.add(row);
  }
  return table.text();
}

std::string beside_text(const Catalog& catalog, const std::vector<bool>& beside) {
  std::string out;
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    if (!beside[id]) continue;
    add_line(out, "process without a rank: {} on {}, {}, {}; it has no GPU work and appears in exports only", process_words(process),
             or_dash(process.host), count_text(total(process.counts), "event"), word(process.state));
  }
  return out;
}

std::string summary(const Catalog& catalog) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  std::set<std::string> hosts;
  KindCounts counts{};
  for (const Process& process : catalog.processes) {
    if (!process.host.empty()) hosts.insert(process.host);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] += process.counts[kind];
    if (total(process.counts) == 0) continue;
    first = std::min(first, process.first_ns);
    last = std::max(last, process.last_ns);
  }
  const std::size_t processes = catalog.processes.size();
  std::string out = fmt::format("{} process{}, {} host{} with a name, {} events over {}\n", processes,
                                processes == 1 ? "" : "es", hosts.size(), hosts.size() == 1 ? "" : "s", total(counts),
                                first > last ? "no time" : duration_text(last - first));
  if (const std::string others = list(counts, kRecordedKinds); !others.empty()) out += "other: " + others + "\n";
  return out;
}

std::string losses(const Process& process) {
  std::string out;
  if (process.format == SourceFormat::ring && !process.cut.empty()) {
    add_line(out, "{}: {}", name_of(process), process.cut);
  }
  if (overwrote(process)) {
    add_line(out, "{}: {} (increase TRACETOOL_BUFFER to keep more)", name_of(process), overwritten_text(process));
  }
  if (left_unrecorded(process) && process.format == SourceFormat::ring) {  // of files the notes tell
    add_line(out, "{}: {}", name_of(process), unrecorded_text(process));
  }
  for (const std::string& note : process.notes) add_line(out, "{}: {}", name_of(process), note);
  return out;
}

std::string next_step(const Catalog& catalog, const InfoInput& input) {
  if (input.merged) return fmt::format("next: tracetool open {}  # in ui.perfetto.dev\n", input.inputs);
  const auto beside = static_cast<std::size_t>(std::ranges::count(beside_ranks(catalog), true));
  const auto unknown = static_cast<std::size_t>(std::ranges::count_if(catalog.processes, [](const Process& process) { return process.rank < 0; }));
  const bool several = catalog.processes.size() > 1;
  return fmt::format("next: tracetool merge {}{}\n", input.inputs, unknown > beside && several ? "  # with --rank N=FILE for files without a rank" : "");
}

}  // namespace

std::string info_text(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, const InfoInput& input) {
  const std::vector<bool> beside = beside_ranks(catalog);
  std::string out = ranks_table(catalog, beside) + "\n" + beside_text(catalog, beside) + summary(catalog);
  if (const std::string clocks = clocks_text(catalog, fits); !clocks.empty()) add_line(out, clocks);
  out += text_of(launch_summary(catalog)) + recorder_text(catalog);
  for (const Process& process : catalog.processes) out += losses(process) + newest_work_text(process);
  out += notices_text(catalog);
  for (const std::string& found : input.steps) add_line(out, found);
  for (const std::string& note : notes) add_line(out, "note: {}", note);
  return out + next_step(catalog, input);
}

}  // namespace cli
