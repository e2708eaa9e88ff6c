// PyTorch's observers of operators (ATen/record_function.h) as the process has them loaded: found by name, nothing is linked.
// Source: PyTorch 2.1 to 2.15; the names and the layout of a callback are the same in all of them.
#pragma once
#include <cstdint>

namespace agent {

// at::RecordFunction: one call of an operator. What is in it is read by record_function.h.
struct RecordFunction;

// std::unique_ptr<at::ObserverContext>, which our begin callback returns and our end callback of the same operator is shown. PyTorch deletes
// it by its virtual destructor.
class OperatorContext {
 public:
  OperatorContext() noexcept = default;  // none: the begin was not recorded
  // To be handed over to PyTorch (operator_contexts.h).
  explicit OperatorContext(const void* context) noexcept : context_(context) {}
  OperatorContext(const OperatorContext&) = delete;
  OperatorContext& operator=(const OperatorContext&) = delete;
  ~OperatorContext() {}

 private:
  [[maybe_unused]] const void* context_ = nullptr;
};
static_assert(sizeof(OperatorContext) == sizeof(void*));

// at::RecordFunctionCallback.
struct OperatorCallback {
  OperatorContext (*start)(const RecordFunction*) = nullptr;
  void (*end)(const RecordFunction*, void* context) = nullptr;
  double sampling_probability = 1.0;
  bool scopes[10] = {};  // by trace::OperatorScope
  bool needs_inputs = false, needs_outputs = false, needs_ids = false;
};
static_assert(sizeof(OperatorCallback) == 40);

struct TorchFunctions {
  std::uint64_t (*add_callback)(OperatorCallback);  // at::addGlobalCallback: a handle, never 0
  void (*remove_callback)(std::uint64_t handle);    // at::removeCallback
  const char* (*name)(const RecordFunction*);       // at::RecordFunction::name
  std::uint64_t (*thread)();                        // at::RecordFunction::currentThreadId: from 1 on
  std::uint64_t (*sequence)();                      // at::sequence_number::peek, of this thread
  std::uint64_t (*inputs)(const RecordFunction*);   // at::RecordFunction::num_inputs; null: not found
  const void* undefined_tensor;                     // c10::UndefinedTensorImpl::_singleton; null: not found
};

enum class TorchFound { absent, found, unfit };  // unfit: it is loaded, but lacks one of the functions

// For any thread; takes the loader's lock. What it finds stays loaded.
TorchFound find_torch(TorchFunctions& functions) noexcept;

}  // namespace agent
