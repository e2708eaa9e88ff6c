#include "agent/ring/frame_table.h"

#include "agent/ring/recorder.h"

namespace agent {
namespace {

// Under the interner's lock.
std::uint32_t define_named(std::string_view name, std::string_view file, trace::FrameRecord record) {
  record.name_ref = name.empty() ? trace::kNoRef : interner().permanent_string(ring(), name);
  record.file_ref = file.empty() ? trace::kNoRef : interner().permanent_string(ring(), file);
  if (!name.empty() && record.name_ref == trace::kNoRef) return trace::kNoRef;
  return trace::append_definition(ring(), kNamesReserve, &record, sizeof(record));
}

}  // namespace

std::size_t FrameTable::slot_of(const FrameKey& key) noexcept { return hash_bytes(key.words, sizeof(key.words), 3) % kKnown; }

std::uint32_t FrameTable::find(const FrameKey& key) const noexcept {
  for (std::size_t i = 0, at = slot_of(key); i < kTries; ++i, at = (at + 1) % kKnown) {
    const std::uint32_t ref = known_[at].ref.load(std::memory_order_acquire);
    if (ref == 0) return trace::kNoRef;
    if (known_[at].key == key) return ref;
  }
  return trace::kNoRef;
}

// Under the lock.
void FrameTable::remember(const FrameKey& key, std::uint32_t ref) noexcept {
  for (std::size_t i = 0, at = slot_of(key); i < kTries; ++i, at = (at + 1) % kKnown) {
    Known& known = known_[at];
    if (known.ref.load(std::memory_order_relaxed) != 0) continue;
    known.key = key;
    return known.ref.store(ref, std::memory_order_release);
  }
}

std::uint32_t FrameTable::define(const FrameKey& key, std::string_view name, std::string_view file, trace::FrameRecord record) noexcept {
  if (!lock_.try_lock_for_moments()) return trace::kNoRef;
  std::uint32_t ref = trace::kNoRef;
  if (interner().lock().try_lock_for_moments()) {
    ref = define_named(name, file, record);
    interner().lock().unlock();
  }
  if (ref != trace::kNoRef) remember(key, ref);
  lock_.unlock();
  return ref;
}

}  // namespace agent
