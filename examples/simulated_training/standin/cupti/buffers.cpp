#include "buffers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "buffer_state.h"
#include "records.h"
#include "state.h"

namespace sim {

BufferState& buffer_state() {
  static auto* const made = new BufferState;  // never deleted: threads of the simulation outlive main
  return *made;
}

void break_off(const char* rule) {
  std::fprintf(stderr, "simulated libcupti: the client broke a rule: %s\n", rule);
  std::abort();
}

namespace {

std::uint32_t buffer_key() {
  static std::atomic<std::uint32_t> s_next{1};
  thread_local const std::uint32_t key = s_next++;
  return buffer_state().per_thread ? key : 0;
}

bool overlaps(const Buffer& buffer, const std::uint8_t* memory, std::size_t size) {
  return memory < buffer.memory + buffer.size && buffer.memory < memory + size;
}

void check_memory(const std::uint8_t* memory, std::size_t size) {
  if (memory == nullptr) break_off("the request callback returned no buffer (this crashes CUPTI before 12.9)");
  if (reinterpret_cast<std::uintptr_t>(memory) % 8 != 0) break_off("a buffer must be aligned to 8 bytes");
  if (size < kMaxRecord) break_off("a buffer must hold at least one record");
  if (!zeroed_by_client()) return;
  if (std::any_of(memory, memory + size, [](std::uint8_t byte) { return byte != 0; })) {
    break_off("ZEROED_OUT_ACTIVITY_BUFFER is set, but a buffer holds something");
  }
}

// In the application's thread, with no lock held.
std::unique_ptr<Buffer> request_buffer() {
  auto buffer = std::make_unique<Buffer>();
  {
    const InsideClient inside(Inside::buffer_callback);
    buffer_state().request.load()(&buffer->memory, &buffer->size, &buffer->max_records);
  }
  check_memory(buffer->memory, buffer->size);
  if (!zeroed_by_client()) std::memset(buffer->memory, 0, buffer->size);
  return buffer;
}

bool has_room(const Buffer* buffer, std::size_t size) {
  if (buffer == nullptr || buffer->used + size > buffer->size) return false;
  return buffer->max_records == 0 || buffer->records < buffer->max_records;
}

void own(BufferState& state, std::uint32_t key, std::unique_ptr<Buffer> fresh) {
  const auto clash = [&](const auto* other) { return overlaps(*other, fresh->memory, fresh->size); };
  if (std::any_of(state.owned.begin(), state.owned.end(), clash)) break_off("a buffer was given out twice");
  state.owned.push_back(fresh.get());
  state.open[key] = std::move(fresh);
}

Buffer* open_buffer(BufferState& state, std::uint32_t key) {
  const auto found = state.open.find(key);
  return found != state.open.end() ? found->second.get() : nullptr;
}

// Nothing more goes into the buffer of `key`; the worker returns it once its records have ended.
void close_full(BufferState& state, std::uint32_t key) {
  const auto found = state.open.find(key);
  if (found == state.open.end()) return;
  found->second->full = true;
  state.closed.push_back(std::move(found->second));
  state.open.erase(found);
  if (state.closed.back()->pending.empty()) state.worker_wake.notify_one();
}

// The buffer of `key` with room for `size`; returns with the lock held.
Buffer& buffer_with_room(std::unique_lock<std::mutex>& lock, std::uint32_t key, std::size_t size) {
  BufferState& state = buffer_state();
  std::unique_lock shared_request(state.request_mutex, std::defer_lock);
  if (key == 0) {  // one buffer for all threads: one requests
    lock.unlock();
    shared_request.lock();
    lock.lock();
  }
  while (!has_room(open_buffer(state, key), size)) {
    close_full(state, key);
    lock.unlock();
    auto fresh = request_buffer();
    lock.lock();
    own(state, key, std::move(fresh));
  }
  return *open_buffer(state, key);
}

void add_seq(Buffer& buffer, std::uint64_t seq) {
  if (!buffer.seqs.empty() && buffer.seqs.back().second + 1 == seq) {
    buffer.seqs.back().second = seq;
  } else {
    buffer.seqs.emplace_back(seq, seq);
  }
}

// A place for a record, filled at once: a forced flush may take it at any moment after. Ended records leave no slot.
template <typename Event, typename... Extra>
Slot* place(CUpti_ActivityKind kind, const Event& event, bool ended, Extra... extra) {
  const std::size_t size = record_size(kind);
  const std::uint32_t key = buffer_key();
  std::unique_lock lock(buffer_state().mutex);
  Buffer* buffer = open_buffer(buffer_state(), key);
  if (!has_room(buffer, size)) buffer = &buffer_with_room(lock, key, size);
  fill_record(reinterpret_cast<std::byte*>(buffer->memory) + buffer->used, event, extra...);
  Slot* slot = ended ? nullptr : new Slot{buffer, buffer->used, buffer->pending.size(), event.seq};
  if (slot != nullptr) buffer->pending.push_back(slot);
  buffer->used += size;
  ++buffer->records;
  if (kind != CUPTI_ACTIVITY_KIND_OVERHEAD) ++buffer->others;
  add_seq(*buffer, event.seq);
  return slot;
}

// The record is complete in its buffer.
void settle(const Slot& slot) {
  Buffer& buffer = *slot.buffer;
  buffer.pending[slot.index] = buffer.pending.back();
  buffer.pending[slot.index]->index = slot.index;
  buffer.pending.pop_back();
  if (buffer.full && buffer.pending.empty()) buffer_state().worker_wake.notify_one();
}

}  // namespace

Fate admit() {
  BufferState& state = buffer_state();
  const std::lock_guard lock(state.mutex);
  const bool no_place = state.request.load() == nullptr;
  const std::uint64_t every = behaviour().drop_every;
  const bool drop = no_place || (every != 0 && ++state.admitted % every == 0);
  return drop ? Fate::dropped : Fate::emitted;
}

void count_if_dropped(Fate fate) {
  if (fate != Fate::dropped) return;
  const std::lock_guard lock(buffer_state().mutex);
  ++buffer_state().dropped;
}

void reserve(CUpti_ActivityKind kind, DeviceEvent& event) { event.slot = place(kind, event, false, true); }

void finish(const DeviceEvent& event) {
  if (event.slot == nullptr) return;
  const std::unique_ptr<Slot> slot(event.slot);
  const std::lock_guard lock(buffer_state().mutex);
  if (slot->buffer == nullptr) return;  // a forced flush took the record as it was
  fill_record(reinterpret_cast<std::byte*>(slot->buffer->memory) + slot->offset, event, false);
  settle(*slot);
}

void append(CUpti_ActivityKind kind, const CallEvent& event) { place(kind, event, true); }
void append(const Note& note) { place(kind_of(note), note, true); }

void emit(Note& note) {
  note.cupti_start_ns = to_cupti(note.start_ns);
  note.cupti_end_ns = to_cupti(note.end_ns);
  note.seq = driver()->next_seq();
  note.fate = kind_enabled(kind_of(note)) ? admit() : Fate::off;
  if (note.kind == NoteKind::unknown) note.fate = admit();
  driver()->truth_of(note);
  count_if_dropped(note.fate);
  if (note.fate == Fate::emitted) append(note);
}

void close_buffers() {
  const std::lock_guard lock(buffer_state().mutex);
  buffer_state().request.store(nullptr);
}

bool callbacks_registered() { return buffer_state().request.load() != nullptr; }

std::size_t take_dropped() {
  const std::lock_guard lock(buffer_state().mutex);
  return std::exchange(buffer_state().dropped, 0);
}

void set_per_thread_buffers(bool per_thread) { buffer_state().per_thread = per_thread; }
bool per_thread_buffers() { return buffer_state().per_thread; }
void set_zeroed_by_client(bool zeroed) { buffer_state().zeroed_by_client = zeroed; }
bool zeroed_by_client() { return buffer_state().zeroed_by_client; }

}  // namespace sim
