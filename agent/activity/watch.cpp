#include "agent/activity/watch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "agent/activity/activity_kinds.h"
#include "agent/activity/canary.h"
#include "agent/activity/cupti_source.h"
#include "agent/activity/delivery.h"
#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::uint64_t kPatience_ns = 10'000'000'000;
constexpr std::uint64_t kMostPatience_ns = 3'600'000'000'000;
constexpr std::uint64_t kAtWork_ns = 1'000'000'000;
// Two buffers are full and a third was begun: launches of two buffers since CUPTI was last emptied, 300 at most.
constexpr std::size_t kBuffersAgain = 3;

constinit std::uint64_t s_ended_before = 0;  // value when it last changed
constinit std::uint64_t s_since_ns = 0;  // since when CUPTI holds records and nothing has ended; 0 if not checked yet
constinit std::uint64_t s_patience_ns = kPatience_ns;
constinit bool s_flushed = false;  // or reported, in this stall

constexpr char kTaken[] = "work that was running or queued is recorded without an end";
constexpr char kLeft[] =
    "CUPTI's buffers are not flushed, because that would also flush the buffers of other subscribers";

void notice_stall(std::uint64_t now_ns, std::uint64_t unfinished, const char* what) {
  char text[192];
  snprintf(text, sizeof(text), "no GPU work completed for %llu s: %s",
           static_cast<unsigned long long>((now_ns - s_since_ns) / 1'000'000'000), what);
  const Guard guard;
  write_notice(guard, trace::NoticeCode::stalled, static_cast<std::uint32_t>(unfinished), s_since_ns, now_ns, text);
  say_verbose("%s", text);
}

void empty_cupti(std::uint64_t now_ns) {
  const GpuWork before = delivered().work;
  flush_cupti(true);
  const GpuWork after = delivered().work;
  s_ended_before = after.ended;
  if (after.unfinished != before.unfinished) notice_stall(now_ns, after.unfinished - before.unfinished, kTaken);
  // If the GPU was busy all the time, its records only waited for a buffer to be full. Such a program launches seldom
  // and is always ahead of the GPU. It is checked at increasing intervals.
  s_flushed = after.ended == before.ended || after.newest_end_cupti_ns + kAtWork_ns <= sample_clocks().cupti_ns;
  if (s_flushed) return;
  s_since_ns = now_ns;
  s_patience_ns = std::min(2 * s_patience_ns, kMostPatience_ns);
}

constexpr std::uint64_t kFirstRetry_ns = 1'000'000'000;
constexpr std::uint32_t kFirstRetries = 30;  // number before the interval increases
constexpr std::uint64_t kLastRetry_ns = 60'000'000'000;
constexpr unsigned kBeat_us = 50'000;  // a buffer may arrive a moment after the flush that returned it
constexpr std::uint64_t kYieldedFlush_ns = 30'000'000'000;

constinit std::uint64_t s_gap_ns = 0;  // since when the buffers go to another user; 0 if they come to us
constinit std::atomic<bool> s_yielded{false};
constinit bool s_seen = false;  // another user was seen
constinit std::uint64_t s_next_try_ns = 0;
constinit std::uint64_t s_try_wait_ns = kFirstRetry_ns;
constinit std::uint32_t s_tries = 0;
constinit std::atomic<bool> s_tried{false};
constinit std::uint64_t s_next_flush_ns = 0;

// Disables what only the agent requested, so that it does not continue into buffers that the other user no longer
// collects after its session.
void yield_cupti() {
  s_yielded.store(true);
  disable_kinds_of_ours();
  disable_canary();
  leave_in_queries();
}

// Our own buffers are lost only with the subscription; making it again affects no other user.
bool takes_back() { return cupti().is_shared || settings().coexist == trace::Coexist::retake; }

void say_lost() {
  if (cupti().is_shared) {
    say("CUPTI delivers no more records (another user in this process may have stopped it): GPU work is not recorded "
        "until the agent can subscribe again");
    return;
  }
  say("another CUPTI user in this process (a profiler?) has registered its own buffers: GPU work is not recorded %s",
      takes_back() ? "until the agent registers its buffers again; after that, it is missing in the other profile"
                   : "from now on, only NVTX and NCCL are; the other tool gets no synchronizations until it requests "
                     "them again; TRACETOOL_COEXIST=retake registers the agent's buffers again");
}

void lose_buffers() {
  const Guard guard;
  s_seen = true;
  s_gap_ns = delivered().last_mono_ns;
  write_notice(guard, trace::NoticeCode::gap, 0, s_gap_ns, 0,
               cupti().is_shared ? "CUPTI delivers no records" : "another CUPTI user has registered its own buffers");
  say_lost();
}

void find_buffers() {
  if (s_gap_ns == 0) return;
  const Guard guard;
  write_notice(guard, trace::NoticeCode::source_on, 0, s_gap_ns, mono_ns(),
               "the agent's CUPTI buffers are registered again");
  s_gap_ns = 0;
  if (!cupti_is_yielded()) return;
  // The record was only delayed.
  s_yielded.store(false);
  leave_out_queries();
  enable_kinds();
}

void on_ours() {
  find_buffers();
  // Kinds belong to the whole process: the other user disables its own when it ends, which may include ours.
  if (!s_seen) return;
  enable_kinds_again();
  enable_canary();
}

void on_lost() {
  if (s_gap_ns == 0) {
    lose_buffers();
    if (!takes_back()) yield_cupti();
  }
  // Done rarely, because it passes the buffers to the other user before it requested them. Our delayed records are also
  // delivered by it.
  if (cupti_is_yielded() && mono_ns() >= s_next_flush_ns) {
    s_next_flush_ns = mono_ns() + kYieldedFlush_ns;
    cupti().flush_all(0);
  }
  if (takes_back() && retake_cupti()) send_new_canary();
}

// CUPTI was in use when the process began.
void try_again() {
  if (mono_ns() < s_next_try_ns) return;
  if (s_tries == 1) exit_before_driver();  // the first try may have been before the driver was loaded
  const bool ours = retry_cupti();
  s_tried.store(true);
  if (ours) return;
  s_next_try_ns = mono_ns() + s_try_wait_ns;
  if (++s_tries > kFirstRetries) s_try_wait_ns = std::min(2 * s_try_wait_ns, kLastRetry_ns);
}

}  // namespace

void flush_stalled() noexcept {
  if (!cupti_is_on() || cupti_is_yielded() || recording() != Recording::open) return;
  const std::uint64_t now_ns = mono_ns(), ended = delivered().work.ended;
  const HeldBuffers held = held_buffers();
  if (ended != s_ended_before) s_flushed = false;
  if (ended != s_ended_before || held.all == 0 || s_since_ns == 0) {
    s_ended_before = ended;
    s_since_ns = now_ns;
    return;
  }
  if (cupti().is_shared) {
    // Once per stall, at increasing intervals, because it is unknown whether CUPTI holds incomplete work.
    if (s_flushed || now_ns - s_since_ns < s_patience_ns) return;
    notice_stall(now_ns, 0, kLeft);
    s_flushed = true;
    s_patience_ns = std::min(2 * s_patience_ns, kMostPatience_ns);
    return;
  }
  const std::size_t most = has_buffer_per_thread() ? held.of_a_thread : held.all;
  if (s_flushed ? most >= kBuffersAgain : now_ns - s_since_ns >= s_patience_ns) empty_cupti(now_ns);
}

bool has_tried_cupti() noexcept { return s_tried.load(); }

void watch_cupti() noexcept {
  if (cupti_is_taken()) return try_again();
  if (!cupti_is_on() || !canary_is_enabled()) return;
  const CanarySays says = watch_canary();
  if (says == CanarySays::ours) on_ours();
  if (says == CanarySays::lost) on_lost();
}

// If all threads share a buffer, incomplete records delay its delivery unless a flush is forced.
void finish_watching() noexcept {
  if (cupti().is_shared && !has_buffer_per_thread()) return;
  if (!cupti_is_on() || !canary_is_enabled() || s_gap_ns != 0 || canary_came_home()) return;
  usleep(kBeat_us);
  if (!canary_came_home()) lose_buffers();
}

bool cupti_is_yielded() noexcept { return s_yielded.load(std::memory_order_relaxed); }

}  // namespace agent
