#include "cli/trace/catalog.h"

#include <functional>
#include <utility>

#include "common/hash.h"

namespace cli {

namespace {

// Ids are small and dense, so their bits have to be spread.
std::uint64_t mix(std::uint64_t x) {
  x = trace::spread(x + 1);
  return x ^ (x >> 32);
}

}  // namespace

std::size_t Catalog::TrackKeyHash::operator()(const TrackKey& key) const {
  const std::uint64_t small =
      static_cast<std::uint64_t>(key.process) << 32 | key.group_name << 2 | static_cast<std::uint64_t>(key.kind);
  return mix(mix(mix(small) ^ static_cast<std::uint64_t>(key.group)) ^ static_cast<std::uint64_t>(key.id));
}

ProcessId Catalog::add_process(Process process) {
  processes.push_back(std::move(process));
  return static_cast<ProcessId>(processes.size() - 1);
}

TrackId Catalog::track(ProcessId process, TrackKind kind, std::int64_t group, std::int64_t id,
                       std::string_view group_name) {
  const StringId name_id = group_name.empty() ? 0 : strings.intern(group_name);
  const auto [at, added] =
      track_ids_.try_emplace(TrackKey{process, kind, group, id, name_id}, static_cast<TrackId>(tracks.size()));
  if (added) tracks.push_back(Track{process, kind, group, id, "", std::string(group_name), {}, ""});
  return at->second;
}

}  // namespace cli
