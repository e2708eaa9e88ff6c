// Rules of kernels, each on a made profile whose figures are summed by hand.
#include "cli/answers/rules/rule.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/answers/rules/made_profile.h"

using namespace cli;
using namespace cli::rules;

namespace {

// 1000 us: this kernel for so long, then another one.
MadeProfile with_kernel(const std::string& name, double us, const char* gpu = "NVIDIA A100-SXM4-40GB") {
  MadeProfile made(gpu);
  made.kernel(name, 0, us, made.call("cudaLaunchKernel", -10, -5));
  made.kernel("nvjet_hsh_128x64", us, 1000, made.call("cudaLaunchKernel", -4, -1));
  return made;
}

}  // namespace

TEST_CASE("fp32-matmul: what TF32 would save") {
  const auto findings = findings_of("fp32-matmul", with_kernel("ampere_sgemm_128x64_tn", 400));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 350'000);  // 400 x (1 - 19.5 / 156)
  CHECK(
      findings[0].title ==
      "float32 matrix multiplications run without tensor cores 1 time; they take 400.0 us (40.0 %), mostly in ampere_sgemm_128x64_tn");
}

TEST_CASE("fp32-matmul: names, and GPUs") {
  const auto fires = [](const std::string& name, const char* gpu = "NVIDIA A100-SXM4-40GB", double us = 400) {
    return findings_of("fp32-matmul", with_kernel(name, us, gpu)).size();
  };
  for (
      const char* name :
      {"ampere_sgemm_32x32_sliced1x4_tn", "volta_sgemm_128x64_nt", "maxwell_sgemm_128x128_nn",
       "void cutlass::Kernel<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(T1::Params)",
       "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__51_cublas",
       "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckcrs_nchw_tilesize128x128x8_stage3_warpsize2x2x1_g1_ffma",
       "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int)",
       "void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false>(int)"}) {
    INFO(name);
    CHECK(fires(name) == 1);
  }
  for (const char* name :
       {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn",
        "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4>(T1::Params)",
        "ampere_dgemm_128x64_tn", "void cutlass::Kernel<cutlass_80_simt_hgemm_128x128>(int)", "nvjet_hsh_128x64",
        "void gemmSN_NN_kernel<double, 256, 4>(int)"}) {
    INFO(name);
    CHECK(fires(name) == 0);
  }
  const auto fires_on = [](const char* gpu, std::int64_t capability) {
    MadeProfile made = with_kernel("maxwell_sgemm_128x64_nt", 400, gpu);
    made.capability = capability;
    return findings_of("fp32-matmul", made).size();
  };
  CHECK(fires_on("Tesla V100-SXM2-16GB", 7) == 0);
  CHECK(fires_on("Tesla V100-SXM2-16GB", 0) == 0);
  CHECK(fires_on("NVIDIA A100-SXM4-40GB", 0) == 1);
  CHECK(fires_on("A GPU of a later year", 0) == 0);  // nothing tells what it can
  CHECK(fires_on("A GPU of a later year", 12) == 1);
  const auto unknown = findings_of("fp32-matmul", with_kernel("ampere_sgemm_128x64_tn", 400, "A GPU of a later year"));
  REQUIRE(unknown.size() == 1);
  CHECK_FALSE(unknown[0].saving_ns);
  CHECK(fires("ampere_sgemm_128x64_tn", "NVIDIA A100-SXM4-40GB", 50) == 0);
  CHECK(fires("ampere_sgemm_128x64_tn", "NVIDIA A100-SXM4-40GB", 51) == 1);
}

