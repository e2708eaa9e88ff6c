#include "executor.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "../true_clock.h"
#include "attach.h"
#include "collective.h"
#include "truth.h"

namespace sim {
namespace {

constexpr std::uint64_t kLaunchLatencyNs = 2'600;
constexpr std::uint64_t kBetweenOpsNs = 900;
constexpr std::size_t kQueueLimit = 1'024;
constexpr std::uint64_t kIdleNs = 50'000'000;
constexpr std::uint64_t kPollNs = 2'000'000;  // a rank that waits for the others looks at least so often
constexpr std::uint64_t kTruthNs =
    1'000'000;  // what ended is in the file of the truth so soon, with the calls before it

// Streams that have work, and the ops that just ended but are not yet reported.
struct Executor {
  std::mutex mutex;
  std::condition_variable progress;
  std::vector<Stream*> busy;
  std::vector<std::pair<Stream*, DeviceEvent>> ended;
  bool failed = false;  // a context just did, and nobody was told
};

void run();

Executor& executor() {
  static auto* const made = [] {
    auto* const fresh = new Executor;  // never deleted: its thread outlives main
    return fresh;
  }();
  static const bool started = [] {
    std::thread(run).detach();
    return true;
  }();
  (void)started;
  return *made;
}

// From a launch to its start, at least: SIM_AHEAD_US is how far the host runs ahead.
std::uint64_t latency_ns() {
  static const std::uint64_t known = [] {
    const char* text = std::getenv("SIM_AHEAD_US");
    return kLaunchLatencyNs + (text != nullptr ? std::strtoull(text, nullptr, 10) * 1'000 : 0);
  }();
  return known;
}

std::uint64_t ready_ns(const Stream& stream, const Op& op) {
  const std::uint64_t gap = stream.last_end_ns == 0 ? 0 : kBetweenOpsNs;
  return std::max(op.queued_ns + latency_ns(), stream.last_end_ns + gap);
}

void count_completed(Stream& stream) {
  ++stream.completed;
  --stream.context->outstanding;
}

void widen(GraphRun& run, const DeviceEvent& node) {
  run.start_ns = run.start_ns == 0 ? node.start_ns : std::min(run.start_ns, node.start_ns);
  run.end_ns = std::max(run.end_ns, node.end_ns);
}

void finish(Stream& stream, Op& op, std::uint64_t end_ns) {
  stream.last_end_ns = end_ns;
  op.event.end_ns = end_ns;
  if (op.meeting.number != 0) op.event.meets = true, op.event.late_ns = lateness_ns(op.meeting, op.event.start_ns);
  if (op.run != nullptr && op.kind == OpKind::work) widen(*op.run, op.event);
  executor().ended.emplace_back(&stream, op.event);
  stream.ops.pop_front();
}

// A launch of a graph without nodes takes no time.
void finish_graph(Stream& stream, Op& op) {
  const std::uint64_t now = std::max(stream.last_end_ns, op.queued_ns);
  op.event.start_ns = op.run->start_ns != 0 ? op.run->start_ns : now;
  finish(stream, op, std::max(op.run->end_ns, op.event.start_ns));
}

// True: the op is over and popped. `next_ns` is lowered to when it is worth to look again.
bool advance_work(Stream& stream, Op& op, std::uint64_t now, std::uint64_t& next_ns) {
  if (!op.started) {
    op.event.start_ns = ready_ns(stream, op);
    if (op.event.start_ns > now) {
      next_ns = std::min(next_ns, op.event.start_ns);
      return false;
    }
    op.started = true;
    if (op.faulty) executor().failed = stream.context->failed = true;
    if (op.meeting.number != 0) arrive(op.meeting, op.event.start_ns);
  }
  std::uint64_t from = op.event.start_ns;
  if (op.meeting.number != 0 && !latest_arrival(op.meeting, now, from)) {
    next_ns = std::min(next_ns, now + kPollNs);
    return false;
  }
  if (op.duration_ns == kNeverEnds || stream.context->failed) return false;
  const std::uint64_t end = from + op.duration_ns;
  next_ns = std::min(next_ns, std::max(end, now));
  if (end <= now) finish(stream, op, end);
  return end <= now;
}

bool advance(Stream& stream, std::uint64_t now, std::uint64_t& next_ns) {
  Op& op = stream.ops.front();
  if (op.kind == OpKind::work) return advance_work(stream, op, now, next_ns);
  if (op.kind == OpKind::graph_end) {
    finish_graph(stream, op);
    return true;
  }
  if (op.kind == OpKind::wait && !op.milestone->done) return false;
  if (op.kind == OpKind::wait) {
    stream.last_end_ns = std::max(stream.last_end_ns, op.milestone->time_ns);
  } else {
    *op.milestone = {true, std::max(stream.last_end_ns, op.queued_ns)};
  }
  stream.ops.pop_front();
  count_completed(stream);
  return true;
}

// What was queued in a context that failed never runs.
void drop_failed(Executor& on) {
  for (Stream* stream : on.busy) {
    while (stream->context->failed && !stream->ops.empty()) {
      if (stream->ops.front().milestone != nullptr) *stream->ops.front().milestone = {true, true_ns()};
      stream->ops.pop_front();
      count_completed(*stream);
    }
  }
}

void tell_failure(const Bridge* to) {
  leave_collectives();
  if (to != nullptr) to->fatal();
}

// Lets every stream run as far as it is by now; the next moment at which something can happen.
std::uint64_t advance_all(Executor& on) {
  const std::uint64_t now = true_ns();
  std::uint64_t next_ns = now + kIdleNs;
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream* stream : on.busy) {
      while (!stream->ops.empty() && advance(*stream, now, next_ns)) moved = true;
    }
  }
  drop_failed(on);
  std::erase_if(on.busy, [](const Stream* stream) { return stream->ops.empty(); });
  return next_ns;
}

void report(const Bridge* to, std::vector<std::pair<Stream*, DeviceEvent>>& ended) {
  for (auto& [stream, event] : ended) {
    tell_times(to, event);
    write_truth_of(event);
    if (to != nullptr) to->finish_device(event);
  }
}

void become_device_thread() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "simulated-gpu");
  prctl(PR_SET_TIMERSLACK, 1'000);
}

