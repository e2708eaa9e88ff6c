#include "agent/activity/delivery.h"

#include <time.h>

#include <cerrno>

#include "agent/activity/buffer_pool.h"
#include "agent/activity/cupti_threads.h"
#include "agent/activity/own_calls.h"
#include "agent/base/message.h"
#include "agent/base/guard.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/queries.h"
#include "agent/ring/recorder.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

constinit Spinlock s_translating{};
constinit Translation s_translation{};
constinit std::atomic<std::uint64_t> s_records{0};
constinit std::atomic<std::uint64_t> s_foreign_cpu_ns{0};
constinit std::atomic<std::uint64_t> s_last_mono_ns{0};
constinit std::atomic<std::uint64_t> s_ended{0}, s_unfinished{0}, s_newest_end_cupti_ns{0};

std::uint64_t thread_cpu_ns() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(used.tv_nsec);
}

// What CUPTI's iterator said last: CUPTI_ERROR_MAX_LIMIT_REACHED is the end.
template <typename Each>
CUptiResult for_each_raw(std::uint8_t* buffer, std::size_t valid, const Each& each) {
  CUpti_Activity* activity = nullptr;
  CUptiResult result;
  const auto get_next_record = cupti().get_next_record;
  while ((result = get_next_record(buffer, valid, &activity)) == CUPTI_SUCCESS) each(activity);
  return result;
}

// The rest of the buffer is lost, and nobody knows how many records it has: the whole buffer is counted.
void count_unread(CUptiResult result) {
  static constinit std::atomic<bool> s_said{false};
  if (recording() == Recording::open) trace::SharedMemory::add(ring().header->discarded_buffers, 1);
  if (s_said.exchange(true)) return;
  say("reading a CUPTI buffer failed with %s (%d): the rest of the buffer is lost, and such buffers "
      "are counted",
      cupti_result_name(result), static_cast<int>(result));
}

template <typename Each>
void for_each_record(std::uint8_t* buffer, std::size_t valid, const Each& each) {
  if (has_to_find_queries()) for_each_raw(buffer, valid, find_query);
  const CUptiResult result = for_each_raw(buffer, valid, [&](const CUpti_Activity* activity) {
    if (!is_own_call(activity) && !is_left_out(activity) && !is_query_wait(activity)) each(activity);
  });
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) count_unread(result);
}

// Records that came when nothing can be written any more.
void count_buffer_lost(std::uint8_t* buffer, std::size_t valid) {
  for_each_record(buffer, valid, [](const CUpti_Activity* activity) {
    for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
      if (translator->activity == activity->kind && trace::is_event(static_cast<std::uint8_t>(translator->record)))
        count_lost(translator->record);
    }
  });
}

// A buffer's way into the ring. The lock is held over CUPTI's iterator only, which takes no lock of its own. False: its
// times show that CUPTI's clock has changed.
bool translate_buffer(std::uint8_t* buffer, std::size_t valid) {
  const Locked locked(s_translating);
  if (!s_translation.begin()) {
    count_buffer_lost(buffer, valid);
    return true;
  }
  std::uint64_t records = 0;
  for_each_record(buffer, valid, [&](const CUpti_Activity* activity) {
    s_translation.record(activity);
    ++records;
  });
  s_translation.end();
  const GpuWork& work = s_translation.gpu_work();
  s_ended.store(work.ended, std::memory_order_relaxed);
  s_unfinished.store(work.unfinished, std::memory_order_relaxed);
  s_newest_end_cupti_ns.store(work.newest_end_cupti_ns, std::memory_order_relaxed);
  s_records.fetch_add(records, std::memory_order_relaxed);
  return !s_translation.has_strange_times();
}

// What a foreign clock shows now lies behind all times in the buffer, so that they can be told.
void record_buffer(std::uint8_t* buffer, std::size_t valid) {
  const bool ours = cupti_clock_is_ours();
  if (!ours) sample_clocks();
  if (!translate_buffer(buffer, valid) && ours) sample_clocks();
}

void deliver(const Guard& guard, std::uint8_t* buffer, std::size_t valid) {
  s_last_mono_ns.store(mono_ns(), std::memory_order_relaxed);
  const std::uint64_t before = is_own_thread() ? 0 : thread_cpu_ns();
  if (open_recording(guard)) {
    record_buffer(buffer, valid);
  } else if (recording() == Recording::closed) {
    count_buffer_lost(buffer, valid);
  }
  if (is_own_thread()) return;
  const std::uint64_t taken_ns = thread_cpu_ns() - before;
  s_foreign_cpu_ns.fetch_add(taken_ns, std::memory_order_relaxed);
  note_delivery(taken_ns);
}

void count_sink() {
  if (recording() == Recording::open) trace::SharedMemory::add(ring().header->discarded_buffers, 1);
}

}  // namespace

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  const int before = errno;
  note_buffer_request();
  const Buffer taken = take_buffer(thread_id());
  *buffer = taken.memory;
  *size = taken.bytes;
  *max_records = 0;
  errno = before;
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid) {
  if (buffer == nullptr) return;
  const Uncancelled uncancelled;
  const Guard guard;
  const BufferOwner owner = owner_of(buffer);
  if (is_recorded_process() && (!guard || owner == BufferOwner::sink)) {
    count_sink();
  } else if (guard) {
    deliver(guard, buffer, valid);
  }
  // Another tool's buffer is read, as ours may be by it, and left to its owner.
  if (owner == BufferOwner::ours) give_back_buffer(buffer);
  if (guard) count_dropped(context, stream);
}

void count_dropped(CUcontext context, std::uint32_t stream) noexcept {
  std::size_t dropped = 0;
  if (recording() != Recording::open || cupti().get_dropped(context, stream, &dropped) != CUPTI_SUCCESS) return;
  if (dropped > 0) trace::SharedMemory::add(ring().header->cupti_dropped, dropped);
}

Delivered delivered() noexcept {
  return {s_records.load(std::memory_order_relaxed), s_foreign_cpu_ns.load(std::memory_order_relaxed),
          s_last_mono_ns.load(std::memory_order_relaxed),
          {s_ended.load(std::memory_order_relaxed), s_unfinished.load(std::memory_order_relaxed),
           s_newest_end_cupti_ns.load(std::memory_order_relaxed)}};
}

}  // namespace agent
