// What operators compute and move, against worked examples; and that hostile sizes tell nothing.
#include "cli/analyze/operator_flops.h"

#include <cmath>
#include <initializer_list>
#include <vector>

#include "cli/model/operator_inputs.h"
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
  CHECK((addmm->flop == 2 * 16 * 32 * 64 && addmm->bytes == 4 * (64 + 16 * 32 + 32 * 64 + 16 * 64) && addmm->type == MathType::fp32));
  CHECK(cost("aten::linear", {{{4, 16, 32}}, {{64, 32}}})->flop == 2 * 4 * 16 * 32 * 64);
  const auto scaled = cost("aten::_scaled_mm", {{{16, 32}, "c10::Float8_e4m3fn"}, {{32, 64}, "c10::Float8_e4m3fn"}});
  CHECK((scaled->type == MathType::fp8 && !scaled->bytes));
  const auto into = cost("aten::_scaled_mm", {{{16, 32}, "c10::Float8_e4m3fn"}, {{32, 64}, "c10::Float8_e4m3fn"}, {{16, 64}, "c10::BFloat16"}});
  CHECK(into->bytes == 16 * 32 + 32 * 64 + 2 * 16 * 64);
}

TEST_CASE("operator flops: convolutions, by strides and by their gradients") {
  // The first layer of a ResNet: 224 pixels, kernels of 7, stride 2, padding 3: 112 pixels.
  const auto forward = cost("aten::cudnn_convolution", {{{32, 3, 224, 224}}, {{64, 3, 7, 7}}, {{}, "", "[3, 3]"}, {{}, "", "[2, 2]"}, {{}, "", "[1, 1]"}});
  REQUIRE(forward);
  CHECK(forward->flop == 2ll * 32 * 64 * 112 * 112 * 3 * 7 * 7);
  CHECK_FALSE(cost("aten::cudnn_convolution", {{{32, 3, 224, 224}}, {{64, 3, 7, 7}}}));  // strides are not told
  const auto backward = [](std::string_view mask) {
    return cost("aten::convolution_backward", {{{10, 64, 56, 56}}, {{10, 64, 56, 56}}, {{64, 64, 3, 3}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}, "", mask}});
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
    return cost("aten::_flash_attention_forward", {{{16, 559, 16, 64}}, {{16, 559, 16, 64}}, {{16, 559, 16, 64}}, {{}}, {{}}, {{}}, {{}}, {{}}, {{}, "Scalar", causal}});
  };
  CHECK(flash("False")->flop == 4ll * 16 * 16 * 559 * 559 * 64);
  CHECK(flash("True")->flop == 2ll * 16 * 16 * 559 * 559 * 64);
  CHECK_FALSE(flash(""));
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
