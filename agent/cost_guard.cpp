// Limits the agent's cost to the host: over ten seconds, TRACETOOL_GUARD_CPU percent of a core, including the threads
// that CUPTI started, and TRACETOOL_GUARD_RATE records per second. Beyond a limit, only the `light` set is recorded;
// this is reported once, and recorded.
#include <cstdio>

#include "agent/activity/activity_kinds.h"
#include "agent/activity/cupti_source.h"
#include "agent/activity/delivery.h"
#include "agent/activity/other_subscribers.h"
#include "agent/activity/watch.h"
#include "agent/base/agent_settings.h"
#include "agent/base/host.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/flusher.h"
#include "agent/ring/recorder.h"
#include "agent/ring/storage.h"
#include "agent/torch/allocations.h"
#include "agent/torch/operators.h"

namespace agent {
namespace {

constexpr std::uint64_t kWindow_ns = 10'000'000'000;

struct Spent {
  std::uint64_t time_ns;
  std::uint64_t cpu_ns;
  std::uint64_t cupti_ns;  // of the threads that CUPTI started, in addition
  std::uint64_t records;
  std::uint64_t operators;  // of PyTorch, and its allocations
};

constinit Spent s_begin{};
constinit bool s_is_reduced = false;

Spent spent() {
  const Delivered total = delivered();
  const std::uint64_t own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return {mono_ns(), own_ns + total.foreign_cpu_ns + storage_cpu_ns(), cupti_threads_cpu_ns(), total.records,
          operators_begun() + allocations_recorded()};
}

void step_down(std::uint64_t cpu_permille, std::uint64_t rate) {
  s_is_reduced = true;
  reduce_to_light();
  char text[160];
  snprintf(text, sizeof(text),
           "the agent and CUPTI's threads used %llu.%llu %% of a core for %llu records/s: reduced to light from now on",
           static_cast<unsigned long long>(cpu_permille / 10), static_cast<unsigned long long>(cpu_permille % 10),
           static_cast<unsigned long long>(rate));
  const Guard guard;
  if (guard) write_notice(guard, trace::NoticeCode::reduced_to_light, static_cast<std::uint32_t>(cpu_permille), text);
  say("%s (limits: TRACETOOL_GUARD_CPU, TRACETOOL_GUARD_RATE)", text);
}

void judge(const Spent& from, const Spent& to) {
  const std::uint64_t elapsed_ns = to.time_ns - from.time_ns;
  const std::uint64_t cpu_permille = (to.cpu_ns + to.cupti_ns - from.cpu_ns - from.cupti_ns) * 1000 / elapsed_ns;
  const std::uint64_t rate = (to.records - from.records) * 1'000'000'000 / elapsed_ns;
  const bool busy = settings().guard_cpu_pct != 0 && cpu_permille > settings().guard_cpu_pct * 10;
  const bool fast = settings().guard_rate != 0 && rate > settings().guard_rate;
  if (busy || fast) step_down(cpu_permille, rate);
}

// Operators and allocations are recorded by the threads that run them, so their CPU time is unknown and only their rate is limited.
void judge_operators(std::uint64_t begun, std::uint64_t elapsed_ns) {
  const std::uint64_t rate = begun * 1'000'000'000 / elapsed_ns;
  if (settings().guard_rate == 0 || rate <= settings().guard_rate || !torch_has_operators()) return;
  const bool with_allocations = torch_has_allocations();
  reduce_torch();
  char text[160];
  snprintf(text, sizeof(text), "PyTorch ran %llu operators%s/s: reduced to steps from now on",
           static_cast<unsigned long long>(rate), with_allocations ? " and allocations" : "");
  const Guard guard;
  if (guard) write_notice(guard, trace::NoticeCode::reduced_to_steps, 0, text);
  say("%s (limit: TRACETOOL_GUARD_RATE)", text);
}

}  // namespace

void guard_cost() noexcept {
  if (recording() != Recording::open) return;
  const Spent now = spent();
  trace::SharedMemory::store(ring().header->agent_cpu_ns, now.cpu_ns);
  if (s_begin.time_ns == 0) s_begin = now;
  if (now.time_ns - s_begin.time_ns < kWindow_ns) return;
  judge_operators(now.operators - s_begin.operators, now.time_ns - s_begin.time_ns);
  if (!s_is_reduced && cupti_is_on() && !cupti_is_yielded()) judge(s_begin, now);
  s_begin = now;
}

}  // namespace agent
