#include "agent/torch/torch_functions.h"

#include "agent/base/loaded_objects.h"

namespace agent {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(symbol_in(library, name));
  return function != nullptr;
}

}  // namespace

TorchFound find_torch(TorchFunctions& functions) noexcept {
  // By its file name, as the loader keeps it, whatever folder and scope it was loaded from.
  ObjectPaths found{};
  objects_named("libtorch_cpu.so", found);
  void* library = found.count > 0 ? handle_of(found.paths[0]) : nullptr;
  if (library == nullptr) return TorchFound::absent;
  const bool whole = find(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", functions.add_callback) &&
                     find(library, "_ZN2at14removeCallbackEm", functions.remove_callback) &&
                     find(library, "_ZNK2at14RecordFunction4nameEv", functions.name) &&
                     find(library, "_ZN2at14RecordFunction15currentThreadIdEv", functions.thread) &&
                     find(library, "_ZN2at15sequence_number4peekEv", functions.sequence);
  find(library, "_ZNK2at14RecordFunction10num_inputsEv", functions.inputs);
  functions.undefined_tensor = symbol_in(library, "_ZN3c1019UndefinedTensorImpl10_singletonE");  // of libc10, which it needs
  return whole ? TorchFound::found : TorchFound::unfit;
}

}  // namespace agent
