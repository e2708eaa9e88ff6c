#include "agent/activity/delivery.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "agent/activity/canary.h"
#include "agent/activity/other_subscribers.h"
#include "agent/base/guard.h"
#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

// A stack of free buffers by number, followed by those that were never used. The head is (tag << 32 | number + 1). The
// tag counts changes, so that a buffer that was removed and returned is noticed. The low half is 0 if the stack is
// empty.
class Pool {
 public:
  void place(std::uint8_t* base) noexcept { base_.store(base, std::memory_order_release); }
  bool is_placed() const noexcept { return base_.load(std::memory_order_acquire) != nullptr; }
  std::size_t free_used_ones() const noexcept { return free_.load(std::memory_order_relaxed); }

  std::uint8_t* take(std::uint32_t thread) noexcept {
    std::uint32_t number;
    if (!pop(number) && !draw_unused(number)) return nullptr;
    threads_[number].store(thread, std::memory_order_relaxed);
    return at(number);
  }

  std::uint8_t* take_unused() noexcept {
    std::uint32_t number;
    return draw_unused(number) ? at(number) : nullptr;
  }

  void keep(std::uint8_t* buffer) noexcept {
    const auto number = static_cast<std::uint32_t>((buffer - at(0)) / static_cast<std::ptrdiff_t>(kBufferBytes));
    threads_[number].store(0, std::memory_order_relaxed);
    std::uint64_t old = head_.load(std::memory_order_relaxed);
    std::uint64_t next;
    do {
      next_[number].store(static_cast<std::uint32_t>(old), std::memory_order_relaxed);
      next = ((old >> 32) + 1) << 32 | (number + 1);
    } while (!head_.compare_exchange_weak(old, next, std::memory_order_release, std::memory_order_relaxed));
    free_.fetch_add(1, std::memory_order_relaxed);
  }

  bool owns(const std::uint8_t* buffer) const noexcept {
    const std::uint8_t* base = base_.load(std::memory_order_acquire);
    return base != nullptr && buffer >= base && buffer < base + kBufferBytes * kBuffers;
  }

  void forget_threads() noexcept {
    for (std::atomic<std::uint32_t>& thread : threads_) thread.store(0, std::memory_order_relaxed);
  }

  // Writes the thread of each buffer in use and returns their number.
  std::size_t threads(std::uint32_t (&found)[kBuffers]) const noexcept {
    std::size_t count = 0;
    const std::size_t used = std::min<std::size_t>(unused_.load(std::memory_order_relaxed), kBuffers);
    for (std::size_t i = 0; i < used; ++i) {
      if (const std::uint32_t thread = threads_[i].load(std::memory_order_relaxed)) found[count++] = thread;
    }
    return count;
  }

 private:
  std::uint8_t* at(std::uint32_t number) const noexcept {
    return base_.load(std::memory_order_relaxed) + number * kBufferBytes;
  }

  bool draw_unused(std::uint32_t& number) noexcept {
    if (!is_placed() || unused_.load(std::memory_order_relaxed) >= kBuffers) return false;
    number = unused_.fetch_add(1, std::memory_order_relaxed);
    return number < kBuffers;
  }

  bool pop(std::uint32_t& number) noexcept {
    std::uint64_t old = head_.load(std::memory_order_acquire);
    std::uint64_t next;
    do {
      if (static_cast<std::uint32_t>(old) == 0) return false;
      number = static_cast<std::uint32_t>(old) - 1;
      next = ((old >> 32) + 1) << 32 | next_[number].load(std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(old, next, std::memory_order_acquire, std::memory_order_acquire));
    free_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  std::atomic<std::uint8_t*> base_{nullptr};
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint32_t> unused_{0};
  std::atomic<std::size_t> free_{0};
  std::atomic<std::uint32_t> next_[kBuffers]{};
  std::atomic<std::uint32_t> threads_[kBuffers]{};  // 0 if not in use
};

constinit Pool s_buffers{};
alignas(64) constinit std::uint8_t s_sink[kBufferBytes]{};

// Uses small pages. With transparent huge pages, the first record in a buffer would zero 2 MiB in the middle of a
// launch, and all reserved memory would soon be allocated.
std::uint8_t* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::uint8_t*>(memory);
}

constinit Spinlock s_translating{};
constinit Translation s_translation{};
constinit std::atomic<std::uint64_t> s_records{0};
constinit std::atomic<std::uint64_t> s_foreign_cpu_ns{0};
constinit std::atomic<std::uint64_t> s_last_mono_ns{0};
constinit std::atomic<std::uint64_t> s_ended{0}, s_unfinished{0}, s_newest_end_cupti_ns{0};

// The last result of CUPTI's iterator; CUPTI_ERROR_MAX_LIMIT_REACHED is the end.
template <typename Each>
CUptiResult for_each_raw(std::uint8_t* buffer, std::size_t valid, const Each& each) {
  CUpti_Activity* activity = nullptr;
  CUptiResult result;
  const auto get_next_record = cupti().get_next_record;
  while ((result = get_next_record(buffer, valid, &activity)) == CUPTI_SUCCESS) each(activity);
  return result;
}

// The rest of the buffer is lost. Its number of records is unknown, so the whole buffer is counted.
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

// Records that arrived when nothing can be written any more.
void count_buffer_lost(std::uint8_t* buffer, std::size_t valid) {
  for_each_record(buffer, valid, [](const CUpti_Activity* activity) {
    for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
      if (translator->activity == activity->kind && trace::is_event(static_cast<std::uint8_t>(translator->record)))
        count_lost(translator->record);
    }
  });
}

