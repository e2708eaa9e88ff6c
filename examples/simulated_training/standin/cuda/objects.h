// What the driver's handles point to. Handles are pointers to these; none is ever freed, so that a stale handle is
// recognised instead of crashing.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../events.h"
#include "../work.h"

namespace sim {

inline constexpr std::uint32_t kDefaultStreamId = 7;  // CUPTI's number of the legacy default stream

// One cuEventRecord: done when its stream gets there.
struct Milestone {
  bool done = false;
  std::uint64_t time_ns = 0;
};

// graph_end: behind all nodes of one launch of a graph.
enum class OpKind : std::uint8_t { work, record, wait, graph_end };

// One launch of a graph, as far as it is. Guarded by the executor's mutex.
struct GraphRun {
  std::uint64_t start_ns = 0, end_ns = 0;
};
struct Capture;  // graph.h

// Something queued in a stream. Guarded by the executor's mutex from its submission on.
struct Op {
  OpKind kind = OpKind::work;
  bool started = false;
  std::uint64_t queued_ns = 0;
  std::uint64_t duration_ns = 0;
  Meeting meeting{};    // number 0: none
  bool faulty = false;  // it breaks its context
  std::shared_ptr<Milestone> milestone;
  std::shared_ptr<GraphRun> run;  // null: not of a graph
  DeviceEvent event{};
};

struct Context;

struct Stream {
  Context* context;
  std::uint32_t id;
  std::uint32_t flag;  // CUpti_ActivityStreamFlag
  std::int32_t priority;
  bool destroyed = false;
  std::shared_ptr<Capture> capture;  // null: not capturing; guarded by the captures' mutex
  // Guarded by the executor's mutex:
  std::deque<Op> ops;
  std::uint64_t last_end_ns = 0;
  std::uint64_t submitted = 0, completed = 0;
};

struct Context {
  std::uint32_t id;
  std::uint32_t device;
  bool destroyed = false;
  std::atomic<bool> failed{false};  // an error that sticks
  Stream* default_stream = nullptr;
  std::uint64_t outstanding = 0;  // ops that are not done; guarded by the executor's mutex
};

// What a wait for an event waits for: which call recorded it last. Zeros: none had.
struct Recorded {
  std::uint32_t correlation = 0;
  std::uint64_t sync_id = 0;
};

// cuEventCreate: the last record, if any. Guarded by the executor's mutex.
struct Event {
  std::uint32_t id;
  Recorded recorded;
  std::shared_ptr<Milestone> last;
  std::weak_ptr<Capture> capture;  // into which it was recorded last; guarded by the captures' mutex
  std::size_t captured_mark = 0;   // which mark of that capture
};

struct Function {
  std::string name;
  std::uint32_t registers, static_shared_bytes, local_bytes;
  mutable std::atomic<bool> loaded{false};
  bool takes_work = true;  // its first parameter points to a KernelWork
};

std::uint32_t device_count();

Context* make_context(std::uint32_t device);
// As a program makes them, and, not told to anybody, as a graph makes them for its branches.
Stream* make_stream(Context* context, std::uint32_t flag, std::int32_t priority);
std::vector<const Context*> live_contexts();
std::vector<const Stream*> live_streams();
// Null where the handle is no live object of this library.
Context* find_context(const void* handle);
// A null handle is the default stream of the current context.
Stream* find_stream(const void* handle);
Event* find_event(const void* handle);
Event* make_event();

// The context that is current in this thread; null: none.
Context* current_context();
void set_current_context(Context* context);

}  // namespace sim
