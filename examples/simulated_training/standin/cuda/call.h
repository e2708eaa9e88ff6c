// In a context that failed most calls say CUDA_ERROR_ILLEGAL_ADDRESS, whatever they did.
//
// One call into the runtime or driver as CUPTI sees it: made at its entry, ended by `return call.end(result)`. A driver
// call inside a runtime call has the runtime call's correlation id.
#pragma once
#include "../events.h"
#include "exports.h"
#include "objects.h"

namespace sim {

enum class Domain : std::uint32_t { driver = 1, runtime = 2 };

class Call {
 public:
  Call(Domain domain, std::uint32_t cbid, const char* name, const void* params = nullptr, const char* symbol = nullptr);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::uint32_t correlation() const { return event_.correlation; }
  template <typename Result>
  Result end(Result result) {
    return static_cast<Result>(close(static_cast<std::uint32_t>(result)));
  }

 private:
  std::uint32_t close(std::uint32_t result);
  std::uint32_t after_failure(std::uint32_t result) const;
  CallEvent event_{};
  Call* outer_;
};

// cuInit ran to its end.
bool is_initialized();

}  // namespace sim

#define SIM_DRIVER_CALL(cbid_name, ...) \
  sim::Call call(sim::Domain::driver, CUPTI_DRIVER_TRACE_CBID_##cbid_name, #cbid_name __VA_OPT__(, ) __VA_ARGS__)
#define SIM_RUNTIME_CALL(cbid_name, ...) \
  sim::Call call(sim::Domain::runtime, CUPTI_RUNTIME_TRACE_CBID_##cbid_name, #cbid_name __VA_OPT__(, ) __VA_ARGS__)
