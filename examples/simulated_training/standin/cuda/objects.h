// What the driver's handles point to. Handles are pointers to these; none is ever freed, so that a stale handle is
// recognised instead of crashing.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "../events.h"

namespace sim {

inline constexpr std::uint32_t kDefaultStreamId = 7;  // CUPTI's number of the legacy default stream

// One cuEventRecord: done when its stream gets there.
struct Milestone {
  bool done = false;
  std::uint64_t time_ns = 0;
};

enum class OpKind : std::uint8_t { work, record, wait };

// Something queued in a stream. Guarded by the executor's mutex from its submission on.
struct Op {
  OpKind kind = OpKind::work;
  bool started = false;
  std::uint64_t queued_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t collective = 0;  // 0: none
  std::shared_ptr<Milestone> milestone;
  DeviceEvent event{};
};

struct Context;

struct Stream {
  Context* context;
  std::uint32_t id;
  bool destroyed = false;
  // Guarded by the executor's mutex:
  std::deque<Op> ops;
  std::uint64_t last_end_ns = 0;
  std::uint64_t submitted = 0, completed = 0;
};

struct Context {
  std::uint32_t id;
  std::uint32_t device;
  bool destroyed = false;
  Stream* default_stream;
  std::uint64_t outstanding = 0;  // ops that are not done; guarded by the executor's mutex
};

// cuEventCreate: the last record, if any. Guarded by the executor's mutex.
struct Event {
  std::shared_ptr<Milestone> last;
};

struct Function {
  std::string name;
  std::uint32_t registers, static_shared_bytes, local_bytes;
};

std::uint32_t device_count();

Context* make_context(std::uint32_t device);
Stream* make_stream(Context* context);
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
