#include "agent/torch/operator_inputs.h"

#include <cstring>

#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"

namespace agent {
namespace {

using trace::InputKind;
using trace::OperatorInput;

// The layout that is the same in all versions.
constexpr std::uint32_t kNoneTag = 0, kTensorTag = 1, kDoubleTag = 3, kIntegerTag = 5;
constexpr std::uint32_t kBooleanTags[] = {9, 10};
constexpr std::uint32_t kListBehindBoolean = 4;
constexpr std::size_t kSizesAt[] = {56, 64, 72};
constexpr std::size_t kElementsBehind = 96, kTypeBehind = 104;
constexpr std::size_t kInline = 5;
constexpr std::size_t kMostDims = 64, kMostTypes = 64;
constexpr std::size_t kVectorAt[] = {16, 24};
constexpr std::uint64_t kFirstAddress = 1 << 16;  // smaller values are counts, not objects

// The layout that objects of this process have confirmed.
struct Confirmed {
  std::uint32_t sizes_at = 0;     // 0 if not confirmed yet
  std::uint32_t boolean_tag = 0;  // 0 if not confirmed yet
};
constinit Confirmed s_confirmed{};
constinit const void* s_undefined = nullptr;

// Kinds of objects that inputs point to. In an unknown version the pointers may be invalid.
enum Object { a_value, a_tensor, its_sizes, a_list, an_element, kObjects };
constinit std::uint32_t s_were_there[kObjects]{};
constinit bool s_is_refused = false;

// Checks only the first objects of each kind, because a check is a system call.
bool is_there(Object object, const void* at, std::size_t bytes) {
  constexpr std::uint32_t kEnough = 4096;
  const std::uint32_t seen = learnt(s_were_there[object]);
  if (seen >= kEnough) return true;
  if (!is_readable(at, bytes)) {
    refuse_inputs();
    return false;
  }
  learn(s_were_there[object], seen + 1);
  return true;
}

// Known versions use tags up to 30.
bool is_tag(std::uint32_t tag) {
  constexpr std::uint32_t kMostTags = 64;
  if (tag < kMostTags) return true;
  refuse_inputs();
  return false;
}

const std::byte* pointer(const std::byte* at) { return reinterpret_cast<const std::byte*>(word_at(at)); }

OperatorInput head_of(InputKind kind, std::uint32_t count = 0) {
  return {static_cast<std::uint8_t>(kind), 0, 0, 0, count};
}

struct Dims {
  std::size_t count = 0;
  const std::byte* sizes = nullptr;  // i64 each; the strides follow the space for sizes
  const std::byte* strides = nullptr;
};

// Returns false if there are no sizes at this offset.
bool dims_at(const std::byte* sizes_and_strides, Dims& dims) {
  dims.count = word_at(sizes_and_strides);
  if (dims.count > kMostDims) return false;
  const bool is_inline = dims.count <= kInline;
  dims.sizes = is_inline ? sizes_and_strides + 8 : pointer(sizes_and_strides + 8);
  dims.strides = dims.sizes + 8 * (is_inline ? kInline : dims.count);
  if (is_inline) return true;
  return reinterpret_cast<std::uintptr_t>(dims.sizes) % 8 == 0 && dims.sizes != nullptr &&
         is_there(its_sizes, dims.sizes, 16 * dims.count);
}

// Returns true if the product of the sizes is the number of elements.
bool is_tensor(const std::byte* tensor, std::size_t sizes_at, Dims& dims) {
  if (!dims_at(tensor + sizes_at, dims)) return false;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < dims.count; ++i) {
    if (__builtin_mul_overflow(elements, word_at(dims.sizes + 8 * i), &elements)) return false;
  }
  return elements == word_at(tensor + sizes_at + kElementsBehind);
}

// For an unknown offset: two sizes larger than 1, stored inline, exclude chance.
bool is_telling(const std::byte* tensor, std::size_t sizes_at) {
  const std::uint64_t count = word_at(tensor + sizes_at);
  if (count < 2 || count > kInline) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = word_at(tensor + sizes_at + 8 + 8 * i);
    if (size < 2 || size > std::uint64_t{1} << 40) return false;
  }
  Dims dims;
  return is_tensor(tensor, sizes_at, dims);
}

