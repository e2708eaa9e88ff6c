#include "agent/nvtx/nvtx_pending.h"

#include <cstring>

#include "agent/nvtx/nvtx_names.h"
#include "agent/nvtx/live_ranges.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::size_t kMost = 256;
constexpr std::size_t kNameBytes = 128;  // longer names are cut here

struct EarlyEvent {
  NvtxEvent event;
  char name[kNameBytes];
};

constinit Spinlock s_pending_lock{};
constinit EarlyEvent s_early[kMost]{};
constinit std::size_t s_early_count = 0;  // kept so far; the last kMost of them are there
constinit std::uint64_t s_lost[trace::kEventKinds]{};
constinit bool s_early_replayed = false;

// The oldest makes room: an end without its start is harmless, a start without its end is not.
void keep(const NvtxEvent& event) {
  EarlyEvent& pending = s_early[s_early_count++ % kMost];
  if (s_early_count > kMost) ++s_lost[static_cast<std::size_t>(pending.event.kind) - trace::kFirstEventKind];
  pending.event = event;
  const std::string_view name = clipped(event.name, kNameBytes);
  count_cut_name(event.name, name);
  if (!name.empty()) std::memcpy(pending.name, name.data(), name.size());
  pending.event.name = {pending.name, name.size()};
}

}  // namespace

bool keep_pending_nvtx(const NvtxEvent& event) noexcept {
  const Locked locked(s_pending_lock);
  if (!s_early_replayed) keep(event);
  return !s_early_replayed;
}

void replay_pending_nvtx(const Guard& guard) noexcept {
  replay_pending_names(guard);
  const Locked locked(s_pending_lock);
  for (std::size_t i = s_early_count > kMost ? s_early_count - kMost : 0; i < s_early_count; ++i) {
    write_nvtx(guard, s_early[i % kMost].event);
  }
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    if (s_lost[kind] > 0) count_lost(static_cast<trace::RecordKind>(trace::kFirstEventKind + kind), s_lost[kind]);
  }
  s_early_replayed = true;
}

void forget_pending_nvtx() noexcept {
  forget_pending_names();
  release_nvtx_texts();
  release_open_ranges();
  s_pending_lock.unlock();  // a thread of the parent may have held it
  s_early_count = 0;
  for (std::uint64_t& lost : s_lost) lost = 0;
}

}  // namespace agent
