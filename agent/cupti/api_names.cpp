#include "agent/cupti/api_names.h"

#include "agent/cupti/cupti_library.h"

namespace agent {
namespace {

constexpr std::uint32_t kMostNamed = 2048;  // CUPTI 13.0 has 806 of the driver

// The texts are CUPTI's, which is never unloaded.
struct Names {
  const char* by_id[kMostNamed];
  bool learnt;
};
constinit Names s_runtime{}, s_driver{};

void learn(Names& names, CUpti_CallbackDomain domain) {
  if (names.learnt || cupti().get_callback_name == nullptr) return;
  names.learnt = true;
  for (std::uint32_t id = 1; id < kMostNamed; ++id) {
    const char* name = nullptr;
    if (cupti().get_callback_name(domain, id, &name) == CUPTI_SUCCESS) names.by_id[id] = name;
  }
}

}  // namespace

void learn_api_names() noexcept {
  learn(s_runtime, CUPTI_CB_DOMAIN_RUNTIME_API);
  learn(s_driver, CUPTI_CB_DOMAIN_DRIVER_API);
}

const char* api_name(trace::RecordKind domain, std::uint32_t cbid) noexcept {
  const Names& names = domain == trace::DriverRecord::kKind ? s_driver : s_runtime;
  const char* name = cbid < kMostNamed ? names.by_id[cbid] : nullptr;
  return name != nullptr ? name : "";
}

}  // namespace agent
