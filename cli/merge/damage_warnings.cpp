#include "cli/merge/damage_warnings.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {
namespace {

std::string lost(std::uint64_t events) {
  if (events == 0) return {};
  return events == 1 ? "at least 1 event could not be read and is left out; "
                     : fmt::format("at least {} events could not be read and are left out; ", events);
}

// Processes that are named as the Chrome form of export names those of ranks.
std::size_t ranks_drawn(std::string_view metadata) {
  std::size_t ranks = 0;
  while (!metadata.empty()) {
    const std::string_view line = metadata.substr(0, metadata.find('\n'));
    ranks += line.find("\"process_name\"") != line.npos && line.find("\"name\":\"rank ") != line.npos;
    metadata.remove_prefix(std::min(line.size() + 1, metadata.size()));
  }
  return ranks;
}

}  // namespace

std::vector<std::string> damage_warnings(const Catalog& catalog) {
  std::vector<std::string> warnings;
  for (const Process& process : catalog.processes) {
    if (const std::size_t ranks = ranks_drawn(process.kineto_metadata); ranks > 1) {
      warnings.push_back(
          fmt::format("{} names {} processes as ranks, like a picture that export made: all is read as one process, "
                      "computed rows too; name what it was made of instead",
                      process.source, ranks));
    }
    if (process.format != SourceFormat::kineto || process.state != "recovered") continue;
    const auto names_a_place = [](const std::string& note) { return note.starts_with("byte "); };
    const auto first = std::find_if(process.notes.begin(), process.notes.end(), names_a_place);
    warnings.push_back(fmt::format("{} is damaged: {}{}tracetool info tells more", process.source,
                                   lost(process.lost_unknown_kind), first == process.notes.end() ? "" : *first + "; "));
  }
  return warnings;
}

}  // namespace cli
