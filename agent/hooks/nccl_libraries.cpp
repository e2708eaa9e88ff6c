#include "agent/hooks/nccl_libraries.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/lock.h"
#include "agent/base/message.h"
#include "agent/nccl/nccl.h"
#include "agent/nvtx/injection_paths.h"

namespace agent {
namespace {

constexpr char kWitness[] = "ncclGetVersion";

constexpr int kFirstWithPayloads = 21605;

constexpr const char* kNames[kNcclFunctions] = {
    "ncclAllReduce",    "ncclBroadcast",          "ncclReduce",
    "ncclAllGather",    "ncclReduceScatter",      "ncclSend",
    "ncclRecv",         "ncclGroupStart",         "ncclGroupEnd",
    "ncclCommInitRank", "ncclCommInitRankConfig", "ncclCommInitAll",
    "ncclCommSplit",    "ncclCommDestroy",        "ncclCommAbort",
};

struct Known {
  const link_map* map;
  NcclLibrary library;
};
struct Caller {
  std::uintptr_t begin, end;
  NcclLibrary* library;
};

constexpr std::size_t kMostLibraries = 16;
constexpr std::size_t kMostCallers = 64;

constinit Spinlock s_lock{};
constinit Known s_libraries[kMostLibraries]{};
constinit std::size_t s_library_count = 0;
constinit Caller s_callers[kMostCallers]{};
constinit std::atomic<std::size_t> s_caller_count{0};

NcclLibrary* cached(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const std::size_t count = s_caller_count.load(std::memory_order_acquire);
  for (const Caller* known = s_callers; known != s_callers + count; ++known) {
    if (address >= known->begin && address < known->end) return known->library;
  }
  return nullptr;
}

void* witness_in(const char* path) {
  void* handle = handle_of(path);
  return handle != nullptr ? symbol_in(handle, kWitness) : nullptr;
}

// Returns the one on which all of the objects agree; null if they do not.
void* common_witness(const ObjectPaths& objects) {
  void* found = nullptr;
  for (std::size_t i = 0; i < objects.count; ++i) {
    void* witness = witness_in(objects.paths[i]);
    if (witness != nullptr && found != nullptr && witness != found) return nullptr;
    if (witness != nullptr) found = witness;
  }
  return found;
}

void* find_witness(const link_map* caller) {
  if (void* global = symbol_in(RTLD_DEFAULT, kWitness)) return global;
  if (void* own = witness_in(caller->l_name)) return own;
  ObjectPaths loaded{};
  objects_named("libnccl", loaded);  // NCCL plugins have such names, too, but no witness
  if (void* only = common_witness(loaded)) return only;
  ObjectPaths above{};
  objects_needing(caller, above);
  return common_witness(above);
}

// The default: only if NCCL's own ranges are incomplete or not received.
bool shall_record(int version) {
  if (!attach()) return false;
  if (const auto nccl = settings().nccl; nccl != trace::NcclCapture::automatic)
    return nccl == trace::NcclCapture::interpose;
  return version < kFirstWithCommunicator || nvtx_taken_by()[0] != '\0';
}

bool describe(const link_map* map, void* witness, NcclLibrary& library) {
  void* handle = handle_of(map->l_name);
  if (handle == nullptr) return false;
  for (std::size_t i = 0; i < kNcclFunctions; ++i) {
    // Accepts only the library's own functions, because the search may also find the agent's.
    void* function = symbol_in(handle, kNames[i]);
    LoadedObject object;
    const bool is_own = function != nullptr && object_of(function, object) && object.map == map;
    library.functions[i] = is_own ? function : nullptr;
  }
  if (reinterpret_cast<int (*)(int*)>(witness)(&library.version) != 0) library.version = 0;
  library.active = shall_record(library.version);
  return true;
}

// The loader is queried before the lock is taken, because a constructor that calls NCCL holds the loader's lock.
NcclLibrary* library_at(void* witness) {
  LoadedObject object;
  if (!object_of(witness, object)) return nullptr;
  NcclLibrary made{};
  if (!describe(object.map, witness, made)) return nullptr;
  const Locked locked(s_lock);
  for (Known* known = s_libraries; known != s_libraries + s_library_count; ++known) {
    if (known->map == object.map) return &known->library;
  }
  if (s_library_count == kMostLibraries) return nullptr;
  Known& added = s_libraries[s_library_count++];
  added.map = object.map;
  for (std::size_t i = 0; i < kNcclFunctions; ++i) added.library.functions[i] = made.functions[i];
  added.library.version = made.version;
  added.library.active = made.active;
  added.library.speaks_nvtx = made.version >= kFirstWithPayloads && nvtx_taken_by()[0] == '\0';
  say_verbose("NCCL %d.%d.%d, %s: its functions are %s", made.version / 10000, made.version / 100 % 100,
              made.version % 100, object.map->l_name, made.active ? "recorded" : "not recorded");
  return &added.library;
}

void remember(const LoadedObject& caller, NcclLibrary* library) {
  const Locked locked(s_lock);
  const std::size_t count = s_caller_count.load(std::memory_order_relaxed);
  if (count == kMostCallers) return;
  s_callers[count] = {caller.begin, caller.end, library};
  s_caller_count.store(count + 1, std::memory_order_release);
}

NcclLibrary* resolve(const void* address) {
  static constinit std::atomic<bool> s_once{false};
  LoadedObject caller;
  // Releases the lock in a forked child: a thread that does not exist there may have held it.
  if (!s_once.exchange(true)) pthread_atfork(nullptr, nullptr, [] { s_lock.unlock(); });
  if (!object_of(address, caller)) return nullptr;
  void* witness = find_witness(caller.map);
  NcclLibrary* library = witness != nullptr ? library_at(witness) : nullptr;
  if (library != nullptr) remember(caller, library);
  return library;
}

}  // namespace

const char* nccl_function_name(NcclFunction function) noexcept { return kNames[function]; }

NcclLibrary* nccl_library_of(const void* caller) noexcept {
  if (NcclLibrary* library = cached(caller)) return library;
  const int saved_errno = errno;
  NcclLibrary* library = resolve(caller);
  errno = saved_errno;
  return library;
}

void say_unresolved(NcclFunction function, const void* caller) noexcept {
  static constinit std::atomic<bool> s_said[kNcclFunctions]{};
  if (s_said[function].exchange(true)) return;
  LoadedObject object;
  const char* path = object_of(caller, object) ? object.map->l_name : "";
  say("%s, called by %s: no libnccl provides it to this caller; it returns ncclSystemError", kNames[function],
      path[0] != '\0' ? path : "the program");
}

}  // namespace agent
