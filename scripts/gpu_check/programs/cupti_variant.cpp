// A CUPTI that answers otherwise in two things, for TRACETOOL_CUPTI. It depends on the real libcupti, where all else is
// found.
//
//   GPU_CHECK_GLOBAL_BUFFERS=1   no buffers per thread, whoever asks for them
//   GPU_CHECK_BUFFER_BYTES=N     CUPTI gets buffers of N bytes, which are not the client's; it reads them all the same
//
// CUPTI's headers are not needed: the functions are declared here as cupti_activity.h has them.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

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
Completed s_completed;

// Of the library behind this one, which has cuptiGetVersion.
void* real(const char* name) {
  Dl_info found{};
  dladdr(reinterpret_cast<void*>(&cuptiGetVersion), &found);
  return dlsym(dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
}

// 0: the client's own buffers.
std::size_t buffer_bytes() {
  static const char* const text = std::getenv("GPU_CHECK_BUFFER_BYTES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

// Zeroed buffers that came back; never deleted: CUPTI's thread outlives main.
struct Spare {
  std::mutex mutex;
  std::vector<std::uint8_t*> buffers;
};
Spare& spare() {
  static auto* const made = new Spare;
  return *made;
}

void request_own(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  if (buffer_bytes() == 0) return s_request(buffer, size, max_records);
  *size = buffer_bytes();
  *max_records = 0;
  const std::lock_guard lock(spare().mutex);
  if (spare().buffers.empty()) {
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, *size));
  } else {
    *buffer = spare().buffers.back();
    spare().buffers.pop_back();
  }
}

void completed_own(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size, std::size_t valid) {
  s_completed(context, stream, buffer, size, valid);
  if (buffer_bytes() == 0 || buffer == nullptr) return;
  std::memset(buffer, 0, size);
  const std::lock_guard lock(spare().mutex);
  spare().buffers.push_back(buffer);
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
  s_completed = completed;
  std::fprintf(stderr, "cupti_variant: it is in use\n");
  const auto next = reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(real("cuptiActivityRegisterCallbacks"));
  return next(request_own, completed_own);
}
