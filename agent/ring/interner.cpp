#include "agent/ring/interner.h"

namespace agent {

std::uint32_t FrameTable::find(const FrameKey& key) const noexcept {
  const std::uint64_t hash = trace::hash_bytes(key.words, sizeof(key.words), 3);
  for (std::size_t i = 0; i < kTries; ++i) {
    const Known& known = known_[(hash + i) % kKnown];
    const std::uint32_t turn = known.turn.load(std::memory_order_acquire);
    const std::uint32_t ref = known.ref.load(std::memory_order_relaxed);
    if (ref == 0 || turn % 2 != 0) continue;
    bool is_same = true;
    for (std::size_t word = 0; word < FrameKey::kWords; ++word)
      is_same = is_same && known.words[word].load(std::memory_order_relaxed) == key.words[word];
    std::atomic_thread_fence(std::memory_order_acquire);
    if (is_same && known.turn.load(std::memory_order_relaxed) == turn) return ref;
  }
  return trace::kNoRef;
}

// Uses a free entry if there is one; otherwise replaces entries in turn.
void FrameTable::remember(const FrameKey& key, std::uint32_t ref) noexcept {
  const std::uint64_t hash = trace::hash_bytes(key.words, sizeof(key.words), 3);
  std::size_t at = (hash + replaced_.fetch_add(1, std::memory_order_relaxed) % kTries) % kKnown;
  for (std::size_t i = 0; i < kTries; ++i) {
    if (known_[(hash + i) % kKnown].ref.load(std::memory_order_relaxed) != 0) continue;
    at = (hash + i) % kKnown;
    break;
  }
  Known& known = known_[at];
  std::uint32_t turn = known.turn.load(std::memory_order_relaxed);
  if (turn % 2 != 0 ||
      !known.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire, std::memory_order_relaxed))
    return;
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t word = 0; word < FrameKey::kWords; ++word)
    known.words[word].store(key.words[word], std::memory_order_relaxed);
  known.ref.store(ref, std::memory_order_relaxed);
  known.turn.store(turn + 2, std::memory_order_release);
}

namespace {

trace::StringRecord string_head(std::size_t length) {
  auto head = trace::make_record<trace::StringRecord>();
  head.size_bytes = static_cast<std::uint32_t>(string_room(length));
  head.length = static_cast<std::uint32_t>(length);
  return head;
}

}  // namespace

std::size_t longest_name(const trace::Ring& ring) noexcept { return ring.payload_bytes() / 3; }

template <typename Equal>
Interner::Slot* Interner::find(std::uint64_t hash, trace::RecordKind kind, std::uint64_t ticket, bool& seen,
                               const Equal& equal) noexcept {
  Slot* set = slots_ + hash % kSets * kWays;
  for (Slot* slot = set; slot < set + kWays; ++slot) {
    if (slot->hash != hash || slot->kind != static_cast<std::uint32_t>(kind)) continue;
    seen = true;
    const bool readable = slot->ticket == 0 || slot->ticket == ticket;
    if (readable && equal(slot->ref)) return slot;
  }
  return nullptr;
}

// Returns the slot with the same hash, otherwise an empty one, otherwise one whose definition is, or will be, lost with
// its block.
Interner::Slot* Interner::victim(std::uint64_t hash) noexcept {
  Slot* set = slots_ + hash % kSets * kWays;
  Slot* oldest = nullptr;
  for (Slot* slot = set; slot < set + kWays; ++slot) {
    if (slot->hash == hash || slot->kind == 0) return slot;
    if (slot->ticket != 0 && (oldest == nullptr || slot->ticket < oldest->ticket)) oldest = slot;
  }
  return oldest != nullptr ? oldest : set + clock_++ % kWays;
}

template <typename Equal, typename InRegion, typename InBlock>
std::uint32_t Interner::intern(std::uint64_t hash, trace::RecordKind kind, Writer& writer, const Equal& equal,
                               const InRegion& in_region, const InBlock& in_block) noexcept {
  bool seen = false;
  if (const Slot* slot = find(hash, kind, writer.ticket(), seen, equal)) return slot->ref;
  std::uint32_t ref = seen ? in_region() : trace::kNoRef;
  const bool promoted = ref != trace::kNoRef;
  if (!promoted) ref = in_block();
  *victim(hash) = {hash, promoted ? 0 : writer.ticket(), ref, static_cast<std::uint32_t>(kind)};
  return ref;
}

std::uint32_t Interner::string(const trace::Ring& ring, Writer& writer, std::string_view text,
                               std::size_t keep_free) noexcept {
  text = clipped(text, longest_name(ring));
  const std::uint64_t hash = trace::hash_bytes(text.data(), text.size(), 1);
  return intern(
      hash, trace::StringRecord::kKind, writer,
      [&](std::uint32_t ref) { return text_at(record_at(ring, writer, ref)) == text; },
      [&] { return define_string(ring, keep_free, text); }, [&] { return define_string(writer, text); });
}

