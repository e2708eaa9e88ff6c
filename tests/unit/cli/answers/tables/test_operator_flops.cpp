// What operators compute and move, against worked examples; and that hostile sizes tell nothing.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "cli/answers/tables/operator_flops.h"
#include "cli/trace/operator_inputs.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct Given {
  std::vector<std::int64_t> dims;
  std::string_view type = "c10::BFloat16", value = "";
};

std::optional<OperatorCost> cost(std::string_view name, std::initializer_list<Given> given) {
  Catalog catalog;
  std::vector<OperatorInput> inputs;
  for (const Given& each : given) {
    OperatorInput input;
    input.type = catalog.strings.intern(each.type);
    input.dims = intern_dims(catalog, each.dims);
    input.value = catalog.strings.intern(each.value);
    inputs.push_back(input);
  }
  return cost_of(catalog, name, intern_inputs(catalog, inputs));
}

double intensity(const OperatorCost& cost) { return static_cast<double>(cost.flop) / static_cast<double>(*cost.bytes); }

}  // namespace

TEST_CASE("operator flops: a product of 4096 in bf16 has 1,365 FLOP a byte") {
  const auto mm = cost("aten::mm", {{{4096, 4096}}, {{4096, 4096}}});
  REQUIRE(mm);
  CHECK(mm->flop == 2ll * 4096 * 4096 * 4096);
  CHECK(mm->bytes == 3 * 4096 * 4096 * 2);
  CHECK(std::lround(intensity(*mm)) == 1365);
  CHECK(mm->shape == "4096x4096 * 4096x4096");
  CHECK(mm->type == MathType::bf16);
}

TEST_CASE("operator flops: batches, added inputs and layers") {
  CHECK(cost("aten::bmm", {{{8, 16, 32}}, {{8, 32, 64}}})->flop == 2 * 8 * 16 * 32 * 64);
  const auto addmm = cost("aten::addmm", {{{64}, "float"}, {{16, 32}, "float"}, {{32, 64}, "float"}});
  CHECK((addmm->flop == 2 * 16 * 32 * 64 && addmm->bytes == 4 * (64 + 16 * 32 + 32 * 64 + 16 * 64) &&
         addmm->type == MathType::fp32));
  CHECK(cost("aten::linear", {{{4, 16, 32}}, {{64, 32}}})->flop == 2 * 4 * 16 * 32 * 64);
  const auto scaled = cost("aten::_scaled_mm", {{{16, 32}, "c10::Float8_e4m3fn"}, {{32, 64}, "c10::Float8_e4m3fn"}});
  CHECK((scaled->type == MathType::fp8 && !scaled->bytes));
  const auto into =
      cost("aten::_scaled_mm",
           {{{16, 32}, "c10::Float8_e4m3fn"}, {{32, 64}, "c10::Float8_e4m3fn"}, {{16, 64}, "c10::BFloat16"}});
  CHECK(into->bytes == 16 * 32 + 32 * 64 + 2 * 16 * 64);
}

TEST_CASE("operator flops: convolutions, by strides and by their gradients") {
  // The first layer of a ResNet: 224 pixels, kernels of 7, stride 2, padding 3: 112 pixels.
  const auto forward =
      cost("aten::cudnn_convolution",
           {{{32, 3, 224, 224}}, {{64, 3, 7, 7}}, {{}, "", "[3, 3]"}, {{}, "", "[2, 2]"}, {{}, "", "[1, 1]"}});
  REQUIRE(forward);
  CHECK(forward->flop == 2ll * 32 * 64 * 112 * 112 * 3 * 7 * 7);
  CHECK_FALSE(cost("aten::cudnn_convolution", {{{32, 3, 224, 224}}, {{64, 3, 7, 7}}}));  // strides are not told
  const auto backward = [](std::string_view mask) {
    return cost("aten::convolution_backward", {{{10, 64, 56, 56}},
                                               {{10, 64, 56, 56}},
                                               {{64, 64, 3, 3}},
                                               {{}},
                                               {{}},
                                               {{}},
                                               {{}},
                                               {{}},
                                               {{}},
                                               {{}},
                                               {{}, "", mask}});
  };
  const std::int64_t once = 2ll * 10 * 64 * 56 * 56 * 64 * 3 * 3;
  CHECK(backward("[True, True, False]")->flop == 2 * once);
  CHECK(backward("[False, True, False]")->flop == once);
  CHECK(backward("[True, False, True]")->flop == once);
  CHECK_FALSE(backward("[False, False, True]"));
  CHECK_FALSE(backward(""));
}

