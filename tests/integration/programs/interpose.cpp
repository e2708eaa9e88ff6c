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

// Trainings through two libnccl's in turn; the callers are unloaded in between, as far as the loader does it.
int train_in_turn(char** callers, int count) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i) {
      void* handle = dlopen(callers[i], RTLD_LAZY | RTLD_LOCAL);
      auto* train = load<int(int)>(callers[i], "train");
      if (train == nullptr || train(1) != 0) return 1;
      dlclose(handle);
      dlclose(handle);  // of load()
    }
  }
  return 0;
}

// A training in a namespace of its own, between two in the program's.
int train_in_namespace(const char* caller, const char* other) {
  auto* train = load<int(int)>(caller, "train");
  void* handle = dlmopen(LM_ID_NEWLM, other, RTLD_NOW | RTLD_LOCAL);
  auto* inside = handle != nullptr ? reinterpret_cast<int (*)(int)>(dlsym(handle, "train")) : nullptr;
  if (train == nullptr || inside == nullptr) return 1;
  return train(1) + inside(1) + train(1);
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
  if (std::strcmp(argv[1], "in_turn") == 0) return train_in_turn(argv + 2, argc - 2);
  if (std::strcmp(argv[1], "namespace") == 0 && argc == 4) return train_in_namespace(argv[2], argv[3]);
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
