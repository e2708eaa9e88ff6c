#include "cli/model/name_classes.h"
#include "tests/unit/catch.h"

using cli::is_gemm_name;
using cli::is_comm_name;

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