TEST_CASE("operator flops: attention, of causal ones half") {
  const auto flash = [](std::string_view causal) {
    return cost("aten::_flash_attention_forward", {{{16, 559, 16, 64}},
                                                   {{16, 559, 16, 64}},
                                                   {{16, 559, 16, 64}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}, "Scalar", causal}});
  };
  CHECK(flash("False")->flop == 4ll * 16 * 16 * 559 * 559 * 64);
  CHECK(flash("True")->flop == 2ll * 16 * 16 * 559 * 559 * 64);
  CHECK_FALSE(flash(""));
}

TEST_CASE("operator flops: transposed convolutions, by their input") {
  // As torch.utils.flop_counter counts them: 14 x 14 pixels become 28 x 28.
  constexpr std::int64_t once = 2ll * 4 * 16 * 14 * 14 * 8 * 4 * 4;
  const auto backward = [](std::string_view transposed, std::string_view mask) {
    return cost("aten::convolution_backward", {{{4, 8, 28, 28}},
                                               {{4, 16, 14, 14}},
                                               {{16, 8, 4, 4}},
                                               {{}},
                                               {{}, "", "[2, 2]"},
                                               {{}, "", "[1, 1]"},
                                               {{}, "", "[1, 1]"},
                                               {{}, "Scalar", transposed},
                                               {{}, "", "[0, 0]"},
                                               {{}, "Scalar", "1"},
                                               {{}, "", mask}});
  };
  CHECK(backward("True", "[True, True, False]")->flop == 2 * once);
  CHECK(backward("True", "[True, False, False]")->flop == once);
  CHECK(backward("True", "[True, True, False]")->bytes ==
        2 * 2 * (4 * 8 * 28 * 28 + 4 * 16 * 14 * 14 + 16 * 8 * 4 * 4));
  // The same in two groups: half of the output channels meet an element of the input.
  const auto grouped = cost("aten::convolution_backward", {{{4, 8, 28, 28}},
                                                           {{4, 16, 14, 14}},
                                                           {{16, 4, 4, 4}},
                                                           {{}},
                                                           {{}},
                                                           {{}},
                                                           {{}},
                                                           {{}, "Scalar", "True"},
                                                           {{}},
                                                           {{}, "Scalar", "2"},
                                                           {{}, "", "[True, False, False]"}});
  CHECK(grouped->flop == once / 2);
  const auto forward = cost("aten::cudnn_convolution_transpose", {{{4, 16, 14, 14}},
                                                                  {{16, 8, 4, 4}},
                                                                  {{}, "", "[1, 1]"},
                                                                  {{}, "", "[0, 0]"},
                                                                  {{}, "", "[2, 2]"},
                                                                  {{}, "", "[1, 1]"},
                                                                  {{}, "Scalar", "1"}});
  REQUIRE(forward);
  CHECK(forward->flop == once);
  CHECK(forward->bytes == 2 * (4 * 16 * 14 * 14 + 16 * 8 * 4 * 4 + 4 * 8 * 28 * 28));
  const auto relu = cost("aten::cudnn_convolution_relu", {{{32, 3, 224, 224}},
                                                          {{64, 3, 7, 7}},
                                                          {{64}},
                                                          {{}, "", "[2, 2]"},
                                                          {{}, "", "[3, 3]"},
                                                          {{}, "", "[1, 1]"},
                                                          {{}, "Scalar", "1"}});
  CHECK(relu->flop == 2ll * 32 * 64 * 112 * 112 * 3 * 7 * 7);
}

