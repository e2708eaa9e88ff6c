#include "cli/formats/export/inputs_text.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/trace/operator_inputs.h"

namespace cli {
namespace {

template <typename List, typename Text>
std::string json_list(const List& list, Text&& text) {
  std::string out = "[";
  for (const auto& value : list) {
    if (out.size() > 1) out += ',';
    out += text(value);
  }
  return out += ']';
}

bool has(const OperatorInput& input, DimsId OperatorInput::* which, const std::vector<OperatorInput>& elements) {
  bool any = input.*which != 0;
  for (const OperatorInput& element : elements) any |= element.*which != 0;
  return any;
}

}  // namespace

InputsText::InputsText(const Catalog& catalog, OperatorInputId id) {
  const std::vector<OperatorInput> inputs = inputs_of(catalog, id);
  const auto of_dims = [&](DimsId dims) {
    return json_list(dims_of(catalog, dims), [](std::int64_t size) { return std::to_string(size); });
  };
  const auto numbers = [&](DimsId OperatorInput::* which, std::string& out) {
    bool any = false;
    std::string text = json_list(inputs, [&](const OperatorInput& input) {
      const std::vector<OperatorInput> elements = inputs_of(catalog, input.elements);
      any |= has(input, which, elements);
      if (input.elements == 0) return of_dims(input.*which);
      return json_list(elements, [&](const OperatorInput& element) { return of_dims(element.*which); });
    });
    if (any) out = std::move(text);
  };
  const auto words = [&](StringId OperatorInput::* which, std::string& out) {
    bool any = false;
    std::string text = json_list(inputs, [&](const OperatorInput& input) {
      any |= input.*which != 0;
      return json_quoted(catalog.strings[input.*which]);
    });
    if (any) out = std::move(text);
  };
  numbers(&OperatorInput::dims, dims);
  numbers(&OperatorInput::strides, strides);
  words(&OperatorInput::type, types);
  words(&OperatorInput::value, values);
}

}  // namespace cli
