#include "agent/nvtx/live_ranges.h"

#include <cstring>

#include "agent/base/memory.h"
#include "agent/ring/interner.h"

namespace agent {
namespace {

enum class Kind : std::uint8_t { plain, nccl_call, group_start, group_end, other_nccl };

struct Range {
  const Domain* domain;
  Kind kind;
  std::uint8_t length;
  char name[kOpenNameBytes];
};

struct OpenRanges {
  std::uint32_t depth;        // all open ranges; those beyond kOpenRanges are not in `ranges`
  std::uint32_t group_depth;  // number of ncclGroupStart without end
  std::uint32_t group_calls;
  OpenNcclCall call;        // the open call, if `ranges` has it
  OpenNcclCall group_call;  // the first call of the group
  OpenRanges* next;         // in the pool
  Range ranges[kOpenRanges];
};

constinit ThreadPool<OpenRanges, 256 << 10> s_pool{};

thread_local OpenRanges* t_ranges __attribute__((tls_model("initial-exec"))) = nullptr;

void give_back(void* ranges) {
  t_ranges = nullptr;
  s_pool.give_back(static_cast<OpenRanges*>(ranges));
}

OpenRanges* own_ranges() {
  if (t_ranges != nullptr) return t_ranges;
  t_ranges = s_pool.take(give_back);
  if (t_ranges != nullptr) t_ranges->depth = t_ranges->group_depth = t_ranges->group_calls = 0;
  return t_ranges;
}

Kind kind_of(const Domain* domain, std::string_view name) {
  if (domain == nullptr || !domain->is_nccl) return Kind::plain;
  if (name == "ncclGroupStart") return Kind::group_start;
  return name == "ncclGroupEnd" ? Kind::group_end : Kind::other_nccl;
}

void open(OpenRanges& open, const Domain* domain, std::string_view name, Kind kind) {
  const std::uint32_t at = open.depth++;
  if (at >= kOpenRanges) return;
  Range& range = open.ranges[at];
  name = clipped(name, kOpenNameBytes);
  range.domain = domain;
  range.kind = kind;
  range.length = static_cast<std::uint8_t>(name.size());
  if (!name.empty()) std::memcpy(range.name, name.data(), name.size());
}

const Range* innermost(const OpenRanges& open, bool of_nccl) {
  const std::size_t known = open.depth < kOpenRanges ? open.depth : kOpenRanges;
  for (const Range* range = open.ranges + known; range-- != open.ranges;) {
    if ((range->kind != Kind::plain) == of_nccl) return range;
  }
  return nullptr;
}

// ncclSend and ncclRecv up to NCCL 2.21 make their own group inside their range; it launches the work of that call.
void begin_group(OpenRanges& open) {
  const Range* around = innermost(open, true);
  if (around == nullptr || around->kind != Kind::nccl_call) return;
  open.group_calls = 1;
  open.group_call = open.call;
}

// Returns the innermost range of the domain; ranges of other domains may have been opened after it.
Range* find(OpenRanges& open, const Domain* domain) {
  for (Range* range = open.ranges + open.depth; range-- != open.ranges;) {
    if (range->domain == domain) return range;
  }
  return nullptr;
}

void find_nccl(const OpenRanges& ranges, OpenRange& open) {
  const Range* range = innermost(ranges, true);
  if (range == nullptr) return;
  const bool launches_group = range->kind == Kind::group_end && ranges.group_depth == 1;
  if (range->kind == Kind::nccl_call) open.nccl_calls = 1;
  if (launches_group) open.nccl_calls = ranges.group_calls;
  open.nccl = launches_group ? ranges.group_call : ranges.call;
}

}  // namespace

bool current_range(OpenRange& open) noexcept {
  open = {};
  const OpenRanges* ranges = t_ranges;
  if (ranges == nullptr || ranges->depth == 0) return false;
  if (const Range* range = innermost(*ranges, false)) {
    open.has_range = true;
    open.name = {range->name, range->length};
    if (range->domain != nullptr) open.domain = range->domain->name();
  }
  find_nccl(*ranges, open);
  return open.has_range || open.nccl_calls > 0;
}

void release_open_ranges() noexcept { s_pool.release_lock(); }

void range_opened(const Domain* domain, std::string_view name) noexcept {
  OpenRanges* ranges = own_ranges();
  if (ranges == nullptr) return;
  const Kind kind = kind_of(domain, name);
  if (kind == Kind::group_start && ranges->group_depth++ == 0) begin_group(*ranges);
  open(*ranges, domain, name, kind);
}

void nccl_call_opened(const Domain* domain, const OpenNcclCall& call) noexcept {
  OpenRanges* ranges = own_ranges();
  if (ranges == nullptr) return;
  if (ranges->group_depth > 0 && ranges->group_calls++ == 0) ranges->group_call = call;
  if (ranges->depth < kOpenRanges) ranges->call = call;
  open(*ranges, domain, call.name, Kind::nccl_call);
}

void range_closed(const Domain* domain) noexcept {
  OpenRanges* ranges = t_ranges;
  if (ranges == nullptr || ranges->depth == 0) return;
  if (ranges->depth > kOpenRanges) {
    --ranges->depth;
    return;
  }
  Range* range = find(*ranges, domain);
  if (range == nullptr) return;
  if (range->kind == Kind::group_end) {
    if (ranges->group_depth > 0) --ranges->group_depth;
    if (ranges->group_depth == 0) ranges->group_calls = 0;
  }
  Range* last = ranges->ranges + --ranges->depth;
  if (range != last) std::memmove(range, range + 1, static_cast<std::size_t>(last - range) * sizeof(Range));
}

}  // namespace agent