TEST_CASE("operator flops: packed FP4 holds two numbers in a byte") {
  constexpr std::string_view fp4 = "c10::Float4_e2m1fn_x2";
  const auto scaled = cost(
      "aten::_scaled_mm",
      {{{128, 1024}, fp4}, {{1024, 256}, fp4}, {{128, 128}, "c10::Float8_e4m3fn"}, {{256, 128}, "c10::Float8_e4m3fn"}});
  REQUIRE(scaled);
  CHECK(scaled->flop == 2ll * 128 * 256 * 2048);
  CHECK((scaled->type == MathType::fp4 && scaled->shape == "128x1024 * 1024x256" && !scaled->bytes));
  const auto into = cost("aten::_scaled_mm", {{{128, 1024}, fp4}, {{1024, 256}, fp4}, {{128, 256}, "c10::BFloat16"}});
  CHECK(into->bytes == 128 * 1024 + 1024 * 256 + 2 * 128 * 256);
  // FP8 by FP4: as many numbers, not as many bytes.
  const auto mixed = cost("aten::_scaled_mm", {{{128, 2048}, "c10::Float8_e4m3fn"}, {{1024, 256}, fp4}});
  CHECK((mixed->flop == 2ll * 128 * 256 * 2048 && mixed->type == MathType::unknown));
  CHECK_FALSE(cost("aten::_scaled_mm", {{{128, 1024}, "c10::Float8_e4m3fn"}, {{1024, 256}, fp4}}));
}

TEST_CASE("operator flops: vectors, sums of batches, groups") {
  const auto mv = cost("aten::mv", {{{512, 64}}, {{64}}});
  CHECK((mv->flop == 2 * 512 * 64 && mv->bytes == 2 * (512 * 64 + 64 + 512) && mv->shape == "512x64 * 64"));
  CHECK(cost("aten::addmv_", {{{512}}, {{512, 64}}, {{64}}})->flop == 2 * 512 * 64);
  const auto dot = cost("aten::dot", {{{64}, "float"}, {{64}, "float"}});
  CHECK((dot->flop == 2 * 64 && dot->bytes == 4 * (64 + 64 + 1)));
  const auto summed = cost("aten::addbmm", {{{16, 64}}, {{8, 16, 32}}, {{8, 32, 64}}});
  CHECK((summed->flop == 2 * 8 * 16 * 32 * 64 && summed->bytes == 2 * (16 * 64 + 8 * 16 * 32 + 8 * 32 * 64 + 16 * 64)));
  // Tokens of 4 experts together; the gradient of their weights; weights by columns; a batch.
  const auto rows = cost("aten::_grouped_mm", {{{1000, 64}}, {{4, 64, 256}}, {{4}, "int"}});
  CHECK((rows->flop == 2 * 1000 * 64 * 256 && rows->bytes == 2 * (1000 * 64 + 4 * 64 * 256 + 1000 * 256)));
  const auto depth = cost("aten::_grouped_mm", {{{64, 1000}}, {{1000, 256}}, {{4}, "int"}});
  CHECK((depth->flop == 2 * 1000 * 64 * 256 && depth->bytes == 2 * (64 * 1000 + 1000 * 256 + 4 * 64 * 256)));
  CHECK(cost("aten::_grouped_mm", {{{4, 256, 64}}, {{64, 1000}}, {{4}, "int"}})->flop == 2 * 1000 * 64 * 256);
  CHECK(cost("aten::_grouped_mm", {{{4, 16, 64}}, {{4, 64, 32}}})->flop == 2 * 4 * 16 * 64 * 32);
  CHECK(cost("aten::_scaled_grouped_mm", {{{1000, 64}, "c10::Float8_e4m3fn"}, {{4, 64, 256}, "c10::Float8_e4m3fn"}})
            ->flop == 2 * 1000 * 64 * 256);
  CHECK_FALSE(cost("aten::_grouped_mm", {{{1000, 64}}, {{4, 65, 256}}, {{4}, "int"}}));
}

