#include "agent/native/call_stacks.h"

#include <time.h>

#include <atomic>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/native/backtrace.h"
#include "agent/native/native_stacks.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

// A thread's right to stacks: it grows with time, up to a burst.
struct Bucket {
  std::uint64_t filled_ns;
  std::uint32_t left_ns;  // of kEach_ns for each stack
  bool is_begun;
};
constexpr std::uint32_t kEach_ns = 10'000'000, kBurst = 20, kKeptFromLaunches = 4;
thread_local Bucket t_bucket __attribute__((tls_model("initial-exec"))) = {};

bool may_take(Bucket& bucket, std::uint64_t now_ns, bool is_launch) {
  const std::uint64_t full_ns = std::uint64_t{kBurst} * kEach_ns;
  const std::uint64_t grown_ns = bucket.is_begun ? bucket.left_ns + (now_ns - bucket.filled_ns) : full_ns;
  bucket = {now_ns, static_cast<std::uint32_t>(grown_ns < full_ns ? grown_ns : full_ns), true};
  if (bucket.left_ns < kEach_ns * (is_launch ? kKeptFromLaunches + 1 : 1)) return false;
  bucket.left_ns -= kEach_ns;
  return true;
}

enum class Choice : std::uint8_t { open, being_made, made };
constinit std::atomic<Choice> s_choice{Choice::open};
constinit CallStacks s_chosen = CallStacks::none;  // once it is made

CallStacks choose() {
  if (settings().native_stacks && prepare_backtraces()) return CallStacks::native;
  if (settings().native_stacks)
    say("TRACETOOL_NATIVE_STACKS: native stacks are unavailable: the agent was built without libunwind, the process has no thread-specific key left, or readable memory cannot be checked");
  return has_python_stacks(settings().torch) ? CallStacks::python : CallStacks::none;
}

void leave_out() { trace::SharedMemory::add(ring().header->stacks_left_out, 1); }

// Stack: PythonStack or NativeStack.
template <typename Stack>
void append(const Guard& guard, const StackedCall& call, const Stack& stack) {
  auto record = trace::make_record<trace::StackRecord>();
  record.reason = static_cast<std::uint8_t>(call.reason);
  record.tid = thread_id();
  record.correlation_id = call.correlation_id;
  HostWriter writer(guard, trace::StackRecord::kKind, sizeof(record), Stack::kMostBytes);
  if (!writer) return;
  record.stack_ref = stack.write(writer);
  if (!writer) return;  // counted as lost
  if (record.stack_ref == trace::kNoRef) return leave_out();
  record.time_mono_ns = call.time_mono_ns != 0 ? call.time_mono_ns : mono_ns();
  writer.append(record);
}

}  // namespace

// Another thread's first call meanwhile has no stack.
CallStacks call_stacks() noexcept {
  Choice choice = s_choice.load(std::memory_order_acquire);
  if (choice == Choice::open && s_choice.compare_exchange_strong(choice, Choice::being_made)) {
    s_chosen = choose();
    s_choice.store(choice = Choice::made, std::memory_order_release);
  }
  return choice == Choice::made ? s_chosen : CallStacks::none;
}

CallStacks made_call_stacks() noexcept {
  constexpr int kTries = 1000;
  constexpr timespec kMoment{0, 1'000'000};
  CallStacks stacks = call_stacks();
  for (int tries = 0; tries < kTries && s_choice.load(std::memory_order_acquire) == Choice::being_made; ++tries) {
    nanosleep(&kMoment, nullptr);
    stacks = call_stacks();
  }
  return stacks;
}

void write_call_stack(const Guard& guard, const StackedCall& call) noexcept {
  const CallStacks chosen = call_stacks();
  if (chosen == CallStacks::none || (chosen == CallStacks::python && interpreter_code() == nullptr)) return;
  if (!may_take(t_bucket, mono_ns(), call.is_launch)) return leave_out();
  if (chosen == CallStacks::python) {
    PythonStack stack(guard);
    stack.read();
    return stack.size() > 0 ? append(guard, call, stack) : void();
  }
  append(guard, call, NativeStack(guard));
}

}  // namespace agent
