#include "cli/formats/kineto/kineto_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cli {
namespace {

using Ranks = std::unordered_map<std::uint64_t, std::set<std::int64_t>>;

// By communicator of the process: the ranks that have it.
Ranks members(const Catalog& catalog, const Process& process) {
  Ranks found;
  for (const Communicator& c : process.communicators) {
    if (c.communicator != 0) found[c.communicator];
  }
  for (const Process& p : catalog.processes) {
    for (const Communicator& c : p.communicators) {
      const auto ranks = found.find(c.communicator);
      if (ranks != found.end() && p.rank >= 0) ranks->second.insert(p.rank);
    }
  }
  return found;
}

}  // namespace

std::string communicator_name(std::uint64_t communicator) { return fmt::format("{:#018x}", communicator); }

// A parent comes before its splits.
KinetoGroups::KinetoGroups(const Catalog& catalog, const Process& process) {
  const Ranks found = members(catalog, process);
  for (const Communicator& c : process.communicators) {
    if (c.communicator == 0) continue;
    const auto& ranks = found.at(c.communicator);
    const Group* parent = find(c.parent);
    const bool all_of_parent = parent != nullptr && !parent->ranks.empty();
    Group& group = groups_[c.communicator];
    group.size = c.ranks > 0 ? c.ranks : all_of_parent ? static_cast<std::int64_t>(ranks.size()) : group.size;
    if (group.size == static_cast<std::int64_t>(ranks.size())) group.ranks.assign(ranks.begin(), ranks.end());
  }
}

const KinetoGroups::Group* KinetoGroups::find(std::uint64_t communicator) const {
  const auto group = groups_.find(communicator);
  return group == groups_.end() ? nullptr : &group->second;
}

std::string list(const std::vector<std::int64_t>& ranks, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return text + (ranks.size() > most ? ", ..." : "");
}

}  // namespace cli
