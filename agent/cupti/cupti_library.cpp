#include "agent/cupti/cupti_library.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/cupti/subscriber_functions.h"

namespace agent {

namespace {

constinit CuptiLibrary s_cupti{}, s_shared{};
constinit std::atomic<const CuptiLibrary*> s_used{&s_cupti};
constinit const char* s_lacks_for_sharing = "libcupti";

struct Soname {
  const char* name;
  int cuda_major;
};
constexpr Soname kSonames[] = {{"libcupti.so.13", 13},   {"libcupti.so.12", 12},   {"libcupti.so.11.8", 11},
                               {"libcupti.so.11.7", 11}, {"libcupti.so.11.6", 11}, {"libcupti.so.11.5", 11},
                               {"libcupti.so", 0}};
// Locations of CUPTI relative to the directory of libcudart or of PyTorch's libraries: CUDA 13 wheels, CUDA 12 wheels,
// PyTorch's own lib directory, the toolkit.
constexpr const char* kBeside[] = {"", "../../cuda_cupti/lib/", "../../nvidia/cu13/lib/",
                                   "../../nvidia/cuda_cupti/lib/", "../extras/CUPTI/lib64/"};
constexpr const char* kToolkits[] = {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"};

// Returns the CUDA version supported by the driver of this process, or a large number; a newer CUPTI cannot work with
// it.
int driver_major() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 1000;
  const auto get_version = reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  const bool known = get_version != nullptr && get_version(&version) == CUDA_SUCCESS;
  dlclose(driver);
  return known ? version / 1000 : 1000;
}

void* open_in(const char* directory, int directory_length, const char* below) {
  char path[1024];
  const int newest = driver_major();
  for (const Soname& soname : kSonames) {
    if (soname.cuda_major > newest) continue;
    snprintf(path, sizeof(path), "%.*s%s%s", directory_length, directory, below, soname.name);
    if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return handle;
  }
  return nullptr;
}

void* already_loaded() {
  for (const Soname& soname : kSonames) {
    if (void* handle = dlopen(soname.name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)) return handle;
  }
  return nullptr;
}

// The path is copied first, because dlopen within dl_iterate_phdr would take the loader's lock twice.
void* beside_cudart() {
  char directory[1024] = "";
  const auto copy_directory = [&](const char* path, const dl_phdr_info&) {
    const char* slash = std::strrchr(path, '/');
    if (slash == nullptr) return false;
    if (std::strstr(slash, "libcudart.so") == nullptr && std::strstr(slash, "libtorch_cuda") == nullptr) return false;
    snprintf(directory, sizeof(directory), "%.*s", static_cast<int>(slash + 1 - path), path);
    return true;
  };
  if (!any_object(copy_directory)) return nullptr;
  for (const char* below : kBeside) {
    if (void* handle = open_in(directory, static_cast<int>(std::strlen(directory)), below)) return handle;
  }
  return nullptr;
}

void* from_toolkit() {
  if (void* handle = open_in("", 0, "")) return handle;  // LD_LIBRARY_PATH and the loader's cache
  for (const char* directory : kToolkits) {
    if (void* handle = open_in(directory, static_cast<int>(std::strlen(directory)), "")) return handle;
  }
  return nullptr;
}

void* open_library() {
  if (const char* path = settings().cupti; path[0] != '\0') {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) say("TRACETOOL_CUPTI=%s cannot be loaded (%s): GPU work is not recorded", path, dlerror());
    return handle;
  }
  void* handle = already_loaded();
  if (handle == nullptr) handle = beside_cudart();
  if (handle == nullptr) handle = from_toolkit();
  if (handle == nullptr) {
    say("no libcupti found: GPU work is not recorded; install the CUDA toolkit's CUPTI, or set TRACETOOL_CUPTI to a "
        "libcupti.so");
  }
  return handle;
}

bool find_required(void* handle) {
  return find_function(handle, "cuptiGetVersion", s_cupti.get_version) &&
         find_function(handle, "cuptiGetTimestamp", s_cupti.get_timestamp) &&
         find_function(handle, "cuptiGetResultString", s_cupti.get_result_string) &&
         find_function(handle, "cuptiSubscribe", s_cupti.subscribe) &&
         find_function(handle, "cuptiUnsubscribe", s_cupti.unsubscribe) &&
         find_function(handle, "cuptiEnableCallback", s_cupti.enable_callback) &&
         find_function(handle, "cuptiGetCallbackName", s_cupti.get_callback_name) &&
         find_function(handle, "cuptiActivityRegisterCallbacks", s_cupti.register_callbacks) &&
         find_function(handle, "cuptiActivityEnable", s_cupti.activity_enable) &&
         find_function(handle, "cuptiActivityDisable", s_cupti.activity_disable) &&
         find_function(handle, "cuptiActivityGetNextRecord", s_cupti.get_next_record) &&
         find_function(handle, "cuptiActivityGetNumDroppedRecords", s_cupti.get_dropped) &&
         find_function(handle, "cuptiActivityFlushAll", s_cupti.flush_all) &&
         find_function(handle, "cuptiActivitySetAttribute", s_cupti.set_attribute) &&
         find_function(handle, "cuptiSetThreadIdType", s_cupti.set_thread_id_type);
}

}  // namespace

bool load_cupti() noexcept {
  void* handle = open_library();
  if (handle == nullptr) return false;
  if (!find_required(handle)) {
    say("libcupti lacks %s: GPU work is not recorded; CUDA 11.8 or newer is needed", dlerror());
    s_cupti = {};
    return false;
  }
  find_function(handle, "cuptiActivityGetAttribute", s_cupti.get_attribute);
  find_function(handle, "cuptiSubscribe_v2", s_cupti.subscribe_v2);
  find_function(handle, "cuptiActivityEnableRuntimeApi", s_cupti.enable_runtime_api);
  find_function(handle, "cuptiActivityEnableDriverApi", s_cupti.enable_driver_api);
  find_function(handle, "cuptiActivityEnableAllSyncRecords", s_cupti.enable_all_sync_records);
  find_function(handle, "cuptiActivityEnableAndDump", s_cupti.activity_enable_and_dump);
  find_function(handle, "cuptiGetGraphNodeId", s_cupti.get_graph_node_id);
  find_function(handle, "cuptiGetStreamIdEx", s_cupti.get_stream_id_ex);
  ask_cupti_version();
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(s_cupti.get_version), &info) != 0 && info.dli_fname != nullptr)
    snprintf(s_cupti.path, sizeof(s_cupti.path), "%s", info.dli_fname);
  s_shared = s_cupti;
  s_lacks_for_sharing = find_subscriber_functions(handle, s_shared);
  return true;
}

CUptiResult ask_cupti_version() noexcept {
  std::uint32_t version = 0;
  const CUptiResult result = s_cupti.get_version(&version);
  s_cupti.version = s_shared.version = result == CUPTI_SUCCESS ? version : 0;
  return result;
}

const CuptiLibrary& cupti() noexcept { return *s_used.load(std::memory_order_acquire); }

const char* use_cupti_version(int version) noexcept {
  const bool shared = version == 2;
  if (shared && s_lacks_for_sharing != nullptr) return s_lacks_for_sharing;
  s_used.store(shared ? &s_shared : &s_cupti, std::memory_order_release);
  return nullptr;
}

const char* cupti_result_name(CUptiResult result) noexcept {
  const char* name = nullptr;
  if (s_cupti.get_result_string != nullptr) s_cupti.get_result_string(result, &name);
  return name != nullptr ? name : "unknown CUPTI error";
}

}  // namespace agent
