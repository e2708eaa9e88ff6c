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

}  // namespace

std::vector<std::string> damage_warnings(const Catalog& catalog) {
  std::vector<std::string> warnings;
  for (const Process& process : catalog.processes) {
    if (process.format != SourceFormat::kineto || process.state != "recovered") continue;
    const auto names_a_place = [](const std::string& note) { return note.starts_with("byte "); };
    const auto first = std::find_if(process.notes.begin(), process.notes.end(), names_a_place);
    warnings.push_back(fmt::format("{} is damaged: {}{}tracetool info tells more", process.source,
                                   lost(process.lost_unknown_kind), first == process.notes.end() ? "" : *first + "; "));
  }
  return warnings;
}

}  // namespace cli
