// Reads the inputs of an operator as bytes (trace::OperatorInput) from PyTorch's own objects, by offsets that the
// objects confirm:
//
//   c10::TensorImpl: sizes and strides at 56 (2.15), 64 (2.3 to 2.12) or 72 (2.1), the number of elements 96 bytes
//     later, the type 104 bytes later. An offset is right if the product of the sizes is the number of elements; this
//     is checked for each tensor. Up to 5 sizes are at 8, followed by as many strides after the fifth; more of them are
//     behind a pointer there.
//   c10::IValue: the tag of bool is 9 up to 2.5 and 10 later; the value distinguishes them, because the other one is a
//     pointer. Lists of values are 4 later.
//   c10::detail::ListImpl: begin, end and end of capacity of a vector at 16, or, if two counts of 8 bytes precede it,
//     at 24.
//
// The first few thousand objects of each kind are checked before they are read (agent/base/loaded_objects.h). An
// unreadable object or an unknown tag stops the reading of inputs permanently.
//
// Source: c10/core/TensorImpl.h, c10/core/impl/SizesAndStrides.h, ATen/core/ivalue.h, ATen/core/List.h of the same
// versions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/torch/record_function.h"

namespace agent {

// Sets the object that represents an undefined tensor (c10::UndefinedTensorImpl::singleton). Called before the first
// operator.
void know_undefined_tensor(const void* tensor) noexcept;

inline constexpr char kInputsUnknown[] =
    "the layout of operator inputs in this PyTorch is not supported (2.1 to 2.15 are): operators are recorded without sizes";

// Reports once that the layout is unknown and stops the recording of inputs. For any thread.
void refuse_inputs() noexcept;
bool inputs_are_refused() noexcept;

// The inputs of one operator. Inputs that do not fit are marked as cut.
class OperatorInputs {
 public:
  static constexpr std::size_t kBytes = 1024;

  OperatorInputs(const TorchValue* inputs, std::size_t count) noexcept;
  OperatorInputs(OperatorInputs&&) = delete;
  std::string_view bytes() const noexcept { return {reinterpret_cast<const char*>(words_), used_ * sizeof(words_[0])}; }

 private:
  bool add(const TorchValue& value) noexcept;
  bool add_tensor(const std::byte* tensor) noexcept;
  bool add_list(const std::byte* list) noexcept;
  bool add_head(const trace::OperatorInput& head) noexcept;
  bool add_word(std::uint64_t word) noexcept;

  std::size_t used_ = 0;
  std::uint64_t words_[kBytes / sizeof(std::uint64_t)];
};

}  // namespace agent
