#include "cli/answers/memory/timeline.h"

#include <unordered_map>
#include <vector>

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

// Returns the release of each allocation, by entry; LiveBlock::kNever if it is in use at the end.
std::vector<std::size_t> releases(const snapshot::History& history) {
  std::vector<std::size_t> released(history.size(), LiveBlock::kNever);
  std::unordered_map<std::uint64_t, std::size_t> next;  // by address: the release that comes next
  history.backward([&](std::size_t index, const Entry& entry) {
    if (entry.action == Action::free_completed) next[entry.address] = index;
    if (entry.action != Action::alloc) return true;
    const auto found = next.find(entry.address);
    if (found == next.end()) return true;
    released[index] = found->second;
    next.erase(found);
    return true;
  });
  return released;
}

}  // namespace

void walk_timeline(const snapshot::Snapshot& snapshot, std::int64_t device,
                   const std::function<void(std::size_t, std::int64_t, const BytesByCategory&)>& visit) {
  BytesByCategory bytes{};
  std::unordered_map<std::uint64_t, LiveBlock> live;
  Parts parts(snapshot, device);
  for (const LiveBlock& block : blocks_in_use(snapshot, device, 0)) {
    live[block.address] = block;
    bytes[static_cast<std::size_t>(Category::unknown)] += block.bytes;
  }
  const auto index = static_cast<std::size_t>(device);
  if (device < 0 || index >= snapshot.histories.size()) return;
  const snapshot::History& history = snapshot.histories[index];
  const std::vector<std::size_t> released = releases(history);
  bool first = true;
  history.forward([&](std::size_t entry, const Entry& each) {
    if (first) visit(0, each.time_us, bytes);
    first = false;
    const auto found = live.find(each.address);
    if (each.action == Action::alloc) {
      const LiveBlock block{.address = each.address,
                            .bytes = each.bytes,
                            .stack = each.stack,
                            .entry = entry,
                            .released = released[entry],
                            .time_us = each.time_us};
      bytes[static_cast<std::size_t>(parts.category_of(block))] += block.bytes;
      live[each.address] = block;
    } else if (each.action == Action::free_completed && found != live.end()) {
      bytes[static_cast<std::size_t>(parts.category_of(found->second))] -= found->second.bytes;
      live.erase(found);
    } else {
      return;
    }
    visit(entry + 1, each.time_us, bytes);
  });
}

}  // namespace cli::memory
