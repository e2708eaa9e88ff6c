#include "agent/activity/other_subscribers.h"

#include <link.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "agent/base/message.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/subscriber_functions.h"
#include "agent/nvtx/injection_paths.h"
#include "common/known_tools.h"

namespace agent {
namespace {

// cuptiSubscribe_v2 and its parameters, of CUPTI 13.0; older headers lack both. Without the field of 13.2 that lets others
// subscribe too.
struct SubscriberParams {
  std::size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  std::size_t old_subscriber_size;
};

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool ask_cupti(char* text, std::size_t size) {
  if (first_subscriber()[0] != '\0') {
    snprintf(text, size, "%.63s", first_subscriber());
    return true;
  }
  if (cupti().subscribe_v2 == nullptr) return false;
  char name[128] = "";
  SubscriberParams params{sizeof(params), "tracetool", name, sizeof(name)};
  CUpti_SubscriberHandle handle = nullptr;
  if (cupti().subscribe_v2(&handle, ignore, nullptr, &params) == CUPTI_SUCCESS) cupti().unsubscribe(handle);
  if (name[0] == '\0') return false;
  snprintf(text, size, "%.63s", name);
  return true;
}

int look_for_tool(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view name = info->dlpi_name != nullptr ? trace::tool_of_loaded(info->dlpi_name) : std::string_view();
  if (name.empty()) return 0;
  *static_cast<const char**>(found) = name.data();  // of a literal
  return 1;
}

}  // namespace

void name_current_subscriber(char* text, std::size_t size) noexcept {
  if (ask_cupti(text, size)) return;
  const char* tool = cuda_taken_by()[0] != '\0' ? cuda_taken_by() : "another tool";
  dl_iterate_phdr(look_for_tool, &tool);
  snprintf(text, size, "%s", tool);
}

void warn_torch_profiler() noexcept {
  bool is_there = false;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libtorch_cuda") == nullptr) return 0;
        *static_cast<bool*>(found) = true;
        return 1;
      },
      &is_there);
  if (!is_there) return;
  say("TRACETOOL_COEXIST=share: torch.profiler records no GPU events in this process if its Kineto uses CUPTI's version 1 "
      "API, as in August 2026, because CUPTI does not allow it together with a version 2 subscriber");
}

}  // namespace agent
