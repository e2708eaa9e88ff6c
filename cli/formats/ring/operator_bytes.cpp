#include "cli/formats/ring/operator_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/operator_inputs.h"
#include "common/records/operators.h"

namespace cli::ring {

namespace {

using trace::InputKind;

// Names of c10::ScalarType's numbers, as in caffe2::TypeMeta::name(). "" if it is no tensor, or its type has no name
// here.
constexpr std::array<std::string_view, 46> kTypes = {"unsigned char",
                                                     "signed char",
                                                     "short int",
                                                     "int",
                                                     "long int",
                                                     "c10::Half",
                                                     "float",
                                                     "double",
                                                     "c10::complex<c10::Half>",
                                                     "c10::complex<float>",
                                                     "c10::complex<double>",
                                                     "bool",
                                                     "c10::qint8",
                                                     "c10::quint8",
                                                     "c10::qint32",
                                                     "c10::BFloat16",
                                                     "c10::quint4x2",
                                                     "c10::quint2x4",
                                                     "c10::bits1x8",
                                                     "c10::bits2x4",
                                                     "c10::bits4x2",
                                                     "c10::bits8",
                                                     "c10::bits16",
                                                     "c10::Float8_e5m2",
                                                     "c10::Float8_e4m3fn",
                                                     "c10::Float8_e5m2fnuz",
                                                     "c10::Float8_e4m3fnuz",
                                                     "short unsigned int",
                                                     "unsigned int",
                                                     "long unsigned int",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "",
                                                     "c10::Float8_e8m0fnu",
                                                     "c10::Float4_e2m1fn_x2"};

// Writes a real number as PyTorch does: 1. for 1.
std::string real_text(double value) {
  constexpr double kMostWhole = 1e10;
  if (std::isfinite(value) && std::abs(value) < kMostWhole && value == std::trunc(value))
    return fmt::format("{:.0f}.", value);
  return fmt::format("{:.17g}", value);
}

std::string bool_text(bool value) { return value ? "True" : "False"; }

class InputBytes {
 public:
  InputBytes(std::string_view bytes, Catalog& catalog) : bytes_(bytes), catalog_(catalog) {}

  std::vector<OperatorInput> inputs() {
    std::vector<OperatorInput> found;
    while (found.size() < kMostInputs) {
      const auto head = take<trace::OperatorInput>();
      if (!head) break;
      OperatorInput input;
      if (!fill(*head, input)) break;
      found.push_back(input);
    }
    return found;
  }

 private:
  template <typename T>
  std::optional<T> take() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }

  StringId word(std::string_view text) { return catalog_.strings.intern(text); }

  bool numbers(std::size_t count, std::vector<std::int64_t>& numbers) {
    if (count > bytes_.size() / sizeof(std::int64_t)) return false;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(*take<std::int64_t>());
    return true;
  }

  bool tensor(const trace::OperatorInput& head, OperatorInput& input) {
    std::vector<std::int64_t> sizes, strides;
    if (head.count > kMostDims || !numbers(head.count, sizes) ||
        (head.is_contiguous == 0 && !numbers(head.count, strides)))
      return false;
    if (head.is_contiguous != 0) {
      strides.resize(sizes.size());
      std::uint64_t stride = 1;
      for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = static_cast<std::int64_t>(stride);
        stride *= static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1));
      }
    }
    input.type = word(head.type < kTypes.size() ? kTypes[head.type] : "");
    input.dims = intern_dims(catalog_, sizes);
    input.strides = intern_dims(catalog_, strides);
    return true;
  }

  bool tensors(const trace::OperatorInput& head, OperatorInput& input) {
    std::vector<OperatorInput> elements;
    for (std::uint32_t i = 0; i < head.count && i < kMostInputs; ++i) {
      const auto each = take<trace::OperatorInput>();
      OperatorInput element;
      if (!each || each->kind != static_cast<std::uint8_t>(InputKind::tensor) || !tensor(*each, element)) return false;
      element.type = 0;
      elements.push_back(element);
    }
    input.type = word("TensorList");
    input.elements = intern_inputs(catalog_, elements);
    return true;
  }

  bool scalar(OperatorInput& input, std::string_view text) {
    input.type = word("Scalar");
    input.value = word(text);
    return true;
  }

  bool number_list(const trace::OperatorInput& head, OperatorInput& input) {
    std::vector<std::int64_t> values;
    if (!numbers(head.count, values)) return false;
    std::string text = "[";
    for (const std::int64_t value : values) {
      if (text.size() > 1) text += ", ";
      text += head.type == 1   ? bool_text(value != 0)
              : head.type == 2 ? real_text(std::bit_cast<double>(value))
                               : std::to_string(value);
    }
    input.type = word("ScalarList");
    input.value = word(text + ']');
    return true;
  }

  bool fill(const trace::OperatorInput& head, OperatorInput& input) {
    switch (static_cast<InputKind>(head.kind)) {
      case InputKind::tensor:
        return tensor(head, input);
      case InputKind::tensor_list:
        return tensors(head, input);
      case InputKind::number_list:
        return number_list(head, input);
      case InputKind::integer: {
        const auto value = take<std::int64_t>();
        return value && scalar(input, std::to_string(*value));
      }
      case InputKind::real: {
        const auto value = take<double>();
        return value && scalar(input, real_text(*value));
      }
      case InputKind::boolean:
        return scalar(input, bool_text(head.count != 0));
      default:
        return true;
    }
  }

  std::string_view bytes_;
  Catalog& catalog_;
};

}  // namespace

OperatorInputId read_operator_inputs(std::string_view bytes, Catalog& catalog) {
  return intern_inputs(catalog, InputBytes(bytes, catalog).inputs());
}

}  // namespace cli::ring
