#include "cli/analyze/operator_flops.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "cli/model/operator_inputs.h"

namespace cli {
namespace {

struct TensorInput {
  std::vector<std::int64_t> dims;
  std::string_view type, value;
};
using TensorInputs = std::vector<TensorInput>;

// A product, or a sum of products, that fits into 63 bits; else, and of anything that is not positive, nothing.
class CheckedProduct {
 public:
  CheckedProduct& operator*=(std::int64_t factor) {
    if (factor <= 0 || __builtin_mul_overflow(value_, factor, &value_)) fits_ = false;
    return *this;
  }
  CheckedProduct& times(const std::vector<std::int64_t>& factors, std::size_t from = 0) {
    for (std::size_t i = from; i < factors.size(); ++i) *this *= factors[i];
    return *this;
  }
  std::optional<std::int64_t> value() const { return fits_ ? std::optional(value_) : std::nullopt; }

 private:
  std::int64_t value_ = 1;
  bool fits_ = true;
};

MathType math_type_of(std::string_view type) {
  if (type == "c10::BFloat16") return MathType::bf16;
  if (type == "c10::Half") return MathType::fp16;
  if (type == "float") return MathType::fp32;
  if (type == "double") return MathType::fp64;
  return type.starts_with("c10::Float8_") ? MathType::fp8 : MathType::unknown;
}

std::int64_t element_bytes(MathType type) {
  switch (type) {
    case MathType::fp64: return 8;
    case MathType::fp32: return 4;
    case MathType::bf16:
    case MathType::fp16: return 2;
    case MathType::fp8: return 1;
    default: return 0;
  }
}

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t size : dims) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// "[3, 3]"; empty: it is no such list.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  if (!text.starts_with('[') || !text.ends_with(']')) return numbers;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (next < end && *next != ',')) return {};
    numbers.push_back(number);
    at = next;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return numbers;
}

// The sum of the elements of these tensors, in bytes.
std::optional<std::int64_t> moved_bytes(const std::vector<std::pair<std::vector<std::int64_t>, MathType>>& tensors) {
  std::int64_t sum = 0;
  for (const auto& [dims, type] : tensors) {
    CheckedProduct bytes;
    bytes.times(dims) *= element_bytes(type);
    const auto value = bytes.value();
    if (!value || __builtin_add_overflow(sum, *value, &sum)) return {};
  }
  return sum;
}

using MaybeCost = std::optional<OperatorCost>;

// [..., M, K] x [K, N] or [B, K, N]; `added` is a third input that is read.
MaybeCost product_of(const TensorInputs& in, std::size_t a_at, bool transposed, bool batched, const TensorInput* added) {
  if (in.size() < a_at + 2) return {};
  const auto &a = in[a_at].dims, &b = in[a_at + 1].dims;
  const std::size_t rank = batched ? 3 : 2;
  if (b.size() != rank || (transposed ? a.empty() : a.size() != rank)) return {};
  const std::int64_t k = a.back(), n = transposed ? b[0] : b.back();
  if ((transposed ? b[1] : b[rank - 2]) != k || (batched && a[0] != b[0])) return {};
  CheckedProduct flop;
  (flop *= 2).times(a) *= n;
  if (!flop.value()) return {};
  const MathType type = math_type_of(in[a_at].type), other = math_type_of(in[a_at + 1].type);
  std::vector<std::int64_t> out = a;
  out.back() = n;
  OperatorCost cost{*flop.value(), {}, dims_text(a) + " * " + dims_text(b), type == other ? type : MathType::unknown};
  // Of scaled products the output's type is that of the buffer that is given.
  MathType out_type = type;
  if (type == MathType::fp8) {
    out_type = MathType::unknown;
    for (std::size_t i = a_at + 2; i < in.size(); ++i) {
      if (in[i].dims == out) out_type = math_type_of(in[i].type);
    }
  }
  std::vector<std::pair<std::vector<std::int64_t>, MathType>> tensors{{a, type}, {b, other}, {out, out_type}};
  if (added != nullptr && !added->dims.empty()) tensors.push_back({added->dims, math_type_of(added->type)});
  cost.bytes = moved_bytes(tensors);
  return cost;
}

