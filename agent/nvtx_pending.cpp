#include "agent/nvtx_pending.h"

#include <cstring>

#include "agent/recorder.h"

namespace agent {
namespace {

constexpr std::size_t kMost = 256;
constexpr std::size_t kNameBytes = 128;  // longer names are cut here

struct Pending {
  NvtxEvent event;
  char name[kNameBytes];
};

constinit Spinlock s_lock{};
constinit Pending s_pending[kMost]{};
constinit std::size_t s_count = 0;
constinit std::size_t s_lost = 0;

}  // namespace

void keep_pending_nvtx(const NvtxEvent& event) noexcept {
  const Locked locked(s_lock);
  if (s_count == kMost) {
    ++s_lost;
    return;
  }
  Pending& pending = s_pending[s_count++];
  pending.event = event;
  pending.event.name = std::string_view(pending.name, event.name.copy(pending.name, kNameBytes));
}

void replay_pending_nvtx(const Guard& guard) noexcept {
  const Locked locked(s_lock);
  for (std::size_t i = 0; i < s_count; ++i) write_nvtx(guard, s_pending[i].event);
  if (s_lost > 0) count_lost(trace::RecordKind::nvtx_push, s_lost);
  s_count = s_lost = 0;
}

}  // namespace agent
