#include "agent/flusher.h"

#include <atomic>

#include "agent/activity/canary.h"
#include "agent/activity/cupti_source.h"
#include "agent/activity/delivery.h"
#include "agent/activity/watch.h"
#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/graph_nodes.h"
#include "agent/python/hang_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/ring/storage.h"
#include "agent/ring/worker.h"
#include "agent/torch/allocations.h"
#include "agent/torch/operators.h"

namespace agent {
namespace {

constexpr std::uint64_t kLockPatience_ns = 5'000'000'000;

constinit std::uint64_t s_progress = 0;
constinit std::uint64_t s_still_since_ns = 0;
constinit std::uint64_t s_asked_ns = 0;  // 0 if not requested since the process last continued
constinit bool s_is_taken = false;

constexpr std::size_t kSpareBuffers = (4 << 20) / kBufferBytes;
constexpr std::uint64_t kPatience_ms = 5000;

constinit Worker s_thread{};
constinit std::atomic<bool> s_started{false};

// Reported once when it changes, and once when it is restored.
void notice_clock(const Guard& guard, const trace::ClockSample& before, const trace::ClockSample& now) {
  static constinit bool s_ours = true;
  const bool ours = cupti_clock_is_ours();
  if (ours == s_ours) return;
  s_ours = ours;
  write_notice(guard, trace::NoticeCode::clock_changed, 0, before.mono_ns, now.mono_ns,
               ours ? "CUPTI went back to its own clock during this time"
                    : "another tool changed CUPTI's clock during this time");
}

void append_clock(const Guard& guard, const trace::ClockSample& sample) {
  auto record = trace::make_record<trace::ClockRecord>();
  record.uncertainty_ns = static_cast<std::uint32_t>(sample.uncertainty_ns);
  record.cupti_ns = sample.cupti_ns;
  record.mono_ns = sample.mono_ns;
  record.real_ns = sample.real_ns;
  HostWriter writer(guard, trace::ClockRecord::kKind, sizeof(record), 0);
  if (writer) writer.append(record);
}

void write_clock() {
  static constinit trace::ClockSample s_last{};
  const Guard guard;
  if (!guard || recording() != Recording::open) return;
  const trace::ClockSample sample = sample_clocks();
  notice_clock(guard, s_last, sample);
  s_last = sample;
  append_clock(guard, sample);
}

// If the wall clock is set, CUPTI's clock follows it. Samples shortly before and after reduce the number of CUPTI times
// that may belong to either.
void watch_wall_clock() {
  static constinit trace::ClockSample s_seen{};
  const Guard guard;
  if (!guard || recording() != Recording::open) return;
  const trace::ClockSample now = carried_clocks();
  if (s_seen.mono_ns != 0 && is_wall_clock_set(s_seen, now)) {
    append_clock(guard, s_seen);
    append_clock(guard, sample_clocks());
  }
  s_seen = now;
}

void write_heartbeat() {
  if (recording() != Recording::open) return;
  trace::SharedMemory::store(ring().header->heartbeat_real_ns, real_ns());
  touch_next_blocks();
}

void flush() {
  flush_cupti(false);
  flush_stalled();
}
void keep_buffers() {
  if (cupti_is_on()) keep_spare_buffers(kSpareBuffers);
}

// The thread's tasks, in this order. A period of 0 means once per flush period.
struct PeriodicTask {
  void (*run)();
  std::uint64_t period_ms;
};
constexpr PeriodicTask kTasks[] = {
    {write_heartbeat, 0}, {watch_wall_clock, 0},       {describe_devices, 1000}, {write_clock, 1000},
    {flush, 0},           {keep_buffers, 0},           {watch_cupti, 1000},      {guard_cost, 1000},
    {keep_storage, 0},    {tell_unknown_graphs, 1000}, {watch_torch, 0},         {watch_allocations, 0},
    {watch_hang, 1000},
};
constexpr std::size_t kTaskCount = sizeof(kTasks) / sizeof(kTasks[0]);

void run_tasks(std::uint64_t (&due_ns)[kTaskCount]) {
  for (std::size_t i = 0; i < kTaskCount; ++i) {
    const std::uint64_t now_ns = mono_ns();
    if (now_ns < due_ns[i]) continue;
    kTasks[i].run();
    due_ns[i] = now_ns + kTasks[i].period_ms * 1'000'000;
  }
}

void run() {
  mark_own_thread();
  std::uint64_t due_ns[kTaskCount] = {};
  do {
    run_tasks(due_ns);
  } while (s_thread.wait_ms(static_cast<double>(settings().flush_ms)));
  // The last flush is also done by this thread, because the exiting thread may hold CUPTI's locks if a signal handler
  // called exit(3).
  if (recording() == Recording::open) flush_cupti(true);
  finish_watching();
}

}  // namespace

void watch_hang() noexcept {
  if (settings().hang_stacks_s == 0 || recording() != Recording::open) return;
  const std::uint64_t now_ns = mono_ns(), progress = delivered().work.ended + operators_begun();
  if (progress != s_progress) {
    s_progress = progress;
    s_still_since_ns = now_ns;
    s_asked_ns = 0;
    s_is_taken = false;
    return;
  }
  if (progress == 0 || now_ns - s_still_since_ns < settings().hang_stacks_s * 1'000'000'000) return;
  if (s_asked_ns == 0) {
    s_asked_ns = now_ns;
    ask_for_hang_stacks(s_still_since_ns);
  } else if (!s_is_taken && now_ns - s_asked_ns >= kLockPatience_ns) {
    s_is_taken = true;
    take_hang_stacks();
  }
}

void start_flusher() noexcept {
  if (s_started.exchange(true) || s_thread.start("tracetool", run)) return;
  say("cannot start a thread: records stay in CUPTI until its buffers are full");
}

void forget_flusher() noexcept {
  s_thread.forget();
  s_started.store(false);
}

void wake_flusher() noexcept {
  if (is_recorded_process()) s_thread.wake();
}

bool stop_flusher() noexcept {
  if (!s_thread.running()) return false;
  if (!s_thread.stop(exit_ms_left(kPatience_ms))) say("CUPTI does not respond: the last records are lost");
  return true;
}

}  // namespace agent
