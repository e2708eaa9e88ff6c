#include "cli/model/catalog.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace cli {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

// One round of splitmix64: ids are small and dense, so their bits must be spread.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

StringId Strings::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) grow();
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].next_id != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && texts_[slots_[at].next_id - 1] == text) return slots_[at].next_id - 1;
  }
  texts_.push_back(keep(text));
  slots_[at] = {hash, static_cast<StringId>(texts_.size())};
  return slots_[at].next_id - 1;
}

std::string_view Strings::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > chunk_left_) {
    chunk_left_ = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique<char[]>(chunk_left_));
    chunk_end_ = chunks_.back().get() + chunk_left_;
  }
  char* kept = chunk_end_ - chunk_left_;
  std::memcpy(kept, text.data(), text.size());
  chunk_left_ -= text.size();
  return {kept, text.size()};
}

void Strings::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.next_id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].next_id != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

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
