#include "attach.h"

#include <atomic>

#include "../true_clock.h"
#include "devices.h"
#include "exports.h"
#include "graph.h"
#include "notes.h"
#include "objects.h"
#include "truth.h"

namespace sim {
namespace {

std::atomic<const Bridge*> s_bridge{nullptr};

void take_truth(const char* line, std::size_t size) { write_truth({line, size}); }

bool context_ids(void* handle, std::uint32_t& context_id, std::uint32_t& device) {
  const Context* context = handle != nullptr ? find_context(handle) : current_context();
  if (context == nullptr) return false;
  context_id = context->id;
  device = context->device;
  return true;
}

bool stream_id(void* handle, std::uint32_t& id) {
  const Stream* stream = find_stream(handle);
  if (stream != nullptr) id = stream->id;
  return stream != nullptr;
}

void truth_of(const Note& note) { write_truth_of(note); }

constexpr Driver kDriver{take_truth,    flush_truth,  context_ids, stream_id, graph_id, graph_exec_id,
                         graph_node_id, device_facts, each_note,   truth_of,  next_seq};

}  // namespace

const Bridge* bridge() { return s_bridge.load(std::memory_order_acquire); }

std::uint64_t to_cupti(const Bridge* to, std::uint64_t ns) {
  if (to != nullptr) return to->to_cupti(ns);
  return simulated_host_real_ns != nullptr ? simulated_host_real_ns(ns) : ns;
}

void tell_times(const Bridge* to, DeviceEvent& event) {
  event.cupti_start_ns = to_cupti(to, event.start_ns);
  event.cupti_end_ns = to_cupti(to, event.end_ns);
  if (to != nullptr) to->tell_times(event);
}

void tell_graph(std::uint32_t cbid, const GraphEvent& event) {
  if (const Bridge* to = bridge()) to->graph(cbid, current_context(), event);
}

void tell_resource(std::uint32_t cbid, void* context, void* stream) {
  if (const Bridge* to = bridge()) to->resource(cbid, context, stream);
}

void tell_synchronized(std::uint32_t cbid, void* context, void* stream) {
  if (const Bridge* to = bridge()) to->synchronized(cbid, context, stream);
}

}  // namespace sim

SIM_EXPORT const sim::Driver* simulated_driver_attach(const sim::Bridge* to) {
  sim::s_bridge.store(to, std::memory_order_release);
  return &sim::kDriver;
}

SIM_EXPORT void simulated_truth(const char* line, std::size_t size, int flush) {
  sim::write_truth({line, size});
  if (flush != 0) sim::flush_truth();
}

SIM_EXPORT void simulated_stream(void* handle, std::uint32_t* stream_id, std::uint32_t* context_id) {
  const sim::Stream* stream = sim::find_stream(handle);
  if (stream == nullptr) return;
  *stream_id = stream->id;
  *context_id = stream->context->id;
}

SIM_EXPORT int simulated_replay() {
  const sim::Bridge* to = sim::bridge();
  return to != nullptr && to->replay() ? 1 : 0;
}

SIM_EXPORT std::uint64_t simulated_next_seq() { return sim::next_seq(); }
