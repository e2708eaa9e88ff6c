#include "cli/formats/export/lanes.h"

#include <algorithm>

namespace cli {
namespace {

template <typename Lane>
void expire(Lane& lane, std::int64_t start) {
  while (!lane.empty() && lane.back().end <= start) lane.pop_back();
}

}  // namespace

std::size_t Lanes::place(std::int64_t start, std::int64_t end) {
  const std::size_t scanned = std::min(lanes_.size(), kScanned);
  for (std::size_t i = 0; i < scanned; ++i) {
    expire(lanes_[i], start);
    if (!fits(lanes_[i], end)) continue;
    lanes_[i].push_back({start, end});
    return i;
  }
  if (scanned == kScanned) return place_in_crowd(start, end);
  lanes_.push_back({{start, end}});
  return scanned;
}

std::size_t Lanes::place_in_crowd(std::int64_t start, std::int64_t end) {
  expire_crowd(start);
  const std::size_t lane = choose_in_crowd(end);
  lanes_[lane].push_back({start, end});
  busy_.insert({end, lane});
  return lane;
}

void Lanes::expire_crowd(std::int64_t start) {
  while (!busy_.empty() && busy_.begin()->first <= start) {
    const std::size_t lane = busy_.begin()->second;
    busy_.erase(busy_.begin());
    expire(lanes_[lane], start);
    if (lanes_[lane].empty()) {
      idle_.insert(lane);
    } else {
      busy_.insert({lanes_[lane].back().end, lane});
    }
  }
}

// Takes the lane out of busy_ or idle_, or opens one.
std::size_t Lanes::choose_in_crowd(std::int64_t end) {
  const auto enclosing = rule_ == LaneRule::nest ? busy_.lower_bound({end, 0}) : busy_.end();
  if (enclosing != busy_.end()) {
    const std::size_t lane = enclosing->second;
    busy_.erase(enclosing);
    return lane;
  }
  if (idle_.empty()) {
    lanes_.emplace_back();
    return lanes_.size() - 1;
  }
  const std::size_t lane = *idle_.begin();
  idle_.erase(idle_.begin());
  return lane;
}

std::optional<Lanes::Slice> Lanes::covering(std::int64_t time) const {
  std::optional<Slice> best;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto inner = std::find_if(lanes_[i].rbegin(), lanes_[i].rend(), [&](const Open& o) { return o.end >= time; });
    if (inner == lanes_[i].rend()) continue;
    if (!best || inner->start > best->start) best = Slice{i, inner->start, inner->end};
  }
  return best;
}

}  // namespace cli
