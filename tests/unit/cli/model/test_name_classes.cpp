#include "cli/model/name_classes.h"
#include "cli/model/training_phase.h"
#include "tests/unit/catch.h"

using cli::is_gemm_name;
using cli::is_comm_name;
using cli::is_exchange_name;

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
  CHECK(is_exchange_name("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)"));
  CHECK(is_exchange_name("_ZN4vllm26cross_device_reduce_2stageIfLi4EEEvPNS_8RankDataE"));
  CHECK(is_exchange_name("void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)"));
  CHECK(is_exchange_name("_ZN7deep_ep12internode_ll7combineEv"));
  CHECK(is_exchange_name("void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16, 8, 8>(c10::BFloat16*)"));
  CHECK(is_exchange_name("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 8>(c10::BFloat16*)"));
  CHECK(is_exchange_name("nvshmemi_barrier_all_kernel(int)"));
  CHECK(is_exchange_name("void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8>(AllReduceParams)"));
  CHECK_FALSE(is_exchange_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK_FALSE(is_exchange_name("void at::native::foo<vllm::cross_device_reduce_1stage>(int)"));
  CHECK_FALSE(is_exchange_name("void at::native::foo(deep_ep::Config)"));
  CHECK_FALSE(is_exchange_name(""));
}

TEST_CASE("kernel names: matrix products") {
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
  for (const char* name : {"cudaMalloc", "cudaMallocManaged", "cuMemAlloc_v2", "cuMemCreate", "hipMalloc"}) CHECK(cli::is_allocation_name(name));
  for (const char* name : {"cudaMallocHost", "cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocHost_v2", "cudaFree", "cudaMemcpy"}) CHECK_FALSE(cli::is_allocation_name(name));
  for (const char* name : {"cudaFree", "cuMemFree_v2", "cuMemRelease", "hipFree", "cudaFreeArray"}) CHECK(cli::is_release_name(name));
  for (const char* name : {"cudaFreeHost", "cudaFreeAsync", "cuMemFreeHost", "cuMemFreeAsync", "cudaMalloc"}) CHECK_FALSE(cli::is_release_name(name));
}

TEST_CASE("names of ranges: phases of a step") {
  using cli::training_phase;
  using cli::TrainingPhase;
  CHECK(training_phase("Optimizer.step#AdamW.step") == TrainingPhase::optimizer);
  CHECK(training_phase("## optimizer ##") == TrainingPhase::optimizer);
  CHECK(training_phase("autograd::engine::evaluate_function: MmBackward0") == TrainingPhase::backward);
  CHECK(training_phase("torch::autograd::AccumulateGrad") == TrainingPhase::backward);
  CHECK((cli::tells_no_phase("torch::autograd::AccumulateGrad") && !cli::tells_no_phase("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")));
  CHECK(training_phase("Backward 3") == TrainingPhase::backward);
  CHECK(training_phase("DistributedDataParallel.forward") == TrainingPhase::forward);
  CHECK(training_phase("forward") == TrainingPhase::forward);
  CHECK_FALSE(training_phase("forwarded"));
  CHECK_FALSE(training_phase("aten::mm"));
  CHECK_FALSE(training_phase(""));
}
