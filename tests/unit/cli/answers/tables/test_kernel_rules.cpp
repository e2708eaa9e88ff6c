// What the rules for kernels say of real names, that every line of them is needed, and the format of one's own.
#include <algorithm>
#include <set>
#include <string>

#include "cli/base/error.h"
#include "cli/timeline/gpu/name_rules.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct NamedKernel {
  const char* name;
  const char* of;
};

// Of real traces, cut behind what tells them; "source": as the named project spells it, where no trace at hand has it.
constexpr NamedKernel kNamed[] = {
    // Inductor
    {"triton_tem_fused_flex_attention_0", "attention"},  // source: torch/_inductor/kernel/flex_attention.py
    {"triton_tem_fused_convolution_1", "convolution"},   // source: torch/_inductor/kernel/conv.py
    {"triton_tem_fused_mm_3", "matmul"},                 // source: torch/_inductor/kernel/mm.py
    {"triton_mm", "matmul"},
    {"triton_red_fused__log_softmax_div_mul_prepare_softmax_online_sigmoid_view_40", "softmax_loss"},
    {"triton_per_fused__log_softmax_mul_nll_loss_forward_sub_view_42", "softmax_loss"},
    {"triton_red_fused__fused_rms_norm__unsafe_view_add_cat_mul_neg_slice_split_unsqueeze_view_3", "normalization"},
    {"triton_per_fused__fused_rms_norm__fused_rms_norm_backward_add_view_7", "normalization"},
    {"triton_red_fused__to_copy_add_addmm_div_empty_like_mean_mul_neg_pow_rsqrt_stack_sub_transpose_unbind_unsqueeze_view_31",
     "normalization"},
    {"triton_poi_fused__native_batch_norm_legit_no_training_relu_2", "normalization"},  // source: torch/_inductor
    {"triton_poi_fused_embedding_dense_backward_55", "embedding"},
    {"triton_poi_fused__unsafe_view_add_embedding_split_view_4", "embedding"},
    {"triton_per_fused__to_copy_linalg_vector_norm_transpose_0", "reduction"},
    {"triton_per_fused__flash_attn_backward__unsafe_view_mul_sigmoid_sigmoid_backward_sum_view_10", "reduction"},
    {"triton_red_fused__to_copy_mean_pow_0", "reduction"},
    {"triton_poi_fused__scaled_mm__to_copy_clone_div_lift_fresh_permute_0", "elementwise"},
    {"triton_poi_fused__unsafe_view_mul_nll_loss_forward_pow_relu_threshold_backward_view_5", "elementwise"},
    // Attention
    {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<flash::CollectiveMainloopBwdSm90<2, 2",
     "attention"},
    {"void flash::prepare_varlen_num_blocks_kernel<8, false>(int, int, int, int const*", "attention"},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false",
     "attention"},
    {"_attn_fwd_flash_attn_varlen", "attention"},              // source: flash_attn_triton.py
    {"flash_fwd_splitkv_mla_fp8_sparse_kernel", "attention"},  // source: FlashMLA
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128_4x1x1_kernel0_0",
     "attention"},  // source: cuDNN 9
    {"void cudnn::fusion::compute_dot_do_o_specialized<true, 64>(void const*, void const*, void*",
     "attention"},  // source: cuDNN 9
    {"void cudnn::fusion::convert_dq_to_16bits<true>(void const*, void*, unsigned int",
     "attention"},  // source: cuDNN 9
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t",
     "attention"},  // source: ATen
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits",
     "attention"},  // source: FlashInfer
    {"void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(",
     "attention"},
    {"kernel_unified_attention_3d", "attention"},
    {"void flashinfer::BatchPrefillWithRaggedKVCacheKernel<flashinfer::KernelTraits",
     "attention"},  // source: FlashInfer
    {"sage_fwd", "attention"},
    {"sage_quant_kernel", "attention"},
    {"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)",
     "attention"},
    {"attn_fwd", "attention"},              // AOTriton
    {"_attn_bwd_preprocess", "attention"},  // source: Triton's tutorial
    {"bwd_kernel_dk_dv", "attention"},      // source: AOTriton
    // Convolution
    {"void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int, int, int, float const*",
     "convolution"},
    {"void cudnn::cnn::im2col4d_kernel<float, long>(cudnn::cnn::im2col4d_params, cudnnConvolutionStruct",
     "convolution"},
    {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "convolution"},
    {"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "convolution"},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*", "convolution"},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16", "convolution"},
    {"void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3_nhwc_align4>(",
     "convolution"},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(cudnn::winograd_nonfused::WinogradDataParams",
     "convolution"},
    {"void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, int, int", "convolution"},
    {"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(",
     "convolution"},  // source: ATen
    {"Im2d2Col_v2", "convolution"},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64", "convolution"},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28GridwiseGemm_xdl_cshuffle_v3I",
     "convolution"},
    {"_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_bwd_weightI",
     "convolution"},
    // Embedding, first part
    {"void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<c10::Half, float, c10::Half, 2ul, 32>(",
     "embedding"},
    {"void dense_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 1ul, 8ul>(", "embedding"},
    {"void permute_pooled_embs_kernel<float>(float const*, long const*, long const*", "embedding"},
    {"void bounds_check_indices_kernel<long>(at::GenericPackedTensorAccessor<long, 1ul", "embedding"},
    {"void fbgemm_gpu::permute_2D_data_kernel<true, int, int, float>(int, int, int, int const*", "embedding"},
    {"void fbgemm_gpu::_compute_FP8_quantize_cuda_kernel<float>(float const*, float const*, int, int, unsigned char*, bool)",
     "elementwise"},
    // Optimizers
    {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float, float, float, float",
     "optimizer"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
     "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4,",
     "optimizer"},  // source: ATen/native/cuda/FusedAdamWKernel.cu
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<3>, X",
     "optimizer"},
    {"void adamw_kernel3<__nv_bfloat16, __nv_bfloat16>(__nv_bfloat16*, float*, __nv_bfloat16*",
     "optimizer"},  // source: llm.c
    {"void kOptimizer32bit2State<float, 0>(float*, float*, float*, float*, float*",
     "optimizer"},  // source: bitsandbytes
    // Products of matrices
    {"volta_sgemm_128x32_nt", "matmul"},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1>(", "matmul"},
    {"std::enable_if<true, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16", "matmul"},
    {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "matmul"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
     "matmul"},
    {"sm80_xmma_bmm_f32f32_tn_n", "matmul"},  // source: cuBLAS; without the word gemm
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, false", "matmul"},
    {"void epilogue::impl::globalKernel<float, float, float, true, true>(int, int, long, float*, cublasLtEpilogue_t",
     "matmul"},
    {"void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<__nv_bfloat16 const>", "matmul"},
    {"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64", "matmul"},
    {"void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::Foo> >(P)",
     "matmul"},  // source: ATen's RowwiseScaledMM.cu
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "matmul"},
    {"fused_moe_kernel", "matmul"},  // source: vLLM, fused_moe.py
    {"bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_m64x16x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8_schPd4x2x2x3_bN_rgTma_clmp_dynB_sm100f",
     "matmul"},
    {"bmm_E4m3_E4m3E4m3_Fp32_t128x64x128u2_s6_et64x64_m64x64x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8_schPd4x2x2x3_bN_tma_tmaSf_rgTma_clmp_swiGlu_lbW4_dynB_sm100f",
     "matmul"},
    {"bmm_E2m1_E2m1E2m1_Fp32_t128x8x512_s5_et128x8_m128x8x64_cga1x1x1_rM_TN_transOut_bN_ldgsts_swiGlu_dynBatch_sm100a",
     "matmul"},
    {"aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_ps_32x256", "matmul"},  // aiter
    {"XXT_kernel", "matmul"},
    {"ba_plus_cAA_kernel", "matmul"},
    // Normalization
    {"void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float, int>(", "normalization"},
    {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipelineProblemI",
     "normalization"},
    {"_layer_norm_fwd_fused", "normalization"},     // source: Triton's tutorial
    {"_rms_norm_forward_kernel", "normalization"},  // source: Liger
    {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct", "normalization"},
    {"void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, float>(long, float, float const*",
     "normalization"},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long, long, float const*",
     "normalization"},
    {"void transformer_engine::normalization::ln_fwd_general_kernel<X>(P)", "normalization"},
    {"void layer_norm::ln_bwd_kernel<X>(P)", "normalization"},
    {"void transformer_engine::ln_fwd_tuned_kernel<X>(P)", "normalization"},  // source: TransformerEngine
    // Softmax and loss
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 1, false, false>(float*, float const*",
     "softmax_loss"},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float*", "softmax_loss"},
    {"void scaled_upper_triang_masked_softmax_warp_forward<__nv_bfloat16, __nv_bfloat16, float, 11>(",
     "softmax_loss"},  // source: apex
    {"void at::native::(anonymous namespace)::cunn_ClassNLLCriterion_updateOutput_kernel<float, float>(float*",
     "softmax_loss"},
    {"_liger_cross_entropy_kernel", "softmax_loss"},  // source: Liger
    {"liger_cross_entropy_kernel", "softmax_loss"},
    {"void fused_classifier_kernel5<__nv_bfloat16, true>(__nv_bfloat16*", "softmax_loss"},  // source: llm.c
    // Embedding, second part
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*", "elementwise"},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>(",
     "embedding"},  // source: ATen
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(",
     "embedding"},
    {"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long", "embedding"},
    {"encoder_forward_kernel3(__nv_bfloat16*, int const*, __nv_bfloat16 const*", "embedding"},  // source: llm.c
    // Reduction
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, "
     "at::native::(anonymous namespace)::LpNormFunctor<float, (at::native::NormType)1",
     "reduction"},  // source: ATen/native/cuda/ForeachReduceOp.cu
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>",
     "reduction"},
    {"void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(int, float const*, long const*",
     "reduction"},
    {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false",
     "reduction"},
    {"_topk_forward", "reduction"},
    {"void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*, float const*",
     "reduction"},  // source: ATen
    // Elementwise
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int",
     "elementwise"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, "
     "at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<c10::BFloat16, 2,",
     "elementwise"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>(float*",
     "elementwise"},
    {"void (anonymous namespace)::compute_cuda_kernel<long>(long*, long*, long*, long, long)", "elementwise"},
    {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(", "elementwise"},
    {"batched_transpose_16x32_half", "elementwise"},
    {"void cuda::batched_transpose<512, 128, 1, 1>(unsigned char const*, unsigned char*, int, int, int)",
     "elementwise"},
    {"void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16, &at::native::nearest_neighbor_compute_source_index>(c10::BFloat16",
     "elementwise"},
    {"SubTensorOpWithScalar1d", "elementwise"},
    {"void cudnn::ops::scalePackedTensor_kernel<float, float>(cudnnTensor4dStruct, float*, float)", "elementwise"},
    {"void vllm::act_and_mul_kernel<c10::BFloat16, X, true>(c10::BFloat16*", "elementwise"},  // source: vLLM
    {"permute_kernel(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*", "elementwise"},         // source: llm.c
    {"void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType)2, __nv_bfloat16, 32, true>(int, int",
     "elementwise"},
    {"void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(c10::Float8_e4m3fn*, c10::BFloat16 const*",
     "elementwise"},
    {"void vllm::dynamic_per_token_scaled_fp8_quant_kernel<c10::BFloat16>(c10::Float8_e4m3fn*",
     "elementwise"},  // source: vLLM
    {"void cuda::per_token_cast_to_fp8_with_channels<__nv_bfloat16, 128, false, 128, false>(__nv_bfloat16 const*",
     "elementwise"},
    {"void cuda::per_channel_cast_and_transpose<256, 128, true, true, true, false, true>(void const*", "elementwise"},
    {"void cuda::cast_back_impl<__nv_fp8x2_e4m3>(void const*, void*, float const*", "elementwise"},
    {"__amd_rocclr_copyBuffer", "elementwise"},  // source: ROCm's clr
};

std::string refusal(std::string_view text) {
  try {
    NameRules(text, "own.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool matches(const std::string& pattern, std::string_view name) {
  return NameRules("x " + pattern, "t").of(matched_name(name)) != nullptr;
}

}  // namespace

TEST_CASE("kernel rules: real names") {
  for (const NamedKernel& kernel : kNamed) {
    const NameRules::Rule* rule = kernel_rules().of(matched_name(kernel.name));
    INFO(kernel.name);
    REQUIRE(rule != nullptr);
    CHECK(rule->class_name == kernel.of);
  }
}

TEST_CASE("kernel rules: each is the first to match one of the names, and nothing is repeated") {
  std::set<std::size_t> used;
  for (const NamedKernel& kernel : kNamed) {
    if (const auto* rule = kernel_rules().of(matched_name(kernel.name))) used.insert(rule->line);
  }
  std::set<std::string> patterns;
  for (const NameRules::Rule& rule : kernel_rules().rules()) {
    INFO(rule.class_name << " " << rule.patterns.front());
    CHECK(used.count(rule.line) == 1);
    for (const std::string& pattern : rule.patterns) CHECK(patterns.insert(pattern).second);
  }
}

TEST_CASE("kernel rules: what no rule knows") {
  for (const char* name : {"", "triton__0d1d2d3d4d5d", "my_kernel", "_Z9my_kernelPf", "_Z", "void "}) {
    INFO(name);
    CHECK(kernel_rules().of(matched_name(name)) == nullptr);
  }
}

TEST_CASE("name rules: stars, braces, cases and nameless namespaces") {
  CHECK(matches("*gemm*", "Volta_SGEMM_nt"));
  CHECK(matches("gemm", "GEMM"));
  CHECK_FALSE(matches("gemm", "gemm2"));
  CHECK(matches("a*b*c", "aXbXbXc"));
  CHECK_FALSE(matches("a*b*c", "acb"));
  CHECK_FALSE(matches("ab*ba", "aba"));
  CHECK(matches("*", ""));
  CHECK(matches("{a,b}*{c,}", "b"));
  CHECK_FALSE(matches("{a,b}", "c"));
  CHECK(matches("at::f<*", "void at::(anonymous namespace)::f<int>(int)"));
  CHECK(matches("at::f<*", "void <unnamed>::at::f<int>(int)"));
  CHECK(matches("foo(float*)", "_Z3fooPf"));
}

TEST_CASE("name rules: the first that matches counts") {
  const NameRules rules("# of mine\n\n one *a*\r\n two\t*\n", "own.txt");
  REQUIRE(rules.rules().size() == 2);
  CHECK(rules.of("xax")->class_name == "one");
  CHECK(rules.of("xax")->line == 3);
  CHECK(rules.of("x")->class_name == "two");
}

TEST_CASE("name rules: a bad line is named, and what was expected") {
  CHECK(refusal("a *x*\nb\n") == "own.txt:2: expected a pattern after 'b', for example: b *gemm*");
  CHECK(refusal("*gemm* matmul") ==
        "own.txt:1: '*gemm*': expected the name of a class (letters, digits and _), then a pattern");
  for (const char* pattern : {"{a", "a}", "{a{b}}", "{a,b}}", "}a{"}) {
    INFO(pattern);
    CHECK(refusal("x " + std::string(pattern)).find("expected braces as in {a,b}") != std::string::npos);
  }
  std::string many = "x ";
  for (int i = 0; i < 40; ++i) many += "{a,b}";
  CHECK(refusal(many).find("at most 256 combinations") != std::string::npos);
}

TEST_CASE("kempnerforge's rules: its substrings, in their order") {
  const auto of = [](const char* name) { return kempnerforge_rules().of(matched_name(name))->class_name; };
  CHECK(of("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT") == "matmul");
  CHECK(of("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)") == "comm");
  CHECK(of("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)") == "matmul");
  CHECK(of("Memcpy HtoD (Pageable -> Device)") == "memory");
  CHECK(of("void pytorch_flash::flash_fwd_kernel<X>(P)") == "other");
}
