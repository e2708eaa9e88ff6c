#include "agent/python/hang_stacks.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "agent/python/python_door.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

constexpr std::size_t kMostHangThreads = 512;
constexpr double kBetweenReads_ms = 20;

// Written before s_is_prepared.
constinit const PythonFunctions* s_hang_python = nullptr;
constinit void* s_hang_interpreter = nullptr;
constinit std::size_t s_thread_id_at = 0;  // offset of the pthread_t in a thread's state; 0 if not found
constinit std::size_t s_tid_at = 0;        // offset of the thread id in glibc's thread object; 0 if not found
constinit std::atomic<bool> s_is_prepared{false};

constinit std::atomic<std::uint64_t> s_hanging_since_ns{0};  // 0 if not requested
constinit Worker s_hang_thread{};

// Returns the kernel's thread id, or 0 if the thread has ended. Reads guarded, because the thread may end at any moment.
std::uint32_t tid_of(const void* thread) {
  std::uint64_t id = 0, word = 0;
  if (!read_guarded(thread, s_thread_id_at, id) || !read_guarded(reinterpret_cast<const void*>(id), s_tid_at, word))
    return 0;
  return static_cast<std::uint32_t>(word);
}

bool write_stack(const Guard& guard, const void* thread, const PythonPlace* places, std::size_t count) {
  const PythonStack stack(guard, places, count);
  if (stack.size() == 0) return false;
  auto record = trace::make_record<trace::StackRecord>();
  record.reason = static_cast<std::uint8_t>(trace::StackReason::hang);
  record.tid = tid_of(thread);
  if (record.tid == 0) return false;
  HostWriter writer(guard, trace::StackRecord::kKind, sizeof(record), PythonStack::kMostBytes);
  if (!writer) return false;
  record.stack_ref = stack.write(writer);
  if (record.stack_ref == trace::kNoRef) return false;
  record.time_mono_ns = mono_ns();
  writer.append(record);
  return true;
}

void notice_hang(const Guard& guard, std::uint64_t since_ns, std::uint32_t stacks) {
  const std::uint64_t now_ns = mono_ns();
  char text[160];
  snprintf(text, sizeof(text), "no GPU or operator activity for %llu s: recording the stacks of all Python threads",
           static_cast<unsigned long long>((now_ns - since_ns) / 1'000'000'000));
  write_notice(guard, trace::NoticeCode::hang, stacks, since_ns, now_ns, text);
}

// Members of PyThreadState, the same in all supported versions; checked under the GIL.
constexpr std::size_t kNextAt = 8;

// Calls f(thread) for each thread. The list may change meanwhile.
template <typename F>
void for_each_thread(const F& f) {
  auto thread = reinterpret_cast<std::uintptr_t>(s_hang_python->first_thread(s_hang_interpreter));
  for (std::size_t count = 0; thread != 0 && count < kMostHangThreads; ++count) {
    f(reinterpret_cast<const void*>(thread));
    std::uint64_t next = 0;
    if (!read_guarded(reinterpret_cast<const void*>(thread), kNextAt, next)) return;
    thread = next;
  }
}

bool has_known_list(const PythonFunctions& python) {
  for (void* thread = python.first_thread(python.interpreter()); thread != nullptr;
       thread = python.next_thread(thread)) {
    std::uint64_t next = 0;
    if (!read_guarded(thread, kNextAt, next) || next != reinterpret_cast<std::uintptr_t>(python.next_thread(thread)))
      return false;
  }
  return true;
}

// Works without the GIL. Returns 0 if the thread runs no Python, or continues.
std::size_t places_at_rest(const void* thread, PythonPlace (&places)[PythonStack::kMost]) {
  PythonPlace before[PythonStack::kMost];
  const std::size_t count = python_places_guarded(*s_hang_python, thread, before, PythonStack::kMost);
  if (count == 0) return 0;
  s_hang_thread.wait_ms(kBetweenReads_ms);
  const std::size_t again = python_places_guarded(*s_hang_python, thread, places, PythonStack::kMost);
  return again == count && std::equal(before, before + count, places) ? count : 0;
}

template <typename PlacesOf>
void write_stacks(const Guard& guard, std::uint64_t since_ns, const PlacesOf& places_of) {
  if (since_ns == 0) return;
  std::uint32_t stacks = 0;
  for_each_thread([&](const void* thread) {
    PythonPlace places[PythonStack::kMost];
    const std::size_t count = places_of(thread, places);
    stacks += count > 0 && write_stack(guard, thread, places, count) ? 1 : 0;
  });
  notice_hang(guard, since_ns, stacks);
}

void write_without_lock() {
  const std::uint64_t since_ns = s_hanging_since_ns.exchange(0);
  const Guard guard;
  if (guard && recording() == Recording::open) write_stacks(guard, since_ns, places_at_rest);
}

void run_hang_thread() {
  constexpr double kLong_ms = 3'600'000;
  do {
    write_without_lock();
  } while (s_hang_thread.wait_ms(kLong_ms));
}

}  // namespace

void prepare_hang_stacks(const PythonFunctions& python) noexcept {
  constexpr std::size_t kLast = 256, kLastOfThread = 1024;  // no such object is smaller
  const void* own = python.own_thread_state();
  std::uint64_t word = 0;
  const auto* own_thread = reinterpret_cast<const void*>(pthread_self());
  for (std::size_t at = 8; at < kLastOfThread && s_tid_at == 0 && read_guarded(own_thread, at, word);
       at += sizeof(word)) {
    if (static_cast<std::uint32_t>(word) == static_cast<std::uint32_t>(gettid())) s_tid_at = at;
  }
  for (std::size_t at = 0; at < kLast && s_thread_id_at == 0 && read_guarded(own, at, word); at += sizeof(word)) {
    if (word == static_cast<std::uint64_t>(pthread_self())) s_thread_id_at = at;
  }
  s_hang_python = &python;
  s_hang_interpreter = python.interpreter();
  s_is_prepared.store(s_thread_id_at != 0 && s_tid_at != 0 && has_known_list(python), std::memory_order_release);
}

void ask_for_hang_stacks(std::uint64_t since_mono_ns) noexcept {
  if (!s_is_prepared.load(std::memory_order_acquire)) return;
  s_hanging_since_ns.store(since_mono_ns);
  wake_python_door();
}

void write_hang_stacks(const Guard& guard) noexcept {
  const std::uint64_t since_ns = s_hanging_since_ns.exchange(0);
  write_stacks(guard, since_ns, [](const void* thread, PythonPlace(&places)[PythonStack::kMost]) {
    return python_places_of(*s_hang_python, thread, places, PythonStack::kMost);
  });
}

void take_hang_stacks() noexcept {
  if (s_hanging_since_ns.load() == 0 || s_hang_python->is_initialized() == 0) return;
  if (s_hang_thread.running()) return s_hang_thread.wake();
  s_hang_thread.start("tracetool-hang", run_hang_thread);
}

}  // namespace agent
