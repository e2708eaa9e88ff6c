#include "objects.h"

#include <cstdlib>
#include <unordered_set>
#include <vector>

namespace sim {
namespace {

constexpr std::uint32_t kNullStreamFlag = 3;  // CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
constexpr std::uint32_t kFirstStreamId = 13;  // what CUPTI numbers the first made stream of a process with cudart

struct Objects {
  std::mutex mutex;
  std::unordered_set<const void*> contexts, streams, events;
  std::uint32_t next_context = 1, next_stream = kFirstStreamId, next_event = 1;
};

Objects& objects() {
  static auto* const made = new Objects;  // never deleted: threads of the simulation outlive main
  return *made;
}

thread_local Context* t_context = nullptr;

template <typename Object>
Object* find_in(const std::unordered_set<const void*>& known, const void* handle) {
  const std::lock_guard lock(objects().mutex);
  return known.count(handle) != 0 ? static_cast<Object*>(const_cast<void*>(handle)) : nullptr;
}

// With the lock held.
Stream* new_stream(Context* context, std::uint32_t id, std::uint32_t flag, std::int32_t priority) {
  auto* stream = new Stream{context, id, flag, priority, false, nullptr, {}, 0, 0, 0};
  objects().streams.insert(stream);
  return stream;
}

}  // namespace

std::uint32_t device_count() {
  static const std::uint32_t count = [] {
    const char* text = std::getenv("SIM_DEVICES");
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 8u;
  }();
  return count;
}

Context* make_context(std::uint32_t device) {
  const std::lock_guard lock(objects().mutex);
  auto* context = new Context{objects().next_context++, device};
  context->default_stream = new_stream(context, kDefaultStreamId, kNullStreamFlag, 0);
  objects().contexts.insert(context);
  return context;
}

Stream* make_stream(Context* context, std::uint32_t flag, std::int32_t priority) {
  const std::lock_guard lock(objects().mutex);
  return new_stream(context, objects().next_stream++, flag, priority);
}

std::vector<const Context*> live_contexts() {
  std::vector<const Context*> live;
  const std::lock_guard lock(objects().mutex);
  for (const void* each : objects().contexts) {
    if (!static_cast<const Context*>(each)->destroyed) live.push_back(static_cast<const Context*>(each));
  }
  return live;
}

std::vector<const Stream*> live_streams() {
  std::vector<const Stream*> live;
  const std::lock_guard lock(objects().mutex);
  for (const void* each : objects().streams) {
    const auto* stream = static_cast<const Stream*>(each);
    if (!stream->destroyed && !stream->context->destroyed) live.push_back(stream);
  }
  return live;
}

Context* find_context(const void* handle) {
  auto* context = find_in<Context>(objects().contexts, handle);
  return context != nullptr && !context->destroyed ? context : nullptr;
}

Stream* find_stream(const void* handle) {
  if (handle == nullptr) return t_context != nullptr ? t_context->default_stream : nullptr;
  auto* stream = find_in<Stream>(objects().streams, handle);
  return stream != nullptr && !stream->destroyed ? stream : nullptr;
}

Event* find_event(const void* handle) { return find_in<Event>(objects().events, handle); }

Event* make_event() {
  const std::lock_guard lock(objects().mutex);
  auto* event = new Event{objects().next_event++, {}, nullptr, {}, 0};
  objects().events.insert(event);
  return event;
}

Context* current_context() { return t_context; }
void set_current_context(Context* context) { t_context = context; }

}  // namespace sim
