#include "cli/answers/tables/operator_flops.h"

#include <charconv>
#include <iterator>

#include "cli/trace/operator_inputs.h"

namespace cli {

namespace {

struct TensorInput {
  std::vector<std::int64_t> dims;
  std::string_view type, value;
};
using TensorInputs = std::vector<TensorInput>;

// A product, or a sum of products, within 63 bits. Empty on overflow or if a factor is not positive.
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
  if (type == "c10::Float4_e2m1fn_x2") return MathType::fp4;
  return type.starts_with("c10::Float8_") ? MathType::fp8 : MathType::unknown;
}

// Numbers per element: a byte contains two FP4 numbers.
std::int64_t packed_numbers(MathType type) { return type == MathType::fp4 ? 2 : 1; }

std::int64_t element_bytes(MathType type) {
  switch (type) {
    case MathType::fp64:
      return 8;
    case MathType::fp32:
      return 4;
    case MathType::bf16:
    case MathType::fp16:
      return 2;
    case MathType::fp4:
    case MathType::fp8:
      return 1;
    default:
      return 0;
  }
}

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t size : dims) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// Parses "[3, 3]"; empty if the text is not such a list.
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

// Returns the total size of these tensors in bytes.
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

// For scaled products, the output has the type of the given buffer.
MathType output_type(const TensorInputs& in, std::size_t from, const std::vector<std::int64_t>& out,
                     MathType of_inputs) {
  if (of_inputs != MathType::fp8 && of_inputs != MathType::fp4) return of_inputs;
  MathType type = MathType::unknown;
  for (std::size_t i = from; i < in.size(); ++i) {
    if (in[i].dims == out) type = math_type_of(in[i].type);
  }
  return type;
}

// Cost of the product of in[a_at] and the next input. `products` is 2 x the number of multiplications. `k` are the
// sizes of the summed dimension in each.
MaybeCost product_cost(const TensorInputs& in, std::size_t a_at, CheckedProduct products, std::int64_t a_k,
                       std::int64_t b_k, const std::vector<std::int64_t>& out, const TensorInput* added) {
  const TensorInput &a = in[a_at], &b = in[a_at + 1];
  const MathType type = math_type_of(a.type), other = math_type_of(b.type);
  std::int64_t k = 0, other_k = 0;
  if (__builtin_mul_overflow(a_k, packed_numbers(type), &k) ||
      __builtin_mul_overflow(b_k, packed_numbers(other), &other_k) || k != other_k)
    return {};
  products *= packed_numbers(type);
  if (!products.value()) return {};
  OperatorCost cost{
      *products.value(), {}, dims_text(a.dims) + " * " + dims_text(b.dims), type == other ? type : MathType::unknown};
  std::vector<std::pair<std::vector<std::int64_t>, MathType>> tensors{
      {a.dims, type}, {b.dims, other}, {out, output_type(in, a_at + 2, out, type)}};
  if (added != nullptr && !added->dims.empty()) tensors.push_back({added->dims, math_type_of(added->type)});
  cost.bytes = moved_bytes(tensors);
  return cost;
}

// [..., M, K] x [K, N] or [B, K, N]; `added` is a third input that is read.
MaybeCost product_of(const TensorInputs& in, std::size_t a_at, bool transposed, bool batched,
                     const TensorInput* added) {
  if (in.size() < a_at + 2) return {};
  const auto &a = in[a_at].dims, &b = in[a_at + 1].dims;
  const std::size_t rank = batched ? 3 : 2;
  if (b.size() != rank || (transposed ? a.empty() : a.size() != rank) || (batched && a[0] != b[0])) return {};
  std::vector<std::int64_t> out = a;
  out.back() = transposed ? b[0] : b.back();
  CheckedProduct products;
  (products *= 2).times(a) *= out.back();
  return product_cost(in, a_at, products, a.back(), transposed ? b[1] : b[rank - 2], out, added);
}

// [M, K] x [K], or [K] x [K].
MaybeCost vector_product_of(const TensorInputs& in, std::size_t a_at, const TensorInput* added) {
  if (in.size() < a_at + 2) return {};
  const auto &a = in[a_at].dims, &b = in[a_at + 1].dims;
  if (a.empty() || a.size() > 2 || b.size() != 1) return {};
  CheckedProduct products;
  (products *= 2).times(a);
  return product_cost(in, a_at, products, a.back(), b[0], std::vector<std::int64_t>(a.begin(), a.end() - 1), added);
}

