#include "attach.h"

#include <atomic>

#include "../true_clock.h"
#include "exports.h"
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

constexpr Driver kDriver{take_truth, flush_truth, context_ids, stream_id};

}  // namespace

const Bridge* bridge() { return s_bridge.load(std::memory_order_acquire); }

std::uint64_t to_cupti(const Bridge* to, std::uint64_t ns) {
  if (to != nullptr) return to->to_cupti(ns);
  return simulated_host_real_ns != nullptr ? simulated_host_real_ns(ns) : ns;
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

SIM_EXPORT std::uint64_t simulated_next_seq() { return sim::next_seq(); }