// Writes a buffer to the ring. While the lock is held, only CUPTI's iterator is called, which takes no lock of its own.
// Returns false if the times show that CUPTI's clock has changed.
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

// The current reading of a foreign clock is after all times in the buffer, so that they can be converted.
void record_buffer(std::uint8_t* buffer, std::size_t valid) {
  const bool ours = cupti_clock_is_ours();
  if (!ours) sample_clocks();
  if (!translate_buffer(buffer, valid) && ours) sample_clocks();
}

void deliver(const Guard& guard, std::uint8_t* buffer, std::size_t valid) {
  s_last_mono_ns.store(mono_ns(), std::memory_order_relaxed);
  const std::uint64_t before = is_own_thread() ? 0 : clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (open_recording(guard)) {
    record_buffer(buffer, valid);
  } else if (recording() == Recording::closed) {
    count_buffer_lost(buffer, valid);
  }
  if (is_own_thread()) return;
  const std::uint64_t taken_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  s_foreign_cpu_ns.fetch_add(taken_ns, std::memory_order_relaxed);
  note_delivery(taken_ns);
}

}  // namespace

void open_buffer_pool(std::size_t spare) noexcept {
  if (!s_buffers.is_placed()) s_buffers.place(reserve(kBufferBytes * kBuffers));
  keep_spare_buffers(spare);
}

std::uint8_t* take_buffer(std::uint32_t thread) noexcept {
  std::uint8_t* taken = s_buffers.take(thread);
  return taken != nullptr ? taken : s_sink;
}

BufferOwner owner_of(const std::uint8_t* buffer) noexcept {
  if (s_buffers.owns(buffer)) return BufferOwner::ours;
  return buffer == s_sink ? BufferOwner::sink : BufferOwner::foreign;
}

void give_back_buffer(std::uint8_t* buffer) noexcept { s_buffers.keep(buffer); }

HeldBuffers held_buffers() noexcept {
  static constinit std::uint32_t s_threads_of_buffers[kBuffers]{};
  HeldBuffers held{s_buffers.threads(s_threads_of_buffers), 0};
  std::sort(s_threads_of_buffers, s_threads_of_buffers + held.all);
  std::size_t same = 0;
  for (std::size_t i = 0; i < held.all; ++i) {
    same = i != 0 && s_threads_of_buffers[i] == s_threads_of_buffers[i - 1] ? same + 1 : 1;
    held.of_a_thread = std::max(held.of_a_thread, same);
  }
  return held;
}

void forget_held_buffers() noexcept { s_buffers.forget_threads(); }

void keep_spare_buffers(std::size_t spare) noexcept {
  while (s_buffers.free_used_ones() < spare) {
    std::uint8_t* buffer = s_buffers.take_unused();
    if (buffer == nullptr) return;
    for (std::size_t at = 0; at < kBufferBytes; at += 4096) static_cast<volatile std::uint8_t*>(buffer)[at] = 0;
    s_buffers.keep(buffer);
  }
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  const int before = errno;
  note_buffer_request();
  *buffer = take_buffer(thread_id());
  *size = kBufferBytes;
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
    if (recording() == Recording::open) trace::SharedMemory::add(ring().header->discarded_buffers, 1);
  } else if (guard) {
    deliver(guard, buffer, valid);
  }
  // Another tool's buffer is read, as that tool may read ours, and remains its property.
  if (owner == BufferOwner::ours) give_back_buffer(buffer);
  if (guard) count_dropped(context, stream);
}

void count_dropped(CUcontext context, std::uint32_t stream) noexcept {
  std::size_t dropped = 0;
  if (recording() != Recording::open || cupti().get_dropped(context, stream, &dropped) != CUPTI_SUCCESS) return;
  if (dropped > 0) trace::SharedMemory::add(ring().header->cupti_dropped, dropped);
}

Delivered delivered() noexcept {
  return {s_records.load(std::memory_order_relaxed),
          s_foreign_cpu_ns.load(std::memory_order_relaxed),
          s_last_mono_ns.load(std::memory_order_relaxed),
          {s_ended.load(std::memory_order_relaxed), s_unfinished.load(std::memory_order_relaxed),
           s_newest_end_cupti_ns.load(std::memory_order_relaxed)}};
}

}  // namespace agent
