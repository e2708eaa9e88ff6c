// Another library that is preloaded: it stands before the C library's own functions in a few that every program uses, and has work to do
// at fork, at a thread's end and at the program's.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<unsigned long> s_calls{0};

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void begin() {
  pthread_atfork([] { ++s_calls; }, [] { ++s_calls; }, [] { ++s_calls; });
  std::atexit([] { ++s_calls; });
}
__attribute__((destructor)) void end() { ++s_calls; }

}  // namespace

#define OTHER_API extern "C" __attribute__((visibility("default")))

OTHER_API void* malloc(std::size_t size) {
  static auto* const real = next<void* (*)(std::size_t)>("malloc");
  ++s_calls;
  return real(size);
}

OTHER_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                             void* argument) {
  static auto* const real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  ++s_calls;
  return real(thread, attributes, function, argument);
}

OTHER_API void* dlopen(const char* path, int flags) {
  static auto* const real = next<void* (*)(const char*, int)>("dlopen");
  ++s_calls;
  return real(path, flags);
}