// A convolution whose output has these sizes; `times`: of gradients, how many.
MaybeCost convolution_of(const TensorInput& x, const TensorInput& weight, const std::vector<std::int64_t>& out, std::int64_t times) {
  if (x.dims.size() < 3 || x.dims.size() != weight.dims.size() || out.size() != x.dims.size() || times == 0) return {};
  CheckedProduct flop;
  (flop *= 2 * times).times(out).times(weight.dims, 1);
  if (!flop.value()) return {};
  const MathType type = math_type_of(x.type);
  OperatorCost cost{*flop.value(), {}, dims_text(x.dims) + " * " + dims_text(weight.dims), math_type_of(weight.type) == type ? type : MathType::unknown};
  // Each gradient reads two of the three and writes the third.
  auto bytes = moved_bytes({{x.dims, type}, {weight.dims, type}, {out, type}});
  if (bytes && !__builtin_mul_overflow(*bytes, times, &*bytes)) cost.bytes = bytes;
  return cost;
}

// `first`: where padding stands, followed by strides and dilations.
MaybeCost forward_convolution(const TensorInputs& in, std::size_t first) {
  if (in.size() < first + 3) return {};
  const auto& x = in[0].dims;
  const auto& weight = in[1].dims;
  const auto padding = numbers_in(in[first].value), stride = numbers_in(in[first + 1].value), dilation = numbers_in(in[first + 2].value);
  if (x.size() < 3 || weight.size() != x.size()) return {};
  std::vector<std::int64_t> out{x[0], weight[0]};
  const auto at = [](const std::vector<std::int64_t>& list, std::size_t i) { return list.size() == 1 ? list[0] : i < list.size() ? list[i] : -1; };
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const std::int64_t p = at(padding, i), s = at(stride, i), d = at(dilation, i), size = x[i + 2], kernel = weight[i + 2];
    if (p < 0 || s <= 0 || d <= 0 || size <= 0 || kernel <= 0 || std::max({p, s, d, size, kernel}) > kMost) return {};
    const std::int64_t room = size + 2 * p - d * (kernel - 1) - 1;
    if (room < 0) return {};
    out.push_back(room / s + 1);
  }
  return convolution_of(in[0], in[1], out, 1);
}

// grad_output, input, weight, ..., output_mask.
MaybeCost backward_convolution(const TensorInputs& in) {
  if (in.size() < 11) return {};
  const std::string_view mask = in[10].value;
  if (!mask.starts_with("[True") && !mask.starts_with("[False")) return {};
  const bool of_input = mask.starts_with("[True"), of_weight = mask.find(", True") == mask.find(',') && mask.find(',') != mask.npos;
  return convolution_of(in[1], in[2], in[0].dims, int{of_input} + int{of_weight});
}

// Of older PyTorch, which does not tell the sizes of the input: what it moves is not known.
MaybeCost input_gradient_of(const TensorInput& grad_output, const TensorInput& weight) {
  MaybeCost cost = convolution_of(grad_output, weight, grad_output.dims, 1);
  if (cost) cost->bytes.reset();
  return cost;
}

// B, heads and length stand in this order where `heads_first`, else B, length, heads.
MaybeCost attention_of(const TensorInputs& in, std::size_t q_at, bool heads_first, bool backward, std::optional<bool> causal) {
  if (in.size() < q_at + 3 || !causal) return {};
  const auto &q = in[q_at].dims, &k = in[q_at + 1].dims, &v = in[q_at + 2].dims;
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[0] != k[0] || q[3] != k[3] || v[3] != q[3]) return {};
  const std::size_t length = heads_first ? 2 : 1;
  CheckedProduct flop;
  // Of half of 4 x 2.5 the half is 5.
  (flop *= (backward ? 10 : 4) / (*causal ? 2 : 1)).times(q) *= k[length];
  if (!flop.value()) return {};
  const MathType type = math_type_of(in[q_at].type);
  OperatorCost cost{*flop.value(), {}, dims_text(q) + " * " + dims_text(k) + (*causal ? " causal" : ""), type};
  // Forward: q, k, v and the output; backward also the output's gradient, and those of q, k and v.
  const auto once = moved_bytes({{q, type}, {k, type}, {v, type}, {q, type}});
  if (once && *once <= std::numeric_limits<std::int64_t>::max() / 2) cost.bytes = backward ? 2 * *once : *once;
  return cost;
}