std::uint32_t Interner::permanent_string(const trace::Ring& ring, std::string_view text,
                                         std::size_t keep_free) noexcept {
  text = clipped(text, longest_name(ring));
  const std::uint64_t hash = trace::hash_bytes(text.data(), text.size(), 1);
  bool seen = false;
  const auto equal = [&](std::uint32_t ref) {
    return !trace::is_local(ref) && text_at(ring.definitions() + trace::ref_offset(ref)) == text;
  };
  if (const Slot* slot = find(hash, trace::StringRecord::kKind, 0, seen, equal)) return slot->ref;
  const std::uint32_t ref = define_string(ring, keep_free, text);
  if (ref != trace::kNoRef) *victim(hash) = {hash, 0, ref, static_cast<std::uint32_t>(trace::StringRecord::kKind)};
  return ref;
}

std::uint32_t Interner::shape(const trace::Ring& ring, Writer& writer, const Shape& shape) noexcept {
  const std::string_view name = clipped(shape.name, longest_name(ring));
  trace::LaunchShapeRecord record = shape.record;
  record.name_ref = 0;
  const std::uint64_t hash = trace::hash_bytes(&record, sizeof(record), trace::hash_bytes(name.data(), name.size(), 2));
  const auto equal = [&](std::uint32_t ref) {
    trace::LaunchShapeRecord known;
    std::memcpy(&known, record_at(ring, writer, ref), sizeof(known));
    if (text_at(record_at(ring, writer, known.name_ref)) != name) return false;
    known.name_ref = 0;
    return std::memcmp(&known, &record, sizeof(known)) == 0;
  };
  // A shape in the region may only name a string in the region.
  const auto in_region = [&]() -> std::uint32_t {
    record.name_ref = string(ring, writer, name);
    if (trace::is_local(record.name_ref)) return trace::kNoRef;
    return trace::append_definition(ring, kNamesReserve, &record, sizeof(record));
  };
  const auto in_block = [&] {
    record.name_ref = string(ring, writer, name);
    return trace::local_ref(writer.append(&record, sizeof(record)));
  };
  return intern(hash, trace::LaunchShapeRecord::kKind, writer, equal, in_region, in_block);
}

std::uint32_t Interner::frame(const trace::Ring& ring, Writer& writer, const Frame& frame) noexcept {
  trace::FrameRecord record = frame.record;
  record.name_ref = record.file_ref = trace::kNoRef;
  const std::uint64_t hash =
      trace::hash_bytes(&record, sizeof(record),
                        trace::hash_bytes(frame.name.data(), frame.name.size(),
                                          trace::hash_bytes(frame.file.data(), frame.file.size(), 4)));
  const auto has_text = [&](std::uint32_t ref, std::string_view text) {
    return ref == trace::kNoRef ? text.empty() : text_at(record_at(ring, writer, ref)) == text;
  };
  const auto equal = [&](std::uint32_t ref) {
    trace::FrameRecord known;
    std::memcpy(&known, record_at(ring, writer, ref), sizeof(known));
    if (!has_text(known.name_ref, frame.name) || !has_text(known.file_ref, frame.file)) return false;
    known.name_ref = known.file_ref = trace::kNoRef;
    return std::memcmp(&known, &record, sizeof(known)) == 0;
  };
  // A frame in the region may refer only to strings in the region.
  const auto in_region = [&]() -> std::uint32_t {
    const std::size_t keep_free = stacks_reserve(ring);
    if (!frame.name.empty()) record.name_ref = permanent_string(ring, frame.name, keep_free);
    if (!frame.file.empty()) record.file_ref = permanent_string(ring, frame.file, keep_free);
    const bool has_all = (frame.name.empty() || record.name_ref != trace::kNoRef) &&
                         (frame.file.empty() || record.file_ref != trace::kNoRef);
    return has_all ? trace::append_definition(ring, keep_free, &record, sizeof(record)) : trace::kNoRef;
  };
  const auto in_block = [&] {
    const std::size_t keep_free = stacks_reserve(ring);
    if (!frame.name.empty()) record.name_ref = string(ring, writer, frame.name, keep_free);
    if (!frame.file.empty()) record.file_ref = string(ring, writer, frame.file, keep_free);
    return trace::local_ref(writer.append(&record, sizeof(record)));
  };
  return intern(hash, trace::FrameRecord::kKind, writer, equal, in_region, in_block);
}

std::uint32_t define_frame(Writer& writer, const Frame& frame) noexcept {
  trace::FrameRecord record = frame.record;
  record.name_ref = frame.name.empty() ? trace::kNoRef : define_string(writer, frame.name);
  record.file_ref = frame.file.empty() ? trace::kNoRef : define_string(writer, frame.file);
  return trace::local_ref(writer.append(&record, sizeof(record)));
}

std::uint32_t define_string(Writer& writer, std::string_view text) noexcept {
  const auto head = string_head(text.size());
  return trace::local_ref(writer.append(&head, sizeof(head), text.data(), text.size()));
}

std::uint32_t define_string(const trace::Ring& ring, std::size_t keep_free, std::string_view text) noexcept {
  const auto head = string_head(text.size());
  return trace::append_definition(ring, keep_free, &head, sizeof(head), text.data(), text.size());
}

}  // namespace agent
