// Modules: text instead of code (work.h).
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "../work.h"
#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "launch.h"

namespace sim {
namespace {

struct Module {
  std::vector<Function*> functions;
};

struct Modules {
  std::mutex mutex;
  std::unordered_set<const void*> modules, functions;
};

Modules& modules() {
  static auto* const made = new Modules;
  return *made;
}

bool take_number(std::string_view& line, std::uint32_t& number) {
  const auto result = std::from_chars(line.data(), line.data() + line.size(), number);
  if (result.ec != std::errc() || result.ptr == line.data() + line.size() || *result.ptr != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(result.ptr + 1 - line.data()));
  return true;
}

Function* parse_function(std::string_view line) {
  auto function = std::make_unique<Function>();
  const bool good = take_number(line, function->registers) && take_number(line, function->static_shared_bytes) &&
                    take_number(line, function->local_bytes) && !line.empty();
  function->name = line;
  return good ? function.release() : nullptr;
}

// Null: not a module.
Module* parse(std::string_view text) {
  if (text.substr(0, sizeof(kModuleHeader) - 1) != kModuleHeader) return nullptr;
  text.remove_prefix(sizeof(kModuleHeader) - 1);
  auto* module = new Module;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Function* function = parse_function(line);
    if (function == nullptr) return nullptr;
    module->functions.push_back(function);
  }
  return module;
}

CUresult load(CUmodule* handle, const void* image) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Module* module = parse(static_cast<const char*>(image));
  if (module == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  {
    const std::lock_guard lock(modules().mutex);
    modules().modules.insert(module);
    modules().functions.insert(module->functions.begin(), module->functions.end());
  }
  tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, current_context(), nullptr);
  *handle = reinterpret_cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

const Module* find_module(const void* handle) {
  const std::lock_guard lock(modules().mutex);
  return modules().modules.count(handle) != 0 ? static_cast<const Module*>(handle) : nullptr;
}

}  // namespace

const Function* find_function(const void* handle) {
  const std::lock_guard lock(modules().mutex);
  return modules().functions.count(handle) != 0 ? static_cast<const Function*>(handle) : nullptr;
}

const Function* add_function(const char* name) {
  constexpr std::uint32_t kRegisters = 16;
  auto* function = new Function{name, kRegisters, 0, 0};
  function->takes_work = false;
  const std::lock_guard lock(modules().mutex);
  modules().functions.insert(function);
  return function;
}

const char* function_name(const void* handle) {
  const Function* function = find_function(handle);
  return function != nullptr ? function->name.c_str() : nullptr;
}

}  // namespace sim

using namespace sim;

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  SIM_DRIVER_CALL(cuModuleLoadData);
  return call.end(load(module, image));
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  SIM_DRIVER_CALL(cuModuleGetFunction);
  const Module* module = find_module(handle);
  if (module == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  for (Function* candidate : module->functions) {
    if (candidate->name != name) continue;
    *function = reinterpret_cast<CUfunction>(candidate);
    return call.end(CUDA_SUCCESS);
  }
  return call.end(CUDA_ERROR_NOT_FOUND);
}

#if CUDA_VERSION >= 12030
CUresult cuFuncGetName(const char** name, CUfunction function) {
  SIM_DRIVER_CALL(cuFuncGetName);
  *name = function_name(function);
  return call.end(*name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}
#endif
