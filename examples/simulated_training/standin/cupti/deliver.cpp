// Handing buffers over: the worker thread, and flushes in the caller's thread.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
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
void tell_flush(const Buffer& buffer, std::uint64_t start_ns) {
  if (buffer.others == 0 || !callbacks_registered()) return;
  Note note{};
  note.kind = NoteKind::overhead;
  note.type = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  note.object = CUPTI_ACTIVITY_OBJECT_THREAD;
  note.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  note.device = note.context = note.stream = kNoNumber;
  note.start_ns = start_ns;
  note.end_ns = true_ns();
  emit(note);
}

// Without a lock. The client may give the memory out again while its callback still runs.
void hand_over(std::unique_ptr<Buffer> buffer, bool forced) {
  const std::uint64_t start_ns = true_ns();
  driver()->flush_truth();
  std::memset(buffer->memory + buffer->used, kBeyond, buffer->size - buffer->used);
  {
    const std::lock_guard lock(buffer_state().mutex);
    std::erase(buffer_state().owned, buffer.get());
  }
  {
    const InsideClient inside(Inside::buffer_callback);
    buffer_state().completed.load()(nullptr, 0, buffer->memory, buffer->size, buffer->used);
  }
  write_handed(*buffer, forced);
  if (!forced) tell_flush(*buffer, start_ns);
}

std::unique_ptr<Buffer> take_full(BufferState& state) {
  const auto found = std::find_if(state.closed.begin(), state.closed.end(),
                                  [](const auto& buffer) { return buffer->full && buffer->pending.empty(); });
  if (found == state.closed.end()) return nullptr;
  auto buffer = std::move(*found);
  state.closed.erase(found);
  return buffer;
}

void work() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "simulated-cupti");
  BufferState& state = buffer_state();
  std::unique_lock lock(state.mutex);
  for (;;) {
    std::unique_ptr<Buffer> buffer;
    state.worker_wake.wait(lock, [&] { return (buffer = take_full(state)) != nullptr; });
    ++state.delivering;
    lock.unlock();
    hand_over(std::move(buffer), false);
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

// A child finds the mutexes free, whoever held them in the parent: it may call CUDA, though nothing comes of it.
void survive_forks() {
  pthread_atfork(
      [] {
        buffer_state().request_mutex.lock();
        buffer_state().mutex.lock();
      },
      [] {
        buffer_state().mutex.unlock();
        buffer_state().request_mutex.unlock();
      },
      [] {
        buffer_state().mutex.unlock();
        buffer_state().request_mutex.unlock();
      });
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

void start_worker() {
  const std::lock_guard lock(buffer_state().mutex);
  if (std::exchange(buffer_state().worker_runs, true)) return;
  survive_forks();
  std::thread(work).detach();
  if (behaviour().busy_percent != 0) std::thread(keep_busy).detach();
}

// Waits for the worker's hand-overs too.
void flush_all(bool forced) {
  BufferState& state = buffer_state();
  std::unique_lock lock(state.mutex);
  close_partial(state, forced);
  auto ended = take_ended(state, forced);
  lock.unlock();
  for (auto& buffer : ended) hand_over(std::move(buffer), forced);
  lock.lock();
  state.delivered.wait(lock, [&] { return state.delivering == 0; });
}

}  // namespace sim

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  if (request == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  SIM_NEED_DRIVER();
  if (sim::is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  sim::buffer_state().completed.store(completed);
  sim::buffer_state().request.store(request);
  sim::start_worker();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  SIM_NEED_DRIVER();
  sim::check_may_flush();
  if (!sim::callbacks_registered()) return CUPTI_ERROR_INVALID_OPERATION;
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
  *dropped = context == nullptr && stream == 0 ? sim::take_dropped() : 0;
  sim::driver()->flush_truth();  // what the client is told of is in the truth, even if the process ends now
  return CUPTI_SUCCESS;
}
