#include "agent/ring/thread_state.h"

#include <sys/prctl.h>

#include <cstring>

#include "agent/base/memory.h"
#include "agent/ring/recorder.h"
#include "common/hash.h"

namespace agent {
namespace {

constinit ThreadPool<ThreadState, 1 << 20> s_states{};

thread_local ThreadState* t_state __attribute__((tls_model("initial-exec"))) = nullptr;

// Called at the thread's end. A later destructor that records again takes a new state, and the key is set again.
void give_back(void* state) {
  t_state = nullptr;
  s_states.give_back(static_cast<ThreadState*>(state));
}

}  // namespace

std::uint32_t ThreadState::find_name(std::string_view text) const noexcept {
  const std::uint64_t hash = trace::hash_bytes(text.data(), text.size(), 1);
  const Name* const set = names + hash % kSets * kWays;
  for (const Name* name = set; name < set + kWays; ++name) {
    if (!name->used || name->hash != hash || (name->ticket != 0 && name->ticket != writer.ticket())) continue;
    if (text_at(record_at(ring(), writer, name->ref)) == text) return name->ref;
  }
  return trace::kNoRef;
}

void ThreadState::remember_name(std::string_view text, std::uint32_t ref) noexcept {
  const std::uint64_t hash = trace::hash_bytes(text.data(), text.size(), 1);
  Name* const set = names + hash % kSets * kWays;
  if (set->hash != hash) std::memmove(set + 1, set, (kWays - 1) * sizeof(Name));
  set[0] = {hash, trace::is_local(ref) ? writer.ticket() : 0, ref, true};
}

ThreadState* thread_state() noexcept {
  if (t_state != nullptr) return t_state;
  t_state = s_states.take(give_back);
  if (t_state == nullptr) return nullptr;
  // The name is written here, because the thread may have ended when the flush thread queries it.
  auto record = trace::make_record<trace::ThreadNameRecord>();
  record.tid = thread_id();
  if (prctl(PR_GET_NAME, record.name) == 0) define(record, kIdentityReserve);
  return t_state;
}

}  // namespace agent