// A batch of products that are summed.
MaybeCost summed_product_of(const TensorInputs& in) {
  MaybeCost cost = product_of(in, 1, false, true, nullptr);
  if (!cost) return {};
  const auto &a = in[1].dims, &b = in[2].dims;
  const MathType type = math_type_of(in[1].type);
  cost->bytes = moved_bytes(
      {{in[0].dims, math_type_of(in[0].type)}, {a, type}, {b, math_type_of(in[2].type)}, {{a[1], b[2]}, type}});
  return cost;
}

// Groups of rows of [M, K] by [G, K, N], groups of columns of [K, N] by [G, M, K], or groups along the K of both.
// `groups_at` is the input with the ends of the groups.
MaybeCost grouped_product_of(const TensorInputs& in, std::size_t groups_at) {
  if (in.size() < 2) return {};
  const auto &a = in[0].dims, &b = in[1].dims;
  const bool rows = a.size() == 2 && b.size() == 3, columns = a.size() == 3 && b.size() == 2,
             depth = a.size() == 2 && b.size() == 2;
  if (a.size() == 3 && b.size() == 3) return product_of(in, 0, false, true, nullptr);
  if (!rows && !columns && !depth) return {};
  const std::int64_t m = a[a.size() - 2], n = b.back();
  std::vector<std::int64_t> out{m, n};
  if (depth) {
    const bool known = groups_at < in.size() && in[groups_at].dims.size() == 1;
    out.insert(out.begin(), known ? in[groups_at].dims[0] : 0);  // 0: the number of bytes is unknown
  }
  CheckedProduct products;
  (((products *= 2) *= m) *= a.back()) *= n;
  return product_cost(in, 0, products, a.back(), b[b.size() - 2], out, nullptr);
}

// Each element of `visited` is multiplied by the weights: the output of a convolution, the input of a transposed one.
// `times` is the number of gradients.
MaybeCost convolution_of(const TensorInput& x, const TensorInput& weight, const std::vector<std::int64_t>& out,
                         bool transposed, std::int64_t times) {
  if (x.dims.size() < 3 || x.dims.size() != weight.dims.size() || out.size() != x.dims.size() || times == 0) return {};
  CheckedProduct flop;
  (flop *= 2 * times).times(transposed ? x.dims : out).times(weight.dims, 1);
  if (!flop.value()) return {};
  const MathType type = math_type_of(x.type);
  OperatorCost cost{*flop.value(),
                    {},
                    dims_text(x.dims) + " * " + dims_text(weight.dims),
                    math_type_of(weight.type) == type ? type : MathType::unknown};
  // Each gradient reads two of the three and writes the third.
  auto bytes = moved_bytes({{x.dims, type}, {weight.dims, type}, {out, type}});
  if (bytes && !__builtin_mul_overflow(*bytes, times, &*bytes)) cost.bytes = bytes;
  return cost;
}

std::optional<bool> yes_no(const TensorInputs& in, std::size_t at) {
  if (at >= in.size()) return {};
  if (in[at].value == "True" || in[at].value == "true" || in[at].value == "1") return true;
  if (in[at].value == "False" || in[at].value == "false" || in[at].value == "0") return false;
  return {};
}

