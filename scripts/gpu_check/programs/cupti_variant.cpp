// A CUPTI that answers otherwise in two things, for TRACETOOL_CUPTI. It depends on the real libcupti, where all else is
// found.
//
//   GPU_CHECK_GLOBAL_BUFFERS=1   no buffers per thread, whoever asks for them
//   GPU_CHECK_BUFFER_BYTES=N     of each buffer that the client gives CUPTI sees N bytes at most
//
// CUPTI's headers are not needed: the functions are declared here as cupti_activity.h has them.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
using Request = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using Completed = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                           std::size_t valid);
int cuptiGetVersion(std::uint32_t* version);
int cuptiActivitySetAttribute(int attribute, std::size_t* size, void* value);
int cuptiActivityRegisterCallbacks(Request request, Completed completed);
}

namespace {

constexpr int kPerThreadBuffer = 9;  // CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER
Request s_request;

// Of the library behind this one, which has cuptiGetVersion.
void* real(const char* name) {
  Dl_info found{};
  dladdr(reinterpret_cast<void*>(&cuptiGetVersion), &found);
  return dlsym(dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
}

std::size_t most_bytes() {
  static const char* const text = std::getenv("GPU_CHECK_BUFFER_BYTES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : SIZE_MAX;
}

void request_less(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  s_request(buffer, size, max_records);
  *size = std::min(*size, most_bytes());
}

}  // namespace

int cuptiActivitySetAttribute(int attribute, std::size_t* size, void* value) {
  if (attribute == kPerThreadBuffer && std::getenv("GPU_CHECK_GLOBAL_BUFFERS") != nullptr) {
    *static_cast<std::uint8_t*>(value) = 0;
  }
  return reinterpret_cast<decltype(&cuptiActivitySetAttribute)>(real("cuptiActivitySetAttribute"))(attribute, size,
                                                                                                   value);
}

int cuptiActivityRegisterCallbacks(Request request, Completed completed) {
  s_request = request;
  std::fprintf(stderr, "cupti_variant: it is in use\n");
  const auto next = reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(real("cuptiActivityRegisterCallbacks"));
  return next(request_less, completed);
}