TEST_CASE("memory-bound-kernels: the classes that hardly compute, with a line for ncu") {
  const std::string add =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)";
  const auto with_kernels = [](const std::string& name, std::int64_t count,
                               double us) {  // and another one, 1000 us in all
    MadeProfile made;
    const double each = us / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i)
      made.kernel(name, each * static_cast<double>(i), each * static_cast<double>(i + 1),
                  made.call("cudaLaunchKernel", -100.0 + static_cast<double>(i), -99.5 + static_cast<double>(i)));
    made.kernel("nvjet_hsh_128x64", us, 1000, made.call("cudaLaunchKernel", -4, -1));
    return made;
  };
  const auto findings = findings_of("memory-bound-kernels", with_kernels(add, 20, 410));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 410'000);  // fused into others, none of them would be left
  INFO(findings[0].title);
  CHECK(has_text(
      findings[0].title,
      "take 41 % of the time of kernels and copies, 410.0 us (41.0 %); the longest is vectorized_elementwise_kernel<4, CUDAFunctor_add<float>"));
  CHECK(
      findings[0].next_command ==
      "ncu --kernel-name 'regex:^vectorized_elementwise_kernel$' --launch-skip 0 --launch-count 5 --set full --target-processes all train ARGUMENTS");
  CHECK(findings_of("memory-bound-kernels", with_kernels(add, 20, 400)).empty());
  CHECK(findings_of("memory-bound-kernels", with_kernels(add, 19, 950)).empty());
  CHECK(findings_of("memory-bound-kernels", with_kernels("nvjet_hsh_64x64", 20, 900)).empty());
}

TEST_CASE("memory-bound-kernels: operators far from the memory's rate") {
  // mm of 4096 x 16 by 16 x 4096 in bf16: 2 x 4096 x 16 x 4096 = 536,870,912 FLOP; 2 x (65,536 + 65,536 + 16,777,216) = 33,816,576
  // bytes, at 1555 GB/s 21.75 us. In 43.49 us it is at 50 % of its roof, in 35 us at 62 %.
  const auto with_mm = [](double us) {
    MadeProfile made;
    made.op("aten::mm", -20, -2,
            R"("External id":5,"Input Dims":[[4096,16],[16,4096]],"Input type":["c10::BFloat16","c10::BFloat16"])");
    made.kernel("ampere_bf16_s16816gemm_bf16_128x64", 0, us, made.call("cudaLaunchKernel", -10, -5),
                R"(,"External id":5)");
    made.kernel("nvjet_hsh_128x64", us, 200, made.call("cudaLaunchKernel", -4, -1));
    return made;
  };
  const auto findings = findings_of("memory-bound-kernels", with_mm(43.494));
  REQUIRE(findings.size() == 1);
  REQUIRE(findings[0].saving_ns);
  CHECK(*findings[0].saving_ns / 10 == 2174);
  INFO(findings[0].title);
  CHECK(has_text(
      findings[0].title,
      "less than 60 % of the memory bandwidth: 43.49 us (21.7 %) in 1 shape, mostly in aten::mm of 4096x16 * 16x4096, which reaches 50.0 %"));
  CHECK(has_text(findings[0].next_command, "ncu --kernel-name 'regex:^ampere_bf16_s16816gemm_bf16_128x64$' "));
  REQUIRE(findings[0].evidence.size() == 1);
  CHECK(findings[0].evidence[0].end_ns - findings[0].evidence[0].start_ns == 43'494);
  CHECK(findings_of("memory-bound-kernels", with_mm(35)).empty());
}

TEST_CASE("unfused-attention: what remains is FLOP / peak of the products") {
  // Each product is 2 x 16 x 1024 x 64 x 1024 = 2,147,483,648 FLOP, at 312 TFLOP/s 6.882 us. It takes 8 us; the kernels between take 100 us.
  const auto saving_of = [](bool has_shapes) {
    MadeProfile made;
    const auto product = [&](double at, double from) {
      made.op(
          "aten::bmm", at, at + 8,
          has_shapes
              ? R"("External id":5,"Input Dims":[[16,1024,64],[16,64,1024]],"Input type":["c10::BFloat16","c10::BFloat16"])"
              : "");
      made.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", from, from + 8,
                  made.call("cudaLaunchKernel", at + 1, at + 5));
    };
    const auto other = [&](const char* name, double at, double from, double to) {
      made.kernel(name, from, to, made.call("cudaLaunchKernel", at, at + 5));
    };
    product(-100, 0);
    other("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)", -80, 8, 48);
    other(
        "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, false, false>(c10::BFloat16*)",
        -60, 48, 108);
    product(-40, 108);
    const auto findings = findings_of("unfused-attention", made);
    return findings.size() == 1 ? findings[0].saving_ns.value_or(0) : -1;
  };
  CHECK(saving_of(false) == 116'000);
  CHECK(saving_of(true) == 116'000 - 2 * 6'882);
}

TEST_CASE("ncu: a function's name as it is matched, and quoted") {
  CHECK(function_name("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int>(float*)") ==
        "CatArrayBatchedCopy");
  CHECK(function_name("_ZN2at6native13reduce_kernelILi512EEEvi") == "reduce_kernel");
  CHECK(function_name("triton_poi_fused_add_1") == "triton_poi_fused_add_1");
  CHECK(
      ncu_command("a.b$c", 3, "") ==
      "ncu --kernel-name 'regex:^a\\.b\\$c$' --launch-skip 3 --launch-count 5 --set full --target-processes all YOUR_PROGRAM");
}

TEST_CASE("copy-cast: kernels that copy within the GPU") {
  const std::string copy =
      "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(int)";
  const auto findings = findings_of("copy-cast", with_kernel(copy, 51));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 51'000);
  CHECK(findings[0].title ==
        "tensors are copied to other types or layouts on the GPU 1 time; the copies take 51.00 us (5.1 %)");
  CHECK(findings_of("copy-cast", with_kernel(copy, 50)).empty());
  CHECK(findings_of(
            "copy-cast",
            with_kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
                        500))
            .empty());
}

