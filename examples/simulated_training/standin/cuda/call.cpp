#include "call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "../true_clock.h"
#include "attach.h"
#include "truth.h"

namespace sim {
namespace {

std::atomic<std::uint32_t> s_correlation{0};
thread_local Call* t_innermost = nullptr;

std::uint32_t thread_id() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace

Call::Call(Domain domain, std::uint32_t cbid, const char* name, const void* params, const char* symbol)
    : outer_(t_innermost) {
  Context* context = current_context();
  event_.domain = static_cast<std::uint32_t>(domain);
  event_.cbid = cbid;
  event_.name = name;
  event_.symbol = symbol;
  event_.params = params;
  event_.context = context;
  event_.context_id = context != nullptr ? context->id : 0;
  event_.correlation = outer_ != nullptr ? outer_->event_.correlation : ++s_correlation;
  event_.tid = thread_id();
  t_innermost = this;
  if (const Bridge* to = bridge()) to->enter_call(event_);
  event_.start_ns = true_ns();
}

Call::~Call() { t_innermost = outer_; }

// Whoever asks about devices and contexts is still answered.
std::uint32_t Call::after_failure(std::uint32_t result) const {
  const auto* context = static_cast<const Context*>(event_.context);
  if (context == nullptr || !context->failed) return result;
  const std::string_view name = event_.name;
  for (const std::string_view begin : {"cuDevice", "cuCtx", "cuInit", "cuDriver", "cudaGetDevice", "cudaSetDevice"}) {
    if (name.substr(0, begin.size()) == begin && name != "cuCtxSynchronize") return result;
  }
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

std::uint32_t Call::close(std::uint32_t result) {
  const Bridge* to = bridge();
  event_.result = after_failure(result);
  event_.end_ns = true_ns();
  event_.cupti_start_ns = to_cupti(to, event_.start_ns);
  event_.cupti_end_ns = to_cupti(to, event_.end_ns);
  event_.seq = next_seq();
  if (to != nullptr) to->exit_call(event_);
  write_truth_of(event_);
  if (to != nullptr) to->finish_call(event_);
  return event_.result;
}

}  // namespace sim