// Reporting happens outside the mutex, so that launches go on; a stream counts as done only after it.
void run() {
  become_device_thread();
  Executor& on = executor();
  std::vector<std::pair<Stream*, DeviceEvent>> ended;
  std::uint64_t flush_ns = 0;
  for (;;) {
    const std::uint32_t ticket = wake_ticket();
    std::unique_lock lock(on.mutex);
    const std::uint64_t next_ns = advance_all(on);
    ended.swap(on.ended);
    const bool failed = std::exchange(on.failed, false);
    lock.unlock();
    report(bridge(), ended);
    if (failed) tell_failure(bridge());
    lock.lock();
    for (const auto& [stream, event] : ended) count_completed(*stream);
    lock.unlock();
    on.progress.notify_all();
    const bool more = !ended.empty();
    ended.clear();
    const std::uint64_t now = true_ns();
    if (now >= flush_ns) {
      flush_truth();
      flush_ns = now + kTruthNs;
    }
    if (!more && next_ns > now) sleep_until_woken(ticket, next_ns - now);
  }
}

}  // namespace

bool submit(Stream& stream, Op&& op) {
  Executor& on = executor();
  std::unique_lock lock(on.mutex);
  const auto has_room = [&] { return stream.submitted - stream.completed < kQueueLimit; };
  const bool waits = !has_room();
  on.progress.wait(lock, has_room);
  op.queued_ns = true_ns();
  const bool idle = stream.ops.empty();
  if (idle) on.busy.push_back(&stream);
  stream.ops.push_back(std::move(op));
  ++stream.submitted;
  ++stream.context->outstanding;
  lock.unlock();
  if (idle) wake_executor();
  return waits;
}

void wait_for(Stream& stream) {
  Executor& on = executor();
  std::unique_lock lock(on.mutex);
  const std::uint64_t goal = stream.submitted;
  on.progress.wait(lock, [&] { return stream.completed >= goal; });
}

void record_event(Stream& stream, Event& event) {
  Op op;
  op.kind = OpKind::record;
  op.milestone = std::make_shared<Milestone>();
  {
    const std::lock_guard lock(executor().mutex);
    event.last = op.milestone;
  }
  submit(stream, std::move(op));
}

Recorded note_recorded(Event& event, std::uint32_t correlation) {
  static std::uint64_t s_sync_id = 0;
  const std::lock_guard lock(executor().mutex);
  return event.recorded = {correlation, ++s_sync_id};
}

Recorded last_recorded(const Event& event) {
  const std::lock_guard lock(executor().mutex);
  return event.recorded;
}

void wait_event(Stream& stream, Event& event) {
  Op op;
  op.kind = OpKind::wait;
  {
    const std::lock_guard lock(executor().mutex);
    op.milestone = event.last;
  }
  if (op.milestone != nullptr) submit(stream, std::move(op));
}

bool is_done(Event& event) {
  const std::lock_guard lock(executor().mutex);
  return event.last == nullptr || event.last->done;
}

void wait_for(Event& event) {
  Executor& on = executor();
  std::unique_lock lock(on.mutex);
  const std::shared_ptr<Milestone> last = event.last;
  on.progress.wait(lock, [&] { return last == nullptr || last->done; });
}

void wait_for(Context& context) {
  Executor& on = executor();
  std::unique_lock lock(on.mutex);
  on.progress.wait(lock, [&] { return context.outstanding == 0; });
}

}  // namespace sim