TEST_CASE("copy-cast: what runs beside other work is no saving") {
  MadeProfile made;
  made.kernel("gemm", 0, 1000, made.call("cudaLaunchKernel", -10, -5));
  made.kernel("void f<direct_copy_kernel_cuda>()", 900, 1100, made.call("cudaLaunchKernel", -4, -1), "", 8);
  const auto findings = findings_of("copy-cast", made);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 100'000);
}

namespace {

// Two steps of 4000 us: a kernel to 1000 us, then so many of 5 us with 5 us before each.
MadeProfile with_optimizer(std::int64_t kernels, const char* range, const char* name, double us = 5) {
  MadeProfile made;
  for (const double at : {0.0, 4000.0}) {
    made.step(at > 0 ? 1 : 0, at, at + 4000);
    made.kernel("gemm", at + 10, at + 1000, made.call("cudaLaunchKernel", at, at + 5));
    made.range(range, at + 900, at + 3900);
    for (std::int64_t i = 0; i < kernels; ++i) {
      const double from = at + 1005 + 10 * static_cast<double>(i);
      made.kernel(name, from, from + us, made.call("cudaLaunchKernel", from - 50, from - 48));
    }
  }
  return made;
}

}  // namespace

TEST_CASE("single-tensor-optimizer: more than 200 small kernels a step, and the idle time between them") {
  const auto findings = findings_of("single-tensor-optimizer", with_optimizer(201, "Optimizer.step#Adam.step", "add"));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 2'000'000);  // 2 x 200 x 5 us, of 7000
  CHECK(
      findings[0].title ==
      "the optimizer launches 201 kernels shorter than 10 us per step; they take 1.005 ms a step (28.7 %), and the GPU idles 1.000 ms a step (28.5 %) between them");
  CHECK(findings[0].evidence.size() == 5);
}

TEST_CASE("single-tensor-optimizer: silent for fewer, for those of many parameters, and outside of the optimizer") {
  CHECK(findings_of("single-tensor-optimizer", with_optimizer(200, "Optimizer.step#Adam.step", "add")).empty());
  CHECK(findings_of("single-tensor-optimizer", with_optimizer(201, "Optimizer.step#Adam.step",
                                                              "void at::native::multi_tensor_apply_kernel<int>()"))
            .empty());
  CHECK(
      findings_of("single-tensor-optimizer", with_optimizer(201, "Optimizer.zero_grad#Adam.zero_grad", "add")).empty());
  CHECK(findings_of("single-tensor-optimizer", with_optimizer(201, "forward", "add")).empty());
  CHECK(findings_of("single-tensor-optimizer", with_optimizer(201, "Optimizer.step#Adam.step", "add", 10)).empty());
}
