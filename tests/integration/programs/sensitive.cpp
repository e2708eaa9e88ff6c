// A host that notices whatever is done to it: sensitive WHAT [NUMBER]. Exits with 0 where all is as it would be without the
// agent. What looks like a call of NCCL opens the recording, as it does where CUPTI cannot be had.
#include "sensitive.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct AllReduce {
  std::uint64_t communicator, bytes;
  std::uint32_t op;
};

}  // namespace

void* call_nccl(void*) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const AllReduce call{0x77, 4096, 0};
  const nvtxPayloadData_t payload{(1u << 24) + 5, sizeof(call), &call};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "ncclAllReduce";
  event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangePushA("a range");
  nvtxRangePop();
  return nullptr;
}

bool run_thread(void* (*run)(void*), std::size_t stack_bytes, void** result) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0 && pthread_attr_setstacksize(&attributes, stack_bytes) != 0) return false;
  return pthread_create(&thread, &attributes, run, nullptr) == 0 && pthread_join(thread, result) == 0;
}

namespace {

// All of the process's thread-specific keys are the program's.
bool keys(long) {
  static int s_marks[PTHREAD_KEYS_MAX];
  static pthread_key_t s_keys[PTHREAD_KEYS_MAX];
  int count = 0;
  while (count < PTHREAD_KEYS_MAX && pthread_key_create(&s_keys[count], nullptr) == 0) ++count;
  for (int i = 0; i < count; ++i) pthread_setspecific(s_keys[i], &s_marks[i]);
  call_nccl(nullptr);
  for (int i = 0; i < count; ++i) {
    if (pthread_getspecific(s_keys[i]) != &s_marks[i]) return false;
  }
  return count > 0;
}

// A thread that was cancelled ends where it would: not inside a call that is no place for it.
bool cancelled(long) {
  static bool s_came_back = false;
  const auto run = [](void*) -> void* {
    pthread_cancel(pthread_self());
    call_nccl(nullptr);
    s_came_back = true;
    pthread_testcancel();
    return nullptr;
  };
  void* result = nullptr;
  return run_thread(run, 0, &result) && result == PTHREAD_CANCELED && s_came_back;
}

// The same in a thread that has next to no stack: `kib`, or as little as this system allows.
bool small_stack(long kib) {
  const long bytes = std::max(kib << 10, sysconf(_SC_THREAD_STACK_MIN));
  return run_thread(call_nccl, static_cast<std::size_t>(bytes), nullptr);
}

// Neither fork(2) nor exec(2) is a place where a cancelled thread ends: its child does what it shall.
bool cancelled_fork(long) {
  static bool s_same_child = false;
  call_nccl(nullptr);
  const auto run = [](void*) -> void* {
    pthread_cancel(pthread_self());
    errno = 4711;
    const pid_t child = fork();
    if (child == 0) execl("/bin/sh", "sh", "-c", errno == 4711 ? "exit 42" : "exit 43", static_cast<char*>(nullptr));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    int status = 0;
    waitpid(child, &status, 0);
    s_same_child = WIFEXITED(status) && WEXITSTATUS(status) == 42;
    return nullptr;
  };
  void* result = nullptr;
  return run_thread(run, 0, &result) && s_same_child;
}

// Another thread may be reading the environment while the driver loads us: what it holds must stay as it was.
bool environment(long) {
  run_thread([](void*) -> void* { return nullptr; }, 0, nullptr);  // there have been others
  setenv("SENSITIVE", "1", 1);  // from here on the table of variables is setenv's own, which it frees when it grows
  char** table = environ;
  std::size_t count = 0;
  while (table[count] != nullptr) ++count;
  auto** copy = static_cast<char**>(malloc((count + 1) * sizeof(*table)));
  std::memcpy(copy, table, (count + 1) * sizeof(*table));
  if (dlopen(getenv("SENSITIVE_AGENT"), RTLD_NOW) == nullptr) return false;
  void* taken[64];
  for (void*& each : taken)
    each = std::memset(malloc((count + 1) * sizeof(*table)), 0x55, (count + 1) * sizeof(*table));
  const bool same = std::memcmp(copy, table, count * sizeof(*table)) == 0;
  return same && getenv("SENSITIVE") != nullptr && getenv("NVTX_INJECTION64_PATH") != nullptr && taken[0] != nullptr;
}

// What is in errno before a call is there after it: programs look at it late.
bool keeps_errno(long) {
  bool kept = true;
  for (int i = 0; i < 100; ++i) {
    errno = 4711;
    call_nccl(nullptr);
    kept = kept && errno == 4711;
  }
  return kept;
}

struct What {
  const char* name;
  bool (*holds)(long);
};
constexpr What kAll[] = {
    {"keys", keys},
    {"cancelled", cancelled},
    {"small_stack", small_stack},
    {"environment", environment},
    {"cancelled_fork", cancelled_fork},
    {"errno", keeps_errno},
    {"signals", signals},
    {"undisturbed", undisturbed},
};

}  // namespace

int main(int argc, char** argv) {
  for (const What& what : kAll) {
    if (argc > 1 && std::strcmp(argv[1], what.name) == 0) return what.holds(argc > 2 ? atol(argv[2]) : 0) ? 0 : 1;
  }
  return 2;
}
