// Loads libraries that call NCCL as Python loads its modules: interpose WHAT CALLER... prints what each answers.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace {

template <typename Function>
Function* load(const char* path, const char* name) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  auto* function = handle != nullptr ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
  if (function == nullptr) fprintf(stderr, "%s\n", dlerror());
  return function;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  if (std::strcmp(argv[1], "train") == 0 || std::strcmp(argv[1], "nested") == 0) {
    auto* train = load<int(int)>(argv[2], argv[1]);
    return train != nullptr ? train(1) : 1;
  }
  if (std::strcmp(argv[1], "abort") == 0) {
    auto* call = load<int(void*)>(argv[2], "one_call");
    return call != nullptr ? call(reinterpret_cast<void*>(0xdead)) : 1;
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 2; i < argc; ++i) {
      auto* call = load<int(void*)>(argv[i], "one_call");
      if (call == nullptr) return 1;
      printf("%d\n", call(nullptr));
    }
  }
  // As a program does that asks the loader instead of linking.
  if (std::strcmp(argv[1], "default") == 0) {
    auto* call = reinterpret_cast<int (*)(const void*, void*, size_t, int, int, void*, void*)>(
        dlsym(RTLD_DEFAULT, "ncclAllReduce"));
    printf("%d\n", call != nullptr ? call(nullptr, nullptr, 1, 7, 0, nullptr, nullptr) : -1);
  }
  return 0;
}
