#include "cli/answers/memory/timeline.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

// Returns, by entry, the index of the release of each allocation, or LiveBlock::kNever if the block is in use at the
// end. A deque, unlike a vector, fits into the memory that the reader of the snapshot has freed.
std::deque<std::size_t> releases(const snapshot::History& history) {
  std::deque<std::size_t> released(history.size(), LiveBlock::kNever);
  std::unordered_map<std::uint64_t, std::size_t> next;  // by address; index of the next release
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

void walk_blocks(const snapshot::Snapshot& snapshot, std::int64_t device,
                 const std::function<void(std::size_t, const LiveBlock&, bool, std::int64_t)>& visit,
                 bool with_releases) {
  std::unordered_map<std::uint64_t, LiveBlock> live;
  for (const LiveBlock& block : blocks_in_use(snapshot, device, 0)) {
    live[block.address] = block;
    visit(0, block, true, snapshot::kNoTime);
  }
  const auto index = static_cast<std::size_t>(device);
  if (device < 0 || index >= snapshot.histories.size()) return;
  const snapshot::History& history = snapshot.histories[index];
  const auto released = with_releases ? releases(history) : std::deque<std::size_t>();
  history.forward([&](std::size_t entry, const Entry& each) {
    if (each.action == Action::alloc) {
      const LiveBlock block{.address = each.address,
                            .bytes = each.bytes,
                            .stack = each.stack,
                            .entry = entry,
                            .released = with_releases ? released[entry] : LiveBlock::kNever,
                            .time_us = each.time_us};
      live[each.address] = block;
      visit(entry + 1, block, true, each.time_us);
    } else if (each.action == Action::free_completed) {
      const auto found = live.find(each.address);
      if (found == live.end()) return;
      visit(entry + 1, found->second, false, each.time_us);
      live.erase(found);
    }
  });
}

void walk_groups(const snapshot::Snapshot& snapshot, std::int64_t device, std::size_t groups,
                 const std::function<std::size_t(const LiveBlock&)>& group_of,
                 const std::function<void(std::size_t, std::int64_t, std::span<const std::uint64_t>)>& visit,
                 bool with_releases) {
  std::vector<std::uint64_t> bytes(groups);
  bool started = false;
  const auto changed = [&](std::size_t state, const LiveBlock& block, bool is_added, std::int64_t time_us) {
    if (state > 0 && !started) visit(0, time_us, bytes), started = true;
    std::uint64_t& sum = bytes[group_of(block)];
    is_added ? sum += block.bytes : sum -= block.bytes;
    if (state > 0) visit(state, time_us, bytes);
  };
  walk_blocks(snapshot, device, changed, with_releases);
  if (!started) visit(0, snapshot::kNoTime, bytes);
}

void walk_categories(const snapshot::Snapshot& snapshot, std::int64_t device,
                     const std::function<void(std::size_t, std::int64_t, std::span<const std::uint64_t>)>& visit) {
  Parts parts(snapshot, device);
  walk_groups(
      snapshot, device, kCategories,
      [&](const LiveBlock& block) { return static_cast<std::size_t>(parts.category_of(block)); }, visit);
}

}  // namespace cli::memory