// Returns 0 if not known yet.
std::size_t sizes_place(const std::byte* tensor) {
  if (const std::uint32_t known = learnt(s_confirmed.sizes_at)) return known;
  std::size_t found = 0, count = 0;
  for (const std::size_t at : kSizesAt) {
    if (!is_telling(tensor, at)) continue;
    found = at;
    ++count;
  }
  if (count != 1) return 0;
  learn(s_confirmed.sizes_at, static_cast<std::uint32_t>(found));
  return found;
}

bool is_contiguous(const Dims& dims) {
  std::uint64_t stride = 1;
  for (std::size_t i = dims.count; i-- > 0;) {
    const std::uint64_t size = word_at(dims.sizes + 8 * i);
    if (word_at(dims.strides + 8 * i) != stride) return false;
    stride *= size > 1 ? size : 1;
  }
  return true;
}

// Determines which of the two tags is that of a bool: the value with the other tag is a pointer, and pointers are never
// odd.
std::uint32_t boolean_tag(const TorchValue& value) {
  const std::uint32_t known = learnt(s_confirmed.boolean_tag);
  const bool may_be = value.tag == kBooleanTags[0] || value.tag == kBooleanTags[1];
  if (known != 0 || !may_be || (value.payload & 0xff) != 1) return known;
  learn(s_confirmed.boolean_tag, value.tag);
  return value.tag;
}

}  // namespace

void know_undefined_tensor(const void* tensor) noexcept { s_undefined = tensor; }

void refuse_inputs() noexcept {
  if (__atomic_exchange_n(&s_is_refused, true, __ATOMIC_RELAXED)) return;
  say("%s (TRACETOOL_TORCH=ops or stacks hides this line)", kInputsUnknown);
}

bool inputs_are_refused() noexcept { return __atomic_load_n(&s_is_refused, __ATOMIC_RELAXED); }

OperatorInputs::OperatorInputs(const TorchValue* inputs, std::size_t count) noexcept {
  std::size_t last = 0;  // the word of the last head
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t before = used_;
    if (is_there(a_value, &inputs[i], sizeof(inputs[i])) && is_tag(inputs[i].tag) && add(inputs[i])) {
      last = before;
      continue;
    }
    if (inputs_are_refused()) {
      used_ = 0;
      return;
    }
    used_ = before;
    if (used_ > 0) {
      OperatorInput head;
      std::memcpy(&head, &words_[last], sizeof(head));
      head.is_cut = 1;
      std::memcpy(&words_[last], &head, sizeof(head));
    }
    return;
  }
}

bool OperatorInputs::add_word(std::uint64_t word) noexcept {
  if (used_ == sizeof(words_) / sizeof(words_[0])) return false;
  words_[used_++] = word;
  return true;
}

bool OperatorInputs::add_head(const OperatorInput& head) noexcept {
  std::uint64_t bytes;
  std::memcpy(&bytes, &head, sizeof(head));
  return add_word(bytes);
}

bool OperatorInputs::add(const TorchValue& value) noexcept {
  const std::uint32_t boolean = boolean_tag(value);
  const auto* object = reinterpret_cast<const std::byte*>(value.payload);
  const bool is_object = value.payload != 0 && value.payload % 8 == 0;
  if (value.tag == kNoneTag) return add_head(head_of(InputKind::none));
  if (value.tag == kTensorTag && object == s_undefined) return add_head(head_of(InputKind::none));
  if (value.tag == kTensorTag && is_object) return add_tensor(object);
  if (value.tag == kIntegerTag) return add_head(head_of(InputKind::integer)) && add_word(value.payload);
  if (value.tag == kDoubleTag) return add_head(head_of(InputKind::real)) && add_word(value.payload);
  if (boolean != 0 && value.tag == boolean)
    return add_head(head_of(InputKind::boolean, static_cast<std::uint32_t>(value.payload & 1)));
  if (boolean != 0 && value.tag == boolean + kListBehindBoolean && is_object) return add_list(object);
  return add_head(head_of(InputKind::other));
}