std::optional<bool> yes_no(const TensorInputs& in, std::size_t at) {
  if (at >= in.size()) return {};
  if (in[at].value == "True" || in[at].value == "true" || in[at].value == "1") return true;
  if (in[at].value == "False" || in[at].value == "false" || in[at].value == "0") return false;
  return {};
}

struct KnownOperator {
  std::string_view name;
  MaybeCost (*cost)(const TensorInputs& in);
};

constexpr KnownOperator kKnownOperators[] = {
    {"aten::mm", [](const TensorInputs& in) { return product_of(in, 0, false, false, nullptr); }},
    {"aten::bmm", [](const TensorInputs& in) { return product_of(in, 0, false, true, nullptr); }},
    {"aten::addmm", [](const TensorInputs& in) { return product_of(in, 1, false, false, in.data()); }},
    {"aten::baddbmm", [](const TensorInputs& in) { return product_of(in, 1, false, true, in.data()); }},
    {"aten::linear", [](const TensorInputs& in) { return product_of(in, 0, true, false, in.size() > 2 ? &in[2] : nullptr); }},
    {"aten::_scaled_mm", [](const TensorInputs& in) { return product_of(in, 0, false, false, nullptr); }},
    {"aten::cudnn_convolution", [](const TensorInputs& in) { return forward_convolution(in, 2); }},
    {"aten::miopen_convolution", [](const TensorInputs& in) { return forward_convolution(in, 3); }},
    {"aten::convolution_backward", backward_convolution},
    {"aten::cudnn_convolution_backward_input",
     [](const TensorInputs& in) { return in.size() < 3 ? MaybeCost() : input_gradient_of(in[1], in[2]); }},
    {"aten::_flash_attention_forward", [](const TensorInputs& in) { return attention_of(in, 0, false, false, yes_no(in, 8)); }},
    {"aten::_flash_attention_backward", [](const TensorInputs& in) { return attention_of(in, 1, false, true, yes_no(in, 11)); }},
    {"aten::_scaled_dot_product_flash_attention", [](const TensorInputs& in) { return attention_of(in, 0, true, false, yes_no(in, 4)); }},
    {"aten::_scaled_dot_product_cudnn_attention", [](const TensorInputs& in) { return attention_of(in, 0, true, false, yes_no(in, 6)); }},
    {"aten::_efficient_attention_forward", [](const TensorInputs& in) { return attention_of(in, 0, false, false, yes_no(in, 9)); }},
};

const KnownOperator* find_known(std::string_view name) {
  const auto known = std::find_if(std::begin(kKnownOperators), std::end(kKnownOperators), [&](const KnownOperator& each) { return each.name == name; });
  return known == std::end(kKnownOperators) ? nullptr : known;
}

}  // namespace

bool is_costed(std::string_view name) { return find_known(name) != nullptr; }

std::optional<OperatorCost> cost_of(const Catalog& catalog, std::string_view name, OperatorInputId inputs) {
  const KnownOperator* const known = find_known(name);
  if (known == nullptr || inputs == 0) return {};
  TensorInputs in;
  for (const OperatorInput& input : inputs_of(catalog, inputs)) {
    in.push_back({dims_of(catalog, input.dims), catalog.strings[input.type], catalog.strings[input.value]});
  }
  return known->cost(in);
}

MathType type_of_float(std::string_view kernel, const GpuPeaks* gpu) {
  if (gpu != nullptr && gpu->tf32 == 0) return MathType::fp32;
  const auto has_any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return kernel.find(word) != kernel.npos; });
  };
  if (has_any({"tf32", "TF32", "tensorop_s1688"})) return MathType::tf32;
  return has_any({"sgemm", "ffma", "simt"}) ? MathType::fp32 : MathType::unknown;
}

}  // namespace cli
