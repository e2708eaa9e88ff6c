// Handing buffers over: the worker thread, and flushes in the caller's thread.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "../true_clock.h"
#include "buffer_state.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

constexpr std::uint8_t kBeyond = 0xee;  // what the client finds behind validSize

// All that was handed over: ranges of seq, and those of them that had not ended.
void write_handed(const Buffer& buffer, bool forced) {
  std::string line = "{\"kind\":\"handed\",\"time\":" + std::to_string(true_ns());
  line += forced ? ",\"forced\":true" : ",\"forced\":false";
  line += ",\"records\":" + std::to_string(buffer.records) + ",\"seqs\":[";
  for (const auto& [first, last] : buffer.seqs) {
    if (line.back() != '[') line += ',';
    line += '[' + std::to_string(first) + ',' + std::to_string(last) + ']';
  }
  line += "],\"unfinished\":[";
  for (const std::uint64_t seq : buffer.unfinished) {
    if (line.back() != '[') line += ',';
    line += std::to_string(seq);
  }
  line += "]}";
  driver()->truth(line.data(), line.size());
  driver()->flush_truth();
}

// What a hand-over cost. Not of a forced one, which is the last as a rule, nor of one that returned nothing else.
void tell_flush(Client& client, const Buffer& buffer, std::uint64_t start_ns) {
  if (buffer.others == 0 || !callbacks_registered(client)) return;
  Note note{};
  note.kind = NoteKind::overhead;
  note.type = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  note.object = CUPTI_ACTIVITY_OBJECT_THREAD;
  note.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  note.device = note.context = note.stream = kNoNumber;
  note.start_ns = start_ns;
  note.end_ns = true_ns();
  emit_to(client, note);
}

void call_completed(const BufferState& state, const Buffer& buffer) {
  const InsideClient inside(Inside::buffer_callback);
  std::size_t info[4] = {sizeof(info)};  // and no thread, no layouts
  if (const OnCompleted2 completed = state.completed_2.load()) {
    completed(buffer.memory, buffer.size, buffer.used, reinterpret_cast<CompletedInfo*>(info));
  } else {
    state.completed.load()(nullptr, 0, buffer.memory, buffer.size, buffer.used);
  }
}

// Without a lock. The client may give the memory out again while its callback still runs.
void hand_over(Client& client, std::unique_ptr<Buffer> buffer, bool forced) {
  const std::uint64_t start_ns = true_ns();
  driver()->flush_truth();
  std::memset(buffer->memory + buffer->used, kBeyond, buffer->size - buffer->used);
  {
    const std::lock_guard lock(client.buffers.mutex);
    std::erase(client.buffers.owned, buffer.get());
  }
  call_completed(client.buffers, *buffer);
  if (&client == &told()) write_handed(*buffer, forced);
  if (!forced) tell_flush(client, *buffer, start_ns);
}

std::unique_ptr<Buffer> take_full(BufferState& state) {
  const auto found = std::find_if(state.closed.begin(), state.closed.end(),
                                  [](const auto& buffer) { return buffer->full && buffer->pending.empty(); });
  if (found == state.closed.end()) return nullptr;
  auto buffer = std::move(*found);
  state.closed.erase(found);
  return buffer;
}

void work(Client& client) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "simulated-cupti");
  BufferState& state = client.buffers;
  std::unique_lock lock(state.mutex);
  for (;;) {
    std::unique_ptr<Buffer> buffer;
    state.worker_wake.wait(lock, [&] { return (buffer = take_full(state)) != nullptr; });
    ++state.delivering;
    lock.unlock();
    hand_over(client, std::move(buffer), false);
    lock.lock();
    --state.delivering;
    state.delivered.notify_all();
  }
}

// As some CUPTIs do: their own thread takes more and more (release notes of 13.4 update 1).
void keep_busy() {
  constexpr std::uint64_t kRound_ns = 20'000'000;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  for (;;) {
    const std::uint64_t begin_ns = true_ns(), busy_ns = kRound_ns * behaviour().busy_percent / 100;
    while (true_ns() - begin_ns < busy_ns) {
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(kRound_ns - busy_ns));
  }
}

// Of clients that came before the fork; guarded by the first one's `request_mutex`.
std::size_t s_forked_clients = 0;

