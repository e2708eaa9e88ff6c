#include "agent/activity/stall.h"

#include <algorithm>
#include <cstdio>

#include "agent/activity/buffer_pool.h"
#include "agent/activity/cupti_source.h"
#include "agent/activity/delivery.h"
#include "agent/activity/watch.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/notice.h"

namespace agent {
namespace {

constexpr std::uint64_t kPatience_ns = 10'000'000'000;
constexpr std::uint64_t kMostPatience_ns = 3'600'000'000'000;
constexpr std::uint64_t kAtWork_ns = 1'000'000'000;
// Two are full, the third begun: two buffers' worth of launches since CUPTI was emptied last, 300 at most.
constexpr std::size_t kBuffersAgain = 3;

constinit std::uint64_t s_ended_before = 0;     // as it was when it changed last
constinit std::uint64_t s_since_ns = 0;  // since when CUPTI holds something and nothing has ended; 0: never looked
constinit std::uint64_t s_patience_ns = kPatience_ns;
constinit bool s_flushed = false;  // or told of, in this stall

constexpr char kTaken[] = "work that was running or queued is recorded without an end";
constexpr char kLeft[] = "CUPTI's buffers are not flushed, because that would also flush the buffers of other subscribers";

void notice_stall(std::uint64_t now_ns, std::uint64_t unfinished, const char* what) {
  char text[192];
  const int length = snprintf(text, sizeof(text), "no GPU work completed for %llu s: %s",
                              static_cast<unsigned long long>((now_ns - s_since_ns) / 1'000'000'000), what);
  const Guard guard;
  write_notice(guard, trace::NoticeCode::stalled, static_cast<std::uint32_t>(unfinished), s_since_ns, now_ns,
               {text, static_cast<std::size_t>(length)});
  say_verbose("%s", text);
}

// The GPU was at work all the time, and its records were only waiting for a buffer to be full: such a program launches
// seldom, and always runs ahead. It is left alone for longer and longer.
bool was_at_work(const GpuWork& work) { return work.newest_end_cupti_ns + kAtWork_ns > sample_clocks().cupti_ns; }

void empty_cupti(std::uint64_t now_ns) {
  const GpuWork before = delivered().work;
  flush_cupti(true);
  const GpuWork after = delivered().work;
  s_ended_before = after.ended;
  if (after.unfinished != before.unfinished) notice_stall(now_ns, after.unfinished - before.unfinished, kTaken);
  s_flushed = after.ended == before.ended || !was_at_work(after);
  if (s_flushed) return;
  s_since_ns = now_ns;
  s_patience_ns = std::min(2 * s_patience_ns, kMostPatience_ns);
}

// Once in a stall, and more and more seldom: nobody can see whether what CUPTI holds is unfinished work.
void tell_of_stall(std::uint64_t now_ns) {
  notice_stall(now_ns, 0, kLeft);
  s_flushed = true;
  s_patience_ns = std::min(2 * s_patience_ns, kMostPatience_ns);
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
    if (!s_flushed && now_ns - s_since_ns >= s_patience_ns) tell_of_stall(now_ns);
    return;
  }
  const std::size_t most = has_buffer_per_thread() ? held.of_a_thread : held.all;
  if (s_flushed ? most >= kBuffersAgain : now_ns - s_since_ns >= s_patience_ns) empty_cupti(now_ns);
}

}  // namespace agent