bool OperatorInputs::add_tensor(const std::byte* tensor) noexcept {
  const std::uint32_t known = learnt(s_confirmed.sizes_at);
  if (!is_there(a_tensor, tensor, (known != 0 ? known : kSizesAt[2]) + kTypeBehind + sizeof(std::uint16_t)))
    return false;
  const std::size_t sizes_at = sizes_place(tensor);
  Dims dims;
  // Sizes of tensors with symbolic sizes, and of nested tensors, are no numbers.
  if (sizes_at == 0 || !is_tensor(tensor, sizes_at, dims)) return add_head(head_of(InputKind::other));
  std::uint16_t type;
  std::memcpy(&type, tensor + sizes_at + kTypeBehind, sizeof(type));
  if (type >= kMostTypes) return add_head(head_of(InputKind::other));
  const bool contiguous = is_contiguous(dims);
  bool fits = add_head({static_cast<std::uint8_t>(InputKind::tensor), static_cast<std::uint8_t>(type), contiguous, 0,
                        static_cast<std::uint32_t>(dims.count)});
  for (std::size_t i = 0; i < dims.count; ++i) fits = fits && add_word(word_at(dims.sizes + 8 * i));
  for (std::size_t i = 0; i < dims.count && !contiguous; ++i) fits = fits && add_word(word_at(dims.strides + 8 * i));
  return fits;
}

// A list of tensors or of numbers; for other lists only their presence. What does not fit is omitted. The element type
// of an empty list is unknown; most are integers (the sizes of a scalar).
bool OperatorInputs::add_list(const std::byte* list) noexcept {
  if (!is_there(a_list, list, kVectorAt[1] + 3 * sizeof(std::uint64_t))) return false;
  const std::uint64_t first = word_at(list + kVectorAt[0]);
  const std::byte* vector = list + kVectorAt[first == 0 || (first % 8 == 0 && first >= kFirstAddress) ? 0 : 1];
  const std::uint64_t begin = word_at(vector), end = word_at(vector + 8), room = word_at(vector + 16);
  const bool is_vector =
      (begin == 0 ? end == 0 : begin >= kFirstAddress) && begin % 8 == 0 && begin <= end && end <= room;
  if (!is_vector || (end - begin) % sizeof(TorchValue) != 0) return add_head(head_of(InputKind::other));
  const auto* values = reinterpret_cast<const TorchValue*>(begin);
  const std::size_t count = (end - begin) / sizeof(TorchValue), head_at = used_;
  if (count > 0 && !is_there(an_element, values, sizeof(*values))) return false;
  const std::uint32_t tag = count > 0 ? values[0].tag : kIntegerTag, boolean = learnt(s_confirmed.boolean_tag);
  if (tag != kTensorTag && tag != kIntegerTag && tag != kDoubleTag && tag != boolean)
    return add_head(head_of(InputKind::other));
  OperatorInput head = head_of(tag == kTensorTag ? InputKind::tensor_list : InputKind::number_list);
  head.type = tag == boolean ? 1 : tag == kDoubleTag ? 2 : 0;
  if (!add_head(head)) return false;
  for (; head.count < count; ++head.count) {
    const TorchValue& value = values[head.count];
    if (!is_there(an_element, &value, sizeof(value))) return false;
    const std::size_t before = used_;
    const bool fits =
        value.tag == tag &&
        (tag == kTensorTag ? value.payload != 0 && add_tensor(reinterpret_cast<const std::byte*>(value.payload))
                           : add_word(tag == boolean ? value.payload & 1 : value.payload));
    if (fits) continue;
    used_ = before;
    head.is_cut = 1;
    break;
  }
  std::memcpy(&words_[head_at], &head, sizeof(head));
  return true;
}

}  // namespace agent