void unlock_clients() {
  for (std::size_t i = s_forked_clients; i-- > 0;) {
    client(i).buffers.mutex.unlock();
    client(i).buffers.request_mutex.unlock();
  }
}

// A child finds the mutexes free, whoever held them in the parent: it may call CUDA, though nothing comes of it.
void survive_forks() {
  static std::atomic<bool> s_once{false};
  if (s_once.exchange(true)) return;
  pthread_atfork(
      [] {
        const std::size_t count = client_count();
        for (std::size_t i = 0; i < count; ++i) {
          client(i).buffers.request_mutex.lock();
          client(i).buffers.mutex.lock();
        }
        s_forked_clients = count;
      },
      unlock_clients, unlock_clients);
}

// The records that have not ended stay as they are: their work will find no place.
void take_away(Buffer& buffer) {
  for (Slot* slot : buffer.pending) {
    slot->buffer = nullptr;
    buffer.unfinished.push_back(slot->seq);
  }
  buffer.pending.clear();
}

// Without force a buffer that holds unfinished work stays open and goes on filling.
void close_partial(BufferState& state, bool forced) {
  for (auto at = state.open.begin(); at != state.open.end();) {
    if (at->second->records == 0 || (!forced && !at->second->pending.empty())) {
      ++at;
      continue;
    }
    state.closed.push_back(std::move(at->second));
    at = state.open.erase(at);
  }
}

std::vector<std::unique_ptr<Buffer>> take_ended(BufferState& state, bool forced) {
  std::vector<std::unique_ptr<Buffer>> ended;
  for (auto& buffer : state.closed) {
    if (!forced && !buffer->pending.empty()) continue;
    take_away(*buffer);
    ended.push_back(std::move(buffer));
  }
  std::erase(state.closed, nullptr);
  return ended;
}

}  // namespace

void start_worker(Client& client) {
  const std::lock_guard lock(client.buffers.mutex);
  if (std::exchange(client.buffers.worker_runs, true)) return;
  survive_forks();
  std::thread(work, std::ref(client)).detach();
  static std::atomic<bool> s_busy{false};
  if (behaviour().busy_percent != 0 && !s_busy.exchange(true)) std::thread(keep_busy).detach();
}

namespace {

// Waits for the worker's hand-overs too.
void flush(Client& client, bool forced) {
  BufferState& state = client.buffers;
  std::unique_lock lock(state.mutex);
  close_partial(state, forced);
  auto ended = take_ended(state, forced);
  lock.unlock();
  for (auto& buffer : ended) hand_over(client, std::move(buffer), forced);
  lock.lock();
  state.delivered.wait(lock, [&] { return state.delivering == 0; });
}

}  // namespace

void flush_all(bool forced) {
  each_client([&](Client& each) {
    if (callbacks_registered(each)) flush(each, forced);
  });
}

// Also waits for a hand-over that is in progress: its function may be gone after.
void abandon_buffers(Client& client) {
  BufferState& state = client.buffers;
  std::unique_lock lock(state.mutex);
  state.request_2.store(nullptr);
  state.delivered.wait(lock, [&] { return state.delivering == 0; });
  for (auto& [key, buffer] : state.open) take_away(*buffer);
  for (auto& buffer : state.closed) take_away(*buffer);
  state.open.clear();
  state.closed.clear();
  state.owned.clear();
}

}  // namespace sim

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  if (request == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  if (sim::is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  sim::process_client().buffers.completed.store(completed);
  sim::process_client().buffers.request.store(request);
  sim::start_worker(sim::process_client());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  SIM_NEED_DRIVER();
  sim::check_may_flush();
  bool any = false;
  sim::each_client([&](const sim::Client& each) { any |= sim::callbacks_registered(each); });
  if (!any) return CUPTI_ERROR_INVALID_OPERATION;
  sim::flush_all(flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  return CUPTI_SUCCESS;
}

// The worker of this library returns a full buffer at once, so a period changes nothing that a client can rely on.
CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
  SIM_NEED_DRIVER();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, std::uint32_t stream, std::size_t* dropped) {
  sim::check_not_torn_down(__func__);
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  SIM_NEED_VERSION_1(false);
  *dropped = 0;
  if (context != nullptr || stream != 0) return CUPTI_SUCCESS;
  return sim::take_dropped(sim::process_client(), dropped);
}
