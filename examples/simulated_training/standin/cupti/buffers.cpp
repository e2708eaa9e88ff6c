#include "buffers.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "buffer_state.h"
#include "records.h"
#include "state.h"

namespace sim {

void break_off(const char* rule) {
  std::fprintf(stderr, "simulated libcupti: the client broke a rule: %s\n", rule);
  std::abort();
}

namespace {

std::uint32_t buffer_key(const BufferState& state) {
  static std::atomic<std::uint32_t> s_next{1};
  thread_local const std::uint32_t key = s_next++;
  return state.per_thread ? key : 0;
}

bool overlaps(const Buffer& buffer, const std::uint8_t* memory, std::size_t size) {
  return memory < buffer.memory + buffer.size && buffer.memory < memory + size;
}

void check_memory(const BufferState& state, const std::uint8_t* memory, std::size_t size) {
  if (memory == nullptr) break_off("the request callback returned no buffer (this crashes CUPTI before 12.9)");
  if (reinterpret_cast<std::uintptr_t>(memory) % 8 != 0) break_off("a buffer must be aligned to 8 bytes");
  if (size < kMaxRecord) break_off("a buffer must hold at least one record");
  if (!state.zeroed_by_client) return;
  if (std::any_of(memory, memory + size, [](std::uint8_t byte) { return byte != 0; })) {
    break_off("ZEROED_OUT_ACTIVITY_BUFFER is set, but a buffer holds something");
  }
}

// In the application's thread, with no lock held.
std::unique_ptr<Buffer> request_buffer(const BufferState& state) {
  auto buffer = std::make_unique<Buffer>();
  {
    const InsideClient inside(Inside::buffer_callback);
    std::size_t info = sizeof(info);
    if (const OnRequest2 request = state.request_2.load()) {
      request(&buffer->memory, &buffer->size, &buffer->max_records, reinterpret_cast<RequestInfo*>(&info));
    } else {
      state.request.load()(&buffer->memory, &buffer->size, &buffer->max_records);
    }
  }
  check_memory(state, buffer->memory, buffer->size);
  if (!state.zeroed_by_client) std::memset(buffer->memory, 0, buffer->size);
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
Buffer& buffer_with_room(BufferState& state, std::unique_lock<std::mutex>& lock, std::uint32_t key, std::size_t size) {
  std::unique_lock shared_request(state.request_mutex, std::defer_lock);
  if (key == 0) {  // one buffer for all threads: one requests
    lock.unlock();
    shared_request.lock();
    lock.lock();
  }
  while (!has_room(open_buffer(state, key), size)) {
    close_full(state, key);
    lock.unlock();
    auto fresh = request_buffer(state);
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

// The event in the client's clock and numbers of threads. The driver has set those of the client that the truth is about.
template <typename Event>
Event as_seen_by(const Client& client, const Event& event) {
  Event seen = event;
  if (&client != &told()) {
    seen.cupti_start_ns = to_cupti(client, event.start_ns);
    seen.cupti_end_ns = to_cupti(client, event.end_ns);
  }
  if constexpr (requires { seen.tid; }) {
    if (!client.system_ids) seen.tid = static_cast<std::uint32_t>(pthread_self());
  }
  return seen;
}

// A place for a record, filled at once: a forced flush may take it at any moment after. Ended records leave no slot.
template <typename Event, typename... Extra>
Slot* place(Client& client, CUpti_ActivityKind kind, const Event& event, bool ended, Extra... extra) {
  BufferState& state = client.buffers;
  const std::size_t size = record_size(kind);
  const std::uint32_t key = buffer_key(state);
  const Event seen = as_seen_by(client, event);
  std::unique_lock lock(state.mutex);
  Buffer* buffer = open_buffer(state, key);
  if (!has_room(buffer, size)) buffer = &buffer_with_room(state, lock, key, size);
  fill_record(reinterpret_cast<std::byte*>(buffer->memory) + buffer->used, seen, extra...);
  Slot* slot = ended ? nullptr : new Slot{buffer, buffer->used, buffer->pending.size(), event.seq, &client, nullptr};
  if (slot != nullptr) buffer->pending.push_back(slot);
  buffer->used += size;
  ++buffer->records;
  if (kind != CUPTI_ACTIVITY_KIND_OVERHEAD) ++buffer->others;
  add_seq(*buffer, event.seq);
  return slot;
}

// The record is complete in its buffer.
void settle(BufferState& state, const Slot& slot) {
  Buffer& buffer = *slot.buffer;
  buffer.pending[slot.index] = buffer.pending.back();
  buffer.pending[slot.index]->index = slot.index;
  buffer.pending.pop_back();
  if (buffer.full && buffer.pending.empty()) state.worker_wake.notify_one();
}

// In a child of clone(2), for which no handler of pthread_atfork runs (deliver.cpp), a thread that is not there may hold the mutexes.
bool in_child() {
  static const char* const s_wiped_in_children = [] {
    void* const page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, 1, MADV_WIPEONFORK) != 0) return static_cast<char*>(nullptr);
    return new (page) char{1};
  }();
  return s_wiped_in_children != nullptr && *s_wiped_in_children == 0;
}

}  // namespace

Fate admit(Client& client) {
  if (in_child()) return Fate::off;
  BufferState& state = client.buffers;
  const std::lock_guard lock(state.mutex);
  const std::uint64_t every = behaviour().drop_every;
  const bool drop = !callbacks_registered(client) || (every != 0 && ++state.admitted % every == 0);
  return drop ? Fate::dropped : Fate::emitted;
}

void count_if_dropped(Client& client, Fate fate) {
  if (fate != Fate::dropped) return;
  const std::lock_guard lock(client.buffers.mutex);
  ++client.buffers.dropped;
}

void reserve(Client& client, CUpti_ActivityKind kind, DeviceEvent& event) {
  Slot* slot = place(client, kind, event, false, true);
  slot->next = event.slot;
  event.slot = slot;
}

void finish(const DeviceEvent& event) {
  for (Slot* next = event.slot; next != nullptr;) {
    const std::unique_ptr<Slot> slot(next);
    next = slot->next;
    BufferState& state = slot->client->buffers;
    const DeviceEvent seen = as_seen_by(*slot->client, event);
    const std::lock_guard lock(state.mutex);
    if (slot->buffer == nullptr) continue;  // a forced flush took the record as it was
    fill_record(reinterpret_cast<std::byte*>(slot->buffer->memory) + slot->offset, seen, false);
    settle(state, *slot);
  }
}

void append(Client& client, CUpti_ActivityKind kind, const CallEvent& event) { place(client, kind, event, true); }
void append(Client& client, const Note& note) { place(client, kind_of(note), note, true); }

void emit_to(Client& client, Note& note) {
  if (behaviour().replay != nullptr)
    return;  // the report has what CUPTI said of itself, and contexts and streams of its own
  const bool is_told = &client == &told();
  note.cupti_start_ns = to_cupti(client, note.start_ns);
  note.cupti_end_ns = to_cupti(client, note.end_ns);
  note.fate = kind_enabled(client, kind_of(note)) ? admit(client) : Fate::off;
  if (note.kind == NoteKind::unknown) note.fate = admit(client);
  if (is_told) note.seq = driver()->next_seq();
  if (is_told) driver()->truth_of(note);
  count_if_dropped(client, note.fate);
  if (note.fate == Fate::emitted) append(client, note);
}

void close_buffers() {
  each_client([](Client& each) {
    const std::lock_guard lock(each.buffers.mutex);
    each.buffers.request.store(nullptr);
    each.buffers.request_2.store(nullptr);
  });
}

bool callbacks_registered(const Client& client) {
  return client.buffers.request.load() != nullptr || client.buffers.request_2.load() != nullptr;
}

CUptiResult take_dropped(Client& client, std::size_t* dropped) {
  {
    const std::lock_guard lock(client.buffers.mutex);
    *dropped = std::exchange(client.buffers.dropped, 0);
  }
  driver()->flush_truth();  // what the client is told of is in the truth, even if the process ends now
  return CUPTI_SUCCESS;
}

}  // namespace sim
