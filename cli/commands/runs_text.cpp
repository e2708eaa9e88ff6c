#include "cli/commands/runs_text.h"

#include <fmt/format.h>

#include <optional>

#include "cli/base/text_table.h"
#include "cli/base/json_writer.h"
#include "cli/base/units.h"
#include "cli/base/visible_text.h"
#include "cli/trace/losses.h"
#include "cli/trace/rank_list.h"

namespace cli {
namespace {

std::string ranks_text(const RunRow& row) {
  const std::uint64_t unknown = row.processes - std::min<std::uint64_t>(row.processes, row.ranks.size());
  std::string text = row.ranks.empty() ? "" : number_list(row.ranks);
  if (row.world_size > static_cast<std::int64_t>(row.ranks.size())) text += fmt::format(" of {}", row.world_size);
  if (unknown > 0) text += fmt::format("{}{} unknown", text.empty() ? "" : ", ", unknown);
  return text;
}

std::optional<std::int64_t> known(std::int64_t value, std::int64_t unknown) {
  return value == unknown ? std::nullopt : std::optional<std::int64_t>(value);
}

}  // namespace

std::string runs_text(const std::vector<RunRow>& rows) {
  Table table({"run", "start", "ranks", "span", "overwritten", "lost", "size", "state"});
  for (const RunRow& row : rows) {
    table.add({row.name, row.start_ns == 0 ? "?" : time_text(row.start_ns), ranks_text(row), duration_text(row.span_ns),
               fmt::format("{}", row.overwritten), fmt::format("{}", row.lost), bytes_text(row.bytes), row.state});
  }
  std::string text = table.text();
  for (const RunRow& row : rows) {
    if (row.removed_runs > 0) add_line(text, "{} {}", row.name, removed_runs_text(row.removed_runs));
  }
  return text;
}

void write_runs_json(const std::vector<RunRow>& rows, ByteSink& sink) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  json.open('[', "runs");
  for (const RunRow& row : rows) {
    json.open('{');
    json.text("run", row.name);
    json.number("start_ns", known(row.start_ns, 0));
    json.open('[', "ranks");
    for (const std::int64_t rank : row.ranks) json.number({}, rank);
    json.close(']');
    json.number("world_size", known(row.world_size, -1));
    json.number("processes", row.processes);
    json.number("span_ns", row.span_ns);
    json.number("overwritten", row.overwritten);
    json.number("lost", row.lost);
    json.number("bytes", row.bytes);
    json.number("removed_runs", row.removed_runs);
    json.text("state", row.state);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli
