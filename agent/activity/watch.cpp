#include "agent/activity/watch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "agent/activity/canary.h"
#include "agent/activity/cupti_source.h"
#include "agent/activity/delivery.h"
#include "agent/activity/activity_kinds.h"
#include "agent/base/life.h"
#include "agent/base/message.h"
#include "agent/base/agent_settings.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/queries.h"
#include "agent/ring/notice.h"

namespace agent {
namespace {

constexpr std::uint64_t kFirstRetry_ns = 1'000'000'000;
constexpr std::uint32_t kFirstRetries = 30;  // before it asks less and less often
constexpr std::uint64_t kLastRetry_ns = 60'000'000'000;
constexpr unsigned kBeat_us = 50'000;  // a buffer may come a moment after the flush that returned it
constexpr std::uint64_t kYieldedFlush_ns = 30'000'000'000;

constinit std::uint64_t s_gap_ns = 0;  // since when the buffers go elsewhere; 0: they come to us
constinit std::atomic<bool> s_yielded{false};
constinit bool s_seen = false;  // another user
constinit std::uint64_t s_next_try_ns = 0;
constinit std::uint64_t s_try_wait_ns = kFirstRetry_ns;
constinit std::uint32_t s_tries = 0;
constinit std::atomic<bool> s_tried{false};
constinit std::uint64_t s_next_flush_ns = 0;

// Nothing that we asked for goes on into buffers that nobody takes from the other user once its session has ended.
void yield_cupti() {
  s_yielded.store(true);
  disable_kinds_of_ours();
  disable_canary();
  leave_in_queries();
}

// It was only held back after all.
void take_up_again() {
  s_yielded.store(false);
  leave_out_queries();
  enable_kinds();
}

// Buffers of our own are lost with the subscription only: nobody else misses anything when it is made again.
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
  write_notice(guard, trace::NoticeCode::source_on, 0, s_gap_ns, mono_ns(), "the agent's CUPTI buffers are registered again");
  s_gap_ns = 0;
  if (cupti_is_yielded()) take_up_again();
}

// Rarely, because it hands the other user its buffers before it asked; but a record of ours that was only held back
// comes home with it.
void flush_what_was_yielded() {
  if (!cupti_is_yielded() || mono_ns() < s_next_flush_ns) return;
  s_next_flush_ns = mono_ns() + kYieldedFlush_ns;
  cupti().flush_all(0);
}

void on_ours() {
  find_buffers();
  // Kinds belong to the whole process: the other user switches its own off when it ends, and they were ours too.
  if (!s_seen) return;
  enable_kinds_again();
  enable_canary();
}

void on_lost() {
  if (s_gap_ns == 0) {
    lose_buffers();
    if (!takes_back()) yield_cupti();
  }
  flush_what_was_yielded();
  if (takes_back() && retake_cupti()) send_new_canary();
}

// It was somebody else's when the process began.
void try_again() {
  if (mono_ns() < s_next_try_ns) return;
  if (s_tries == 1) exit_before_driver();  // the first try may have come before the driver was there
  const bool ours = retry_cupti();
  s_tried.store(true);
  if (ours) return;
  s_next_try_ns = mono_ns() + s_try_wait_ns;
  if (++s_tries > kFirstRetries) s_try_wait_ns = std::min(2 * s_try_wait_ns, kLastRetry_ns);
}

}  // namespace

bool has_tried_cupti() noexcept { return s_tried.load(); }

void watch_cupti() noexcept {
  if (cupti_is_taken()) return try_again();
  if (!cupti_is_on() || !canary_is_enabled()) return;
  const CanarySays says = watch_canary();
  if (says == CanarySays::ours) on_ours();
  if (says == CanarySays::lost) on_lost();
}

// Where all threads share a buffer, what has not ended keeps it back from a flush that is not forced.
void finish_watching() noexcept {
  if (cupti().is_shared && !has_buffer_per_thread()) return;
  if (!cupti_is_on() || !canary_is_enabled() || s_gap_ns != 0 || canary_came_home()) return;
  usleep(kBeat_us);
  if (!canary_came_home()) lose_buffers();
}

bool cupti_is_yielded() noexcept { return s_yielded.load(std::memory_order_relaxed); }

}  // namespace agent