std::optional<std::int64_t> integer(const TensorInputs& in, std::size_t at) {
  if (at >= in.size()) return {};
  const std::string_view text = in[at].value;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// A forward convolution and the positions of its geometry arguments.
struct ConvolutionOperator {
  std::string_view name;
  bool transposed;
  std::size_t padding, stride, dilation;
  std::size_t output_padding = 0, groups = 0;  // transposed convolutions only
};

constexpr ConvolutionOperator kConvolutions[] = {
    {"aten::cudnn_convolution", false, 2, 3, 4},
    {"aten::cudnn_convolution_relu", false, 4, 3, 5},
    {"aten::cudnn_convolution_add_relu", false, 6, 5, 7},
    {"aten::cudnn_convolution_transpose", true, 2, 4, 5, 3, 6},
    {"aten::miopen_convolution", false, 3, 4, 5},
    {"aten::miopen_depthwise_convolution", false, 3, 4, 5},
    {"aten::miopen_convolution_transpose", true, 3, 5, 6, 4, 7},
    {"aten::_conv_depthwise2d", false, 5, 4, 6},
};

MaybeCost forward_convolution(const TensorInputs& in, const ConvolutionOperator& at) {
  const bool transposed = at.transposed;
  if (in.size() <= std::max({at.padding, at.stride, at.dilation, at.output_padding, at.groups})) return {};
  const auto& x = in[0].dims;
  const auto& weight = in[1].dims;
  if (x.size() < 3 || weight.size() != x.size()) return {};
  const auto list = [&](std::size_t place) { return numbers_in(in[place].value); };
  const auto paddings = list(at.padding), strides = list(at.stride), dilations = list(at.dilation);
  const auto output_paddings = transposed ? list(at.output_padding) : std::vector<std::int64_t>{0};
  const auto groups = transposed ? integer(in, at.groups) : std::optional<std::int64_t>(1);
  const auto each = [](const std::vector<std::int64_t>& numbers, std::size_t i) {
    return numbers.size() == 1 ? numbers[0] : i < numbers.size() ? numbers[i] : -1;
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (!groups || *groups <= 0 || *groups > kMost || weight[1] > kMost) return {};
  std::vector<std::int64_t> out{x[0], transposed ? weight[1] * *groups : weight[0]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const std::int64_t p = each(paddings, i), s = each(strides, i), d = each(dilations, i),
                       o = each(output_paddings, i), size = x[i + 2], kernel = weight[i + 2];
    if (p < 0 || s <= 0 || d <= 0 || o < 0 || size <= 0 || kernel <= 0 ||
        std::max({p, s, d, o, size, kernel}) > kMost / 2)
      return {};
    const std::int64_t reach = d * (kernel - 1);
    const std::int64_t length = transposed ? (size - 1) * s - 2 * p + reach + o + 1 : size + 2 * p - reach - 1;
    if (length < (transposed ? 1 : 0)) return {};
    out.push_back(transposed ? length : length / s + 1);
  }
  return convolution_of(in[0], in[1], out, transposed, 1);
}

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask.
MaybeCost backward_convolution(const TensorInputs& in) {
  if (in.size() < 11) return {};
  const std::string_view mask = in[10].value;
  if (!mask.starts_with("[True") && !mask.starts_with("[False")) return {};
  const bool of_input = mask.starts_with("[True"),
             of_weight = mask.find(", True") == mask.find(',') && mask.find(',') != mask.npos;
  return convolution_of(in[1], in[2], in[0].dims, yes_no(in, 7).value_or(false), int{of_input} + int{of_weight});
}

// Older PyTorch does not record the input sizes, so the bytes moved are unknown.
MaybeCost input_gradient_of(const TensorInput& grad_output, const TensorInput& weight) {
  MaybeCost cost = convolution_of(grad_output, weight, grad_output.dims, false, 1);
  if (cost) cost->bytes.reset();
  return cost;
}

// Positions of an attention operator's arguments; 0 if it lacks the argument.
struct AttentionOperator {
  std::string_view name;
  bool backward;
  bool heads_first;    // tensors are B, heads, length, D; else B, length, heads, D
  std::size_t query;   // followed by key and value
  std::size_t causal;  // a bool; CustomMaskType for memory-efficient attention
  MaskCorner corner;
  std::size_t ends = 0;     // ends of the sequences in packed tensors (cum_seq_q), followed by those of the keys
  std::size_t longest = 0;  // longest sequence (max_q), followed by that of the keys
  std::size_t window = 0;   // left side, followed by the right side
  bool has_mask_type = false;
  std::array<std::size_t, 2> cached = {};  // lengths and pages of a KV cache; the profile does not contain their values
  std::size_t band = 0;                    // a window that is not taken into account
};

constexpr AttentionOperator kAttention[] = {
    // SDPA does not use FlashAttention for is_causal if the numbers of queries and keys differ (sdp_utils_cpp.h), but
    // the operators below it accept this.
    {"aten::_scaled_dot_product_flash_attention", false, true, 0, 4, MaskCorner::bottom_right},
    {"aten::_scaled_dot_product_flash_attention_backward", true, true, 1, 11, MaskCorner::bottom_right, 6, 8},
    {"aten::_flash_attention_forward", false, false, 0, 8, MaskCorner::bottom_right, 3, 5, 11, false, {13, 15}},
    {"aten::_flash_attention_backward", true, false, 1, 11, MaskCorner::bottom_right, 6, 8, 15},
    // SDPA's is_causal becomes CausalFromTopLeft (transformers/cuda/attention.cu).
    {"aten::_scaled_dot_product_efficient_attention", false, true, 0, 6, MaskCorner::top_left},
    {"aten::_scaled_dot_product_efficient_attention_backward", true, true, 1, 11, MaskCorner::top_left},
    {"aten::_efficient_attention_forward", false, false, 0, 9, MaskCorner::top_left, 4, 6, 0, true, {12, 0}, 13},
    {"aten::_efficient_attention_backward", true, false, 1, 14, MaskCorner::top_left, 6, 8, 0, true, {}, 18},
    // set_causal_mask() of cuDNN's frontend, which is top-left (native/cudnn/MHA.cpp).
    {"aten::_scaled_dot_product_cudnn_attention", false, true, 0, 6, MaskCorner::top_left},
    {"aten::_scaled_dot_product_cudnn_attention_backward", true, true, 1, 14, MaskCorner::top_left, 9, 11},
    {"aten::_cudnn_attention_forward", false, true, 0, 10, MaskCorner::top_left, 4, 6, 0, false, {13, 14}},
    {"aten::_cudnn_attention_backward", true, true, 1, 14, MaskCorner::top_left, 9, 11},
    // FlashAttention 2's own: "bottom right corner of the attention matrix" (its README, 2.1).
    {"flash_attn::_flash_attn_forward", false, false, 0, 5, MaskCorner::bottom_right, 0, 0, 6},
    {"flash_attn::_flash_attn_backward", true, false, 1, 11, MaskCorner::bottom_right, 0, 0, 12},
    {"flash_attn::_flash_attn_varlen_forward", false, false, 0, 9, MaskCorner::bottom_right, 3, 5, 10},
    {"flash_attn::_flash_attn_varlen_backward", true, false, 1, 15, MaskCorner::bottom_right, 9, 11, 16},
};

std::optional<AttentionMask> mask_of(const TensorInputs& in, const AttentionOperator& op) {
  AttentionMask mask;
  mask.corner = op.corner;
  if (op.has_mask_type) {
    const auto type = integer(in, op.causal);
    if (!type || *type < 0 || *type > 2) return {};
    mask.causal = *type != 0;
    if (*type == 2) mask.corner = MaskCorner::bottom_right;
  } else {
    const auto causal = yes_no(in, op.causal);
    if (!causal) return {};
    mask.causal = *causal;
  }
  if (op.window > 0) {
    mask.left = integer(in, op.window).value_or(-1);
    mask.right = integer(in, op.window + 1).value_or(-1);
  }
  return mask;
}

bool has_sizes(const TensorInputs& in, std::size_t at) { return at > 0 && at < in.size() && !in[at].dims.empty(); }
bool is_cached(const TensorInputs& in, const AttentionOperator& op) {
  return has_sizes(in, op.cached[0]) || has_sizes(in, op.cached[1]);
}
bool is_packed(const TensorInputs& in, const AttentionOperator& op) {
  return has_sizes(in, op.ends) && in[op.ends].dims.size() == 1 && in[op.ends].dims[0] > 1;
}

// For packed sequences, the inputs contain the sum of the lengths, the number of sequences and the longest one. This is
// sufficient if all have the same length.
std::optional<std::int64_t> packed_pairs_twice(const TensorInputs& in, const AttentionOperator& op,
                                               const AttentionMask& mask, std::int64_t queries, std::int64_t keys) {
  const std::int64_t sequences = in[op.ends].dims[0] - 1;
  if (sequences == 1) return attended_pairs_twice(queries, keys, mask);
  const std::int64_t longest = integer(in, op.longest).value_or(0),
                     longest_key = integer(in, op.longest + 1).value_or(0);
  const auto alike = [&](std::int64_t total, std::int64_t most) {
    return most > 0 && total % sequences == 0 && total / sequences == most;
  };
  CheckedProduct pairs;
  if (alike(queries, longest) && alike(keys, longest_key)) {
    (pairs *= sequences) *= attended_pairs_twice(longest, longest_key, mask);
    return pairs.value();
  }
  // Every query sees every key of its sequence. This also holds for a single query with a bottom-right mask.
  const bool no_window = mask.left < 0 && mask.right < 0;
  const bool all = no_window && (!mask.causal || (mask.corner == MaskCorner::bottom_right && longest == 1));
  if (!all || !(alike(queries, longest) || alike(keys, longest_key))) return {};
  if (alike(queries, longest)) {
    ((pairs *= 2) *= longest) *= keys;
  } else {
    ((pairs *= 2) *= longest_key) *= queries;
  }
  return pairs.value();
}

constexpr std::int64_t kLongest = std::int64_t{1} << 30;

MaybeCost attention_of(const TensorInputs& in, const AttentionOperator& op) {
  if (in.size() < op.query + 3) return {};
  const auto mask = mask_of(in, op);
  const TensorInput &query = in[op.query], &key = in[op.query + 1], &value = in[op.query + 2];
  const auto &q = query.dims, &k = key.dims, &v = value.dims;
  const std::size_t rank = q.size();
  if (!mask || (rank != 3 && rank != 4) || k.size() != rank || v.size() != rank || is_cached(in, op)) return {};
  if (op.band > 0 && integer(in, op.band).value_or(0) > 0) return {};
  // Packed tensors are [total, heads, D], for memory-efficient attention [1, total, heads, D].
  const bool packed = is_packed(in, op);
  if (rank == 3 && !packed) return {};
  const std::size_t length = rank == 3 ? 0 : op.heads_first ? 2 : 1, heads = rank == 3 ? 1 : op.heads_first ? 1 : 2;
  const std::int64_t batch = rank == 3 ? 1 : q[0], width = q.back(), value_width = v.back();
  const bool fits = k.back() == width && v[length] == k[length] && v[heads] == k[heads] && k[heads] > 0 &&
                    q[heads] % k[heads] == 0 && (rank == 3 || (k[0] == batch && v[0] == batch)) && q[length] > 0 &&
                    k[length] > 0 && q[length] <= kLongest && k[length] <= kLongest;
  if (!fits || (packed && rank == 4 && batch != 1)) return {};
  const auto pairs = packed ? packed_pairs_twice(in, op, *mask, q[length], k[length])
                            : std::optional(attended_pairs_twice(q[length], k[length], *mask));
  std::int64_t widths = 0, values = 0;
  if (!pairs || __builtin_mul_overflow(width, op.backward ? 3 : 1, &widths) ||
      __builtin_mul_overflow(value_width, op.backward ? 2 : 1, &values) ||
      __builtin_add_overflow(widths, values, &widths))
    return {};
  CheckedProduct flop;
  (((flop *= batch) *= q[heads]) *= widths) *= *pairs;
  if (!flop.value()) return {};
  const MathType type = math_type_of(query.type);
  OperatorCost cost{*flop.value(),
                    {},
                    dims_text(q) + " * " + dims_text(k) + (mask->causal ? " causal" : "") +
                        (mask->left >= 0 ? " window " + std::to_string(mask->left) : ""),
                    type};
  // Forward: q, k, v and the output. Backward: also the gradients of the output, q, k and v.
  std::vector<std::int64_t> out = q;
  out.back() = value_width;
  const auto once = moved_bytes({{q, type}, {k, type}, {v, type}, {out, type}});
  if (once && *once <= std::numeric_limits<std::int64_t>::max() / 2) cost.bytes = op.backward ? 2 * *once : *once;
  return cost;
}

// Null if the table does not contain the operator.
template <typename Operator, std::size_t count>
const Operator* find_in(const Operator (&table)[count], std::string_view name) {
  const auto known = std::find_if(table, table + count, [&](const Operator& each) { return each.name == name; });
  return known == table + count ? nullptr : known;
}

struct KnownOperator {
  std::string_view name;
  MaybeCost (*cost)(const TensorInputs& in);
};

constexpr KnownOperator kKnownOperators[] = {
    {"aten::mm", [](const TensorInputs& in) { return product_of(in, 0, false, false, nullptr); }},
    {"aten::bmm", [](const TensorInputs& in) { return product_of(in, 0, false, true, nullptr); }},
    {"aten::addmm", [](const TensorInputs& in) { return product_of(in, 1, false, false, in.data()); }},
    {"aten::addmm_", [](const TensorInputs& in) { return product_of(in, 1, false, false, in.data()); }},
    {"aten::_addmm_activation", [](const TensorInputs& in) { return product_of(in, 1, false, false, in.data()); }},
    {"aten::baddbmm", [](const TensorInputs& in) { return product_of(in, 1, false, true, in.data()); }},
    {"aten::baddbmm_", [](const TensorInputs& in) { return product_of(in, 1, false, true, in.data()); }},
    {"aten::addbmm", summed_product_of},
    {"aten::addbmm_", summed_product_of},
    {"aten::linear",
     [](const TensorInputs& in) { return product_of(in, 0, true, false, in.size() > 2 ? &in[2] : nullptr); }},
    {"aten::mv", [](const TensorInputs& in) { return vector_product_of(in, 0, nullptr); }},
    {"aten::addmv", [](const TensorInputs& in) { return vector_product_of(in, 1, in.data()); }},
    {"aten::addmv_", [](const TensorInputs& in) { return vector_product_of(in, 1, in.data()); }},
    {"aten::dot", [](const TensorInputs& in) { return vector_product_of(in, 0, nullptr); }},
    {"aten::_scaled_mm", [](const TensorInputs& in) { return product_of(in, 0, false, false, nullptr); }},
    {"aten::_scaled_mm_v2", [](const TensorInputs& in) { return product_of(in, 0, false, false, nullptr); }},
    {"aten::_grouped_mm", [](const TensorInputs& in) { return grouped_product_of(in, 2); }},
    {"aten::_scaled_grouped_mm", [](const TensorInputs& in) { return grouped_product_of(in, 4); }},
    {"aten::_scaled_grouped_mm_v2", [](const TensorInputs& in) { return grouped_product_of(in, 8); }},
    {"aten::convolution_backward", backward_convolution},
    {"aten::cudnn_convolution_backward_input",
     [](const TensorInputs& in) { return in.size() < 3 ? MaybeCost() : input_gradient_of(in[1], in[2]); }},
};

TensorInputs tensor_inputs(const Catalog& catalog, OperatorInputId inputs) {
  TensorInputs in;
  for (const OperatorInput& input : inputs_of(catalog, inputs)) {
    in.push_back({dims_of(catalog, input.dims), catalog.strings[input.type], catalog.strings[input.value]});
  }
  return in;
}

}  // namespace

std::int64_t attended_pairs_twice(std::int64_t queries, std::int64_t keys, const AttentionMask& mask) {
  const bool no_window = mask.left < 0 && (mask.right < 0 || mask.causal);
  if (mask.causal && no_window && queries == keys) return queries * keys;
  // Twice the number of pairs of query i with keys up to i + `beyond`, over all queries. The count per query is first
  // 0, then increases by one, then is all keys.
  const auto up_to = [&](std::int64_t beyond) {
    const std::int64_t none = std::clamp<std::int64_t>(-beyond, 0, queries),
                       all_from = std::clamp<std::int64_t>(keys - beyond - 1, none, queries);
    const std::int64_t first = none + beyond + 1, last = all_from + beyond;
    return (all_from > none ? (first + last) * (all_from - none) : 0) + 2 * keys * (queries - all_from);
  };
  const std::int64_t diagonal = mask.corner == MaskCorner::bottom_right ? keys - queries : 0;
  const std::int64_t most = queries + keys;  // a larger window has no effect
  const std::int64_t right = mask.causal ? 0 : mask.right;
  const std::int64_t twice = right < 0 ? 2 * queries * keys : up_to(diagonal + std::min(right, most));
  return twice - (mask.left < 0 ? 0 : up_to(diagonal - std::min(mask.left, most) - 1));
}

bool is_costed(std::string_view name) {
  return find_in(kKnownOperators, name) || find_in(kConvolutions, name) || find_in(kAttention, name);
}

std::optional<OperatorCost> cost_of(const Catalog& catalog, std::string_view name, OperatorInputId inputs) {
  if (inputs == 0 || !is_costed(name)) return {};
  const TensorInputs in = tensor_inputs(catalog, inputs);
  if (const auto* known = find_in(kKnownOperators, name)) return known->cost(in);
  if (const auto* convolution = find_in(kConvolutions, name)) return forward_convolution(in, *convolution);
  return attention_of(in, *find_in(kAttention, name));
}

std::string_view missing_cost(const Catalog& catalog, std::string_view name, OperatorInputId inputs) {
  const AttentionOperator* const attention = find_in(kAttention, name);
  if (inputs == 0) return "input sizes are not in the trace";
  if (attention == nullptr) return "its inputs are inconsistent or incomplete";
  const TensorInputs in = tensor_inputs(catalog, inputs);
  if (is_cached(in, *attention)) return "lengths in the KV cache are not in the trace";
  if (is_packed(in, *attention)) return "sequence lengths differ and are not in the trace";
  return "its inputs are inconsistent or incomplete";
}

MathType type_of_float(std::string_view kernel, const GpuPeaks* gpu) {
  if (gpu != nullptr && gpu->tf32 == 0) return MathType::fp32;
  const auto has_any = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return kernel.find(word) != kernel.npos; });
  };
  if (has_any({"tf32", "TF32", "tensorop_s1688"})) return MathType::tf32;
  return has_any({"sgemm", "ffma", "simt"}) ? MathType::fp32 : MathType::unknown;
}

}  // namespace cli