TEST_CASE("operator flops: pairs that a mask leaves, one by one") {
  const auto slow = [](std::int64_t queries, std::int64_t keys, const AttentionMask& mask) {
    std::int64_t pairs = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        const std::int64_t at = i + (mask.corner == MaskCorner::bottom_right ? keys - queries : 0),
                           right = mask.causal ? 0 : mask.right;
        pairs += (right < 0 || j <= at + right) && (mask.left < 0 || j >= at - mask.left);
      }
    }
    return 2 * pairs;
  };
  for (const std::int64_t queries : {1, 2, 5, 8, 13}) {
    for (const std::int64_t keys : {1, 3, 8, 20}) {
      for (const MaskCorner corner : {MaskCorner::top_left, MaskCorner::bottom_right}) {
        for (const bool causal : {false, true}) {
          for (const std::int64_t left : {-1, 0, 2, 50}) {
            for (const std::int64_t right : {-1, 0, 3, 50}) {
              const AttentionMask mask{corner, causal, left, right};
              INFO(queries << " x " << keys << ' ' << static_cast<int>(corner) << causal << ' ' << left << ' '
                           << right);
              const bool half = causal && left < 0 && queries == keys;
              CHECK(attended_pairs_twice(queries, keys, mask) == (half ? queries * keys : slow(queries, keys, mask)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("operator flops: causal attention of fewer queries than keys, by the corner of its mask") {
  // One query of 4096 keys, as in decoding; FlashAttention's mask is bottom-right: it sees all of them.
  const auto flash = [](std::int64_t queries, std::int64_t keys) {
    return cost("aten::_flash_attention_forward", {{{2, queries, 8, 64}},
                                                   {{2, keys, 8, 64}},
                                                   {{2, keys, 8, 64}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}, "Scalar", "True"}})
        ->flop;
  };
  CHECK(flash(1, 4096) == 4ll * 2 * 8 * 64 * 4096);
  CHECK(flash(100, 1000) == 4ll * 2 * 8 * 64 * (100 * 1000 - 100 * 99 / 2));
  CHECK(flash(1000, 100) == 4ll * 2 * 8 * 64 * (100 * 101 / 2));
  CHECK(flash(1000, 1000) == 2ll * 2 * 8 * 64 * 1000 * 1000);
  // cuDNN's and memory-efficient attention's by is_causal are top-left.
  const auto cudnn = [](std::int64_t queries, std::int64_t keys) {
    return cost("aten::_scaled_dot_product_cudnn_attention", {{{2, 8, queries, 64}},
                                                              {{2, 8, keys, 64}},
                                                              {{2, 8, keys, 64}},
                                                              {{}},
                                                              {{}},
                                                              {{}},
                                                              {{}, "Scalar", "True"}})
        ->flop;
  };
  CHECK(cudnn(1, 4096) == 4ll * 2 * 8 * 64);
  CHECK(cudnn(1000, 100) == 4ll * 2 * 8 * 64 * (100 * 101 / 2 + 900 * 100));
  const auto efficient = [](std::string_view mask_type) {
    return cost("aten::_efficient_attention_forward", {{{2, 100, 8, 64}},
                                                       {{2, 1000, 8, 64}},
                                                       {{2, 1000, 8, 64}},
                                                       {{}},
                                                       {{}},
                                                       {{}},
                                                       {{}},
                                                       {{}},
                                                       {{}},
                                                       {{}, "Scalar", mask_type}});
  };
  CHECK(efficient("0")->flop == 4ll * 2 * 8 * 64 * 100 * 1000);
  CHECK(efficient("1")->flop == 4ll * 2 * 8 * 64 * (100 * 101 / 2));
  CHECK(efficient("2")->flop == 4ll * 2 * 8 * 64 * (100 * 1000 - 100 * 99 / 2));
  CHECK_FALSE(efficient("True"));  // of older PyTorch, which has compute_log_sumexp there
  // FlashAttention 2's own operator, with a window of 128 keys before each query.
  const auto own = cost("flash_attn::_flash_attn_forward", {{{1, 512, 8, 64}},
                                                            {{1, 512, 8, 64}},
                                                            {{1, 512, 8, 64}},
                                                            {{}, "", "0."},
                                                            {{}, "", "0.125"},
                                                            {{}, "", "True"},
                                                            {{}, "", "128"},
                                                            {{}, "", "0"}});
  REQUIRE(own);
  CHECK((own->flop == 4ll * 8 * 64 * (129 * 512 - 128 * 129 / 2) &&
         own->shape == "1x512x8x64 * 1x512x8x64 causal window 128"));
}

TEST_CASE("operator flops: heads that share keys, values of another size, gradients") {
  // As torch.utils.flop_counter: heads of queries count; 3 products of D and 2 of V backward.
  const auto shared =
      cost("aten::_scaled_dot_product_flash_attention",
           {{{2, 32, 128, 192}}, {{2, 8, 128, 192}}, {{2, 8, 128, 128}}, {{}}, {{}, "Scalar", "False"}});
  REQUIRE(shared);
  CHECK(shared->flop == 2ll * 2 * 32 * 128 * 128 * (192 + 128));
  CHECK(shared->bytes == 2 * (2 * 32 * 128 * 192 + 2 * 8 * 128 * 192 + 2 * 8 * 128 * 128 + 2 * 32 * 128 * 128));
  CHECK_FALSE(cost("aten::_scaled_dot_product_flash_attention",
                   {{{2, 30, 128, 64}}, {{2, 8, 128, 64}}, {{2, 8, 128, 64}}, {{}}, {{}, "Scalar", "False"}}));
  const auto backward = [](std::string_view name) {
    return cost(name, {{{2, 8, 128, 64}},
                       {{2, 8, 128, 64}},
                       {{2, 8, 128, 64}},
                       {{2, 8, 128, 64}},
                       {{2, 8, 128, 64}},
                       {{}},
                       {{}},
                       {{}},
                       {{}},
                       {{}},
                       {{}},
                       {{}, "Scalar", "128"},
                       {{}, "Scalar", "128"},
                       {{}, "Scalar", "0."},
                       {{}, "Scalar", "True"}});
  };
  for (const char* name : {"aten::_scaled_dot_product_cudnn_attention_backward", "aten::_cudnn_attention_backward"}) {
    INFO(name);
    REQUIRE(backward(name));
    CHECK(backward(name)->flop == 10ll * 2 * 8 * 128 * 128 * 64 / 2);
    CHECK(backward(name)->bytes == 2 * 4 * 2 * 2 * 8 * 128 * 64);
  }
}

TEST_CASE("operator flops: packed sequences, whose lengths inputs have or not") {
  const auto packed = [](std::int64_t total, std::int64_t total_keys, std::int64_t sequences, std::string_view longest,
                         std::string_view longest_key, std::string_view causal) {
    return cost("flash_attn::_flash_attn_varlen_forward", {{{total, 32, 128}},
                                                           {{total_keys, 8, 128}},
                                                           {{total_keys, 8, 128}},
                                                           {{sequences + 1}, "int"},
                                                           {{sequences + 1}, "int"},
                                                           {{}, "Scalar", longest},
                                                           {{}, "Scalar", longest_key},
                                                           {{}, "Scalar", "0."},
                                                           {{}, "Scalar", "0.1"},
                                                           {{}, "Scalar", causal},
                                                           {{}, "Scalar", "-1"},
                                                           {{}, "Scalar", "-1"}});
  };
  constexpr std::int64_t pair = 4ll * 32 * 128;
  CHECK(packed(100, 100, 1, "100", "100", "True")->flop == pair * 100 * 100 / 2);      // one
  CHECK(packed(400, 400, 4, "100", "100", "True")->flop == 4 * pair * 100 * 100 / 2);  // as long as each other
  CHECK(packed(400, 900, 4, "100", "500", "False")->flop == pair * 100 * 900);  // all queries of each see all its keys
  CHECK(packed(4, 900, 4, "1", "500", "True")->flop == pair * 900);             // decoding
  CHECK_FALSE(packed(400, 400, 4, "200", "200", "True"));
  CHECK_FALSE(packed(400, 400, 4, "200", "200", "False"));
  CHECK_FALSE(packed(400, 400, 4, "", "", "False"));
  CHECK_FALSE(
      cost("aten::_flash_attention_forward",
           {{{100, 8, 64}}, {{100, 8, 64}}, {{100, 8, 64}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}, "Scalar", "True"}}));
  Catalog catalog;
  std::vector<OperatorInput> inputs(9);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    inputs[i].dims = intern_dims(catalog, i < 3   ? std::vector<std::int64_t>{400, 8, 64}
                                          : i < 5 ? std::vector<std::int64_t>{5}
                                                  : std::vector<std::int64_t>{});
  inputs[8].value = catalog.strings.intern("True");
  CHECK(missing_cost(catalog, "aten::_flash_attention_forward", intern_inputs(catalog, inputs)) ==
        "sequence lengths differ and are not in the trace");
}

TEST_CASE("operator flops: what does not fit together or into numbers tells nothing") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  CHECK_FALSE(cost("aten::mm", {{{4, 8}}, {{9, 4}}}));
  CHECK_FALSE(cost("aten::mm", {{{4, 8}}}));
  CHECK_FALSE(cost("aten::mm", {{{-4, 8}}, {{8, 4}}}));
  CHECK_FALSE(cost("aten::mm", {{{0, 8}}, {{8, 4}}}));
  CHECK_FALSE(cost("aten::mm", {{{kHuge, kHuge}}, {{kHuge, 4}}}));
  CHECK_FALSE(cost("aten::add", {{{4, 8}}, {{4, 8}}}));
  CHECK_FALSE(cost("aten::mm", {}));
  const auto hostile = [](std::int64_t length, std::int64_t width) {
    return cost("aten::_flash_attention_forward", {{{1, length, 8, width}},
                                                   {{1, length, 8, width}},
                                                   {{1, length, 8, width}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}},
                                                   {{}, "Scalar", "True"}});
  };
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, kHuge}) {
    CHECK_FALSE(hostile(size, 64));
    CHECK_FALSE(hostile(64, size == kHuge ? std::numeric_limits<std::int64_t>::max() : size));
  }
  CHECK_FALSE(cost("aten::_grouped_mm", {{{kHuge, kHuge}}, {{4, kHuge, 4}}}));
  CHECK_FALSE(cost("aten::mv", {{{}}, {{}}}));
}

TEST_CASE("gpu peaks: where arithmetic begins to bound") {
  CHECK(std::lround(ridge(*peaks_of("NVIDIA A100-SXM4-80GB"), MathType::tf32)) == 77);
  CHECK(std::lround(ridge(*peaks_of("NVIDIA A100-SXM4-80GB"), MathType::bf16)) == 153);
  const GpuPeaks rounded{"H100", 0, 0, 0, 0, 990, 0, 3350};  // as it is often quoted
  CHECK(std::lround(ridge(rounded, MathType::bf16)) == 296);
  CHECK(std::lround(ridge(*peaks_of("NVIDIA H100 80GB HBM3"), MathType::bf16)) == 295);
  CHECK(peaks_of("NVIDIA H999") == nullptr);
  CHECK(ridge(*peaks_of("Tesla V100-SXM2-32GB"), MathType::bf16) == 0);
}
