// A program with an `environ` of its own, which libc does not know. Loads what SENSITIVE_AGENT names, beside another
// thread; exits with 0 where that put its variables into libc's table and left the program's alone.
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

extern "C" {
char** environ = nullptr;
}

int main() {
  std::thread([] {}).join();
  if (dlopen(std::getenv("SENSITIVE_AGENT"), RTLD_NOW) == nullptr) return 2;
  return environ == nullptr && std::getenv("NVTX_INJECTION64_PATH") != nullptr ? 0 : 1;
}
