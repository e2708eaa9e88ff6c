#include "cli/formats/ring/open_ranges.h"

#include <algorithm>

namespace cli::ring {

namespace {

std::uint64_t stack_key(std::uint32_t tid, StringId domain) { return std::uint64_t{tid} << 32 | domain; }

}  // namespace

void OpenRanges::close(OpenRange& range, std::int64_t end_ns) {
  range.event.duration_ns = std::max<std::int64_t>(end_ns - range.event.start_ns, 0);
  emit_(range);
}

void OpenRanges::push(std::uint32_t tid, StringId domain, OpenRange range) {
  stacks_[stack_key(tid, domain)].push_back(std::move(range));
}

void OpenRanges::pop(std::uint32_t tid, StringId domain, std::int64_t end_ns) {
  auto& stack = stacks_[stack_key(tid, domain)];
  if (stack.empty()) {
    ++unmatched_ends_;
    return;
  }
  close(stack.back(), end_ns);
  stack.pop_back();
}

void OpenRanges::start(std::uint64_t range_id, OpenRange range) {
  const auto end = ended_ns_.find(range_id);
  if (end == ended_ns_.end()) {
    started_[range_id] = std::move(range);
    return;
  }
  close(range, end->second);
  ended_ns_.erase(end);
}

void OpenRanges::end(std::uint64_t range_id, std::int64_t end_ns) {
  const auto range = started_.find(range_id);
  if (range == started_.end()) {
    ended_ns_[range_id] = end_ns;
    return;
  }
  close(range->second, end_ns);
  started_.erase(range);
}

void OpenRanges::finish() {
  std::vector<OpenRange> open;
  for (auto& [key, stack] : stacks_) std::move(stack.begin(), stack.end(), std::back_inserter(open));
  for (auto& [id, range] : started_) open.push_back(std::move(range));
  endless_ += open.size();
  unmatched_ends_ += ended_ns_.size();
  ended_ns_.clear();
  stacks_.clear();
  started_.clear();
  std::stable_sort(open.begin(), open.end(),
                   [](const OpenRange& a, const OpenRange& b) { return a.event.start_ns < b.event.start_ns; });
  for (OpenRange& range : open) {
    range.event.duration_ns = kUnknownDuration;
    emit_(range);
  }
}

}  // namespace cli::ring
