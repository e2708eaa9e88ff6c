#include "cli/trace/names.h"
#include "tests/unit/catch.h"

using cli::is_comm_name;
using cli::is_exchange_name;
using cli::is_gemm_name;

TEST_CASE("kernel names: communication") {
  CHECK(is_comm_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK(is_comm_name("void ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork)"));
  CHECK(is_comm_name("_Z17ncclDevKernel_Foo24ncclDevKernelArgsStorageILm4096EE"));
  CHECK(is_comm_name("mscclKernel_Sum_half_LL(mscclWork)"));
  CHECK_FALSE(is_comm_name("void at::native::nccl_like_name(int)"));
  CHECK(is_comm_name("void rcclGenericKernel<1, true>(ncclDevComm*, channelMasks, ncclWork*)"));
  CHECK(is_comm_name("_Z19onecclAllGatherImplIfEvPT_"));
  CHECK(is_comm_name("mscclpp::allreduce(int)"));
  CHECK_FALSE(is_comm_name("void at::native::elementwise<ncclDevKernel_Foo>(int)"));
  CHECK(is_comm_name("_ZN7mscclpp9allreduceEv"));
  CHECK(is_comm_name("_ZN12_GLOBAL__N_115ncclKernel_SumXEv"));
  CHECK(is_comm_name("void (anonymous namespace)::ncclKernel_X()"));
  CHECK_FALSE(is_comm_name("_Z"));
  CHECK_FALSE(is_comm_name("_ZN"));
  CHECK_FALSE(is_comm_name("_ZN12_GLOBAL__N_1"));
  CHECK_FALSE(is_comm_name("Memcpy DtoD"));
}

TEST_CASE("kernel names: exchange outside of a library of collectives") {
  CHECK(
      is_exchange_name("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)"));
  CHECK(is_exchange_name("_ZN4vllm26cross_device_reduce_2stageIfLi4EEEvPNS_8RankDataE"));
  CHECK(is_exchange_name("void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)"));
  CHECK(is_exchange_name("_ZN7deep_ep12internode_ll7combineEv"));
  CHECK(
      is_exchange_name("void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16, 8, 8>(c10::BFloat16*)"));
  CHECK(is_exchange_name("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 8>(c10::BFloat16*)"));
  CHECK(is_exchange_name("nvshmemi_barrier_all_kernel(int)"));
  CHECK(is_exchange_name("void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8>(AllReduceParams)"));
  CHECK_FALSE(is_exchange_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK_FALSE(is_exchange_name("void at::native::foo<vllm::cross_device_reduce_1stage>(int)"));
  CHECK_FALSE(is_exchange_name("void at::native::foo(deep_ep::Config)"));
  CHECK_FALSE(is_exchange_name(""));
}

// Names of published profiles and of the sources that the table names, cut after what tells them.
TEST_CASE("kernel names: communication of any library") {
  for (
      const char* name : {
          // DeepSeek's profile-data
          "void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*, float*, dpsk::ep::internode::SourceMeta*, int4 const*",
          "void dpsk::ep::internode::combine<4, __nv_bfloat16, 8, false>(int4*, float*, bool const*",
          "void dpsk::ep::internode::notify_dispatch<false, 4>(int const*, int*, int, int const*",
          "void dpsk::ep::internode::cached_notify<false>(int, int, int, int*, int, int, int const*",
          "void dpsk::ep::internode::dispatch_ll<true, 7168>(void*, float*, int*, long*",
          // vLLM, SGLang, Megatron with DeepEP
          "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*, float*, __nv_bfloat16 const*, float const*",
          "void deep_ep::intranode::notify_dispatch<8>(int const*, int*, int const*, int*, int, int, bool const*",
          "void deep_ep::internode_ll::dispatch<true, false, 7168>(void*, void*, int*, long*, int*, int*, void*, int*, void*",
          // Primus-Turbo on MI300X
          "void primus_turbo::deep_ep::intranode::cached_notify_combine<8>(void**, int*, int, int, int, int**, int)",
          "void primus_turbo::deep_ep::internode::notify_dispatch<false, 2>(int const*, int*, int)",
          "void hybrid_ep::dispatch_kernel<hybrid_ep::warp_group<1, 0>, 8>(hybrid_ep::dispatch_kernel_param_t<unsigned char>)",
          // MORI
          "EpDispatchInterNodeV1KernelLowLatency_fp8_fnuz",
          "EpCombineIntraNodeKernel_bf16_nop2p",
          "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpDispatchCombineArgs<hip_bfloat16>)",
          // aiter
          "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(aiter::RankData*, aiter::RankSignals, aiter::Signal*, int, int)",
          "_ZN5aiter33reduce_scatter_cross_device_storeIDF16bLi8EEEvPNS_8RankDataENS_11RankSignalsEjiiiP13__hip_stream_t",
          // TensorRT-LLM, FlashInfer
          "void tensorrt_llm::kernels::mnnvl_throughput::moeA2ADispatchKernel<tensorrt_llm::kernels::mnnvl_throughput::BlockPolicy, 8>(int const*",
          "void flashinfer::trtllm_moe_alltoall::moeA2ACombineKernel<__nv_bfloat16, 8>(flashinfer::trtllm_moe_alltoall::CombineKernelPointers",
          "moeA2APrepareDispatchKernel",
          "void tensorrt_llm::kernels::moeAllToAllKernel<false>(int)",
          "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
          "void tensorrt_llm::kernels::ar_fusion::lamport_initialize_kernel<float>(float*, unsigned long)",
          // NVSHMEM, TransformerEngine, vLLM
          "void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)",
          "kuserbuffers_pullsend(int, int, int*, int*, int4*, int4*, int)",
          "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half, quickreduce::CodecFP>, __half>(",
          // PyTorch
          "void c10d::symmetric_memory::(anonymous namespace)::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
          "void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, c10::BFloat16*, unsigned long",
          "allToAllV(void*, void*, long*, long*, unsigned long)",
          "exchangeSplitAndOffset(long*, long*)",
          // Written in Triton
          "_two_shot_all_reduce_kernel",
          "kernel_all_gather_push_2d",
      }) {
    INFO(name);
    CHECK(is_exchange_name(name));
    CHECK_FALSE(is_comm_name(name));
  }
}

TEST_CASE("kernel names: what only looks like communication") {
  for (
      const char* name : {
          "void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, 4, 4, true>(Flash_fwd_params)",
          "flash_fwd_mla_combine_kernel",
          "void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*, int*, int*, int*, bool*, int, int, int, int)",
          "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*, int*, int*, int*, bool*, int, int, int, int)",
          "triton_poi_fused_all_gather_into_tensor_out_cat_3",
          "triton_red_fused__to_copy_all_reduce_mul_wait_tensor_7",
          "void bytedance::flux::gemm_reduce_scatter_kernel<X>(P)",
          "fused_matmul_reduce_scatter",
          "void mlp_megamoe_all_to_all<X>(P)",
          "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)",
          "void at::native::reduce_kernel<512, 1, X>(X)",
          "void vllm::moe::moe_align_block_size_kernel<int>(int*)",
          "local_device_load_rmsnorm_512n",
          "aten::dispatch",
          "combine",
          "dispatch",
          "void cutlass::device_kernel<cutlass::AllReduceEpilogue>(P)",
          "Memcpy PtoP (Device -> Device)",
          "_Z",
          "_ZN",
      }) {
    INFO(name);
    CHECK_FALSE(is_exchange_name(name));
    CHECK_FALSE(is_comm_name(name));
  }
}

TEST_CASE("kernel names: matrix products") {
  CHECK(is_gemm_name(
      "bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_m64x16x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8_schPd4x2x2x3_bN_rgTma_clmp_dynB_sm100f"));
  CHECK_FALSE(is_gemm_name("triton_poi_fused_bmm_add_1"));
  CHECK(is_gemm_name("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn"));
  CHECK(is_gemm_name("void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x6_tn_align8>(P)"));
  CHECK(is_gemm_name("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN"));
  CHECK(is_gemm_name("void gemmSN_NN_kernel<float>(int)"));
  CHECK(is_gemm_name("Cijk_Ailk_Bljk_HHS_BH_MT128x128x16"));
  CHECK(is_gemm_name("triton_tem_fused_mm_3"));
  CHECK_FALSE(is_gemm_name("triton_poi_fused_add_0"));
  CHECK_FALSE(is_gemm_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
}

TEST_CASE("names: calls that ask the driver for memory of a device") {
  for (const char* name : {"cudaMalloc", "cudaMallocManaged", "cuMemAlloc_v2", "cuMemCreate", "hipMalloc"})
    CHECK(cli::is_allocation_name(name));
  for (const char* name :
       {"cudaMallocHost", "cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocHost_v2", "cudaFree", "cudaMemcpy"})
    CHECK_FALSE(cli::is_allocation_name(name));
  for (const char* name : {"cudaFree", "cuMemFree_v2", "cuMemRelease", "hipFree", "cudaFreeArray"})
    CHECK(cli::is_release_name(name));
  for (const char* name : {"cudaFreeHost", "cudaFreeAsync", "cuMemFreeHost", "cuMemFreeAsync", "cudaMalloc"})
    CHECK_FALSE(cli::is_release_name(name));
}

TEST_CASE("names of ranges: phases of a step") {
  using cli::training_phase;
  using cli::TrainingPhase;
  CHECK(training_phase("Optimizer.step#AdamW.step") == TrainingPhase::optimizer);
  CHECK(training_phase("## optimizer ##") == TrainingPhase::optimizer);
  CHECK(training_phase("autograd::engine::evaluate_function: MmBackward0") == TrainingPhase::backward);
  CHECK(training_phase("torch::autograd::AccumulateGrad") == TrainingPhase::backward);
  CHECK((cli::tells_no_phase("torch::autograd::AccumulateGrad") &&
         !cli::tells_no_phase("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")));
  CHECK(training_phase("Backward 3") == TrainingPhase::backward);
  CHECK(training_phase("DistributedDataParallel.forward") == TrainingPhase::forward);
  CHECK(training_phase("forward") == TrainingPhase::forward);
  CHECK_FALSE(training_phase("forwarded"));
  CHECK_FALSE(training_phase("aten::mm"));
  CHECK_FALSE(training_phase(""));
}
