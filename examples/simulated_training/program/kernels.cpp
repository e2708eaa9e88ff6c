#include "kernels.h"

#include <initializer_list>

#include "../standin/work.h"

namespace sim {
namespace {

constexpr auto kRuntime = Launcher::runtime;
constexpr auto kDriver = Launcher::driver;

constexpr char kLayerNorm[] = "_ZN2at6native28vectorized_layer_norm_kernelIffEEviT0_PKT_S5_S5_PS2_S6_PS3_";
constexpr char kLayerNormGrad[] = "_ZN2at6native39layer_norm_grad_input_kernel_vectorizedIffEEvPKT_S4_PKT0_S7_S4_PS2_i";
constexpr char kGemmWide[] = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT";
constexpr char kGemmTall[] = "nvjet_tst_256x128_64x4_2x1_v_bz_coopB_TNT";
constexpr char kGemmOld[] =
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel_"
    "_5x_cublas";
constexpr char kFlashForward[] =
    "_ZN13pytorch_flash16flash_fwd_kernelINS_23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bf"
    "loat16_tENS_19Flash_kernel_traitsILi64ELi128ELi128ELi4ELb0ELb0ES3_EEEELb0ELb1ELb0ELb1ELb1ELb0EEEvNS_16Flash_"
    "fwd_paramsE";
constexpr char kFlashBackward[] =
    "_ZN13pytorch_flash44flash_bwd_dq_dk_dv_loop_seqk_parallel_kernelINS_23Flash_bwd_kernel_traitsILi64ELi128ELi1"
    "28ELi8EN7cutlass10bfloat16_tEEELb0ELb1ELb0ELb1ELb1EEEvNS_16Flash_bwd_paramsE";
constexpr char kAdd[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIPN3c108BFloat16EEENS_6detail5ArrayIPc"
    "Li3EEEEEviT0_T1_";
constexpr char kMultiply[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfE"
    "EEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_";
constexpr char kDivide[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BUnaryFunctorIfffNS0_15binary_internal10DivFunctorIfE"
    "EEENS_6detail5ArrayIPcLi2EEEEEviT0_T1_";
constexpr char kFill[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EEEEEviT0_T1_";
constexpr char kSum[] = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfjLi4ELi4EEEEEvT1_";
constexpr char kBiasGrad[] = "_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIfjLi4ELi8EEEEEvT1_";
constexpr char kSoftmax[] = "_ZN2at6native19cunn_SoftMaxForwardILi4EfffNS0_25LogSoftMaxForwardEpilogueEEEvPT2_PKT0_i";
constexpr char kSoftmaxGrad[] =
    "_ZN2at6native20cunn_SoftMaxBackwardILi4EfffNS0_26LogSoftMaxBackwardEpilogueEEEvPT0_PKT2_S7_l";
constexpr char kLoss[] = "_ZN2at6native38nll_loss_forward_reduce_cuda_kernel_2dIfflEEvPT_S3_PKS2_PKT1_S5_bS6_S6_S6_S6_";
constexpr char kNorm[] =
    "_ZN2at6native25multi_tensor_apply_kernelINS0_19TensorListMetadata2ILi1EEENS0_13LpNormFunctorIfLi2EfLi1ELi1EL"
    "i0EEEJPfiEEEvT_T0_DpT1_";
constexpr char kClip[] =
    "_ZN2at6native25multi_tensor_apply_kernelINS0_19TensorListMetadata2ILi1EEENS0_21BinaryOpScalarFunctorIfLi1ELi"
    "1ELi0EEEJfEEEvT_T0_DpT1_";
constexpr char kAdam[] =
    "_ZN2at6native25multi_tensor_apply_kernelINS0_32FusedOptimizerTensorListMetadataILi4EEENS0_13FusedAdamMathIfL"
    "i4ELNS0_9ADAM_MODEE1ELb0EEEJPKfddEEEvT_T0_DpT1_";
constexpr char kAllReduce[] = "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE";

constexpr auto kCooperative = Launcher::cooperative;

// name, registers, static shared, local, grid x, grid y, block, dynamic shared, launcher, weight, cluster x, cluster y
constexpr Kernel kForward[] = {
    {kLayerNorm, 40, 24, 0, 8'192, 1, 128, 0, kRuntime, 3},
    {kGemmWide, 168, 0, 0, 132, 1, 384, 213'504, kRuntime, 16, 2, 1},
    {"triton_poi_fused_add_mul_0", 24, 0, 0, 6'144, 1, 256, 0, kDriver, 2},
    {kFlashForward, 255, 0, 32, 16, 96, 128, 49'152, kRuntime, 18},
    {kGemmOld, 168, 0, 0, 96, 4, 384, 198'656, kRuntime, 10},
    {"triton_poi_fused_gelu_1", 26, 0, 0, 24'576, 1, 128, 0, kDriver, 4},
    {kAdd, 20, 0, 0, 3'072, 1, 128, 0, kRuntime, 2},
};
constexpr Kernel kBackward[] = {
    {kBiasGrad, 48, 16, 0, 24, 4, 512, 4'096, kRuntime, 3},
    {kGemmTall, 168, 0, 0, 132, 1, 384, 213'504, kRuntime, 17, 2, 1},
    {kGemmWide, 168, 0, 0, 66, 2, 384, 213'504, kRuntime, 17, 1, 2},
    {"triton_poi_fused_gelu_backward_2", 32, 0, 0, 24'576, 1, 128, 0, kDriver, 5},
    {kFlashBackward, 255, 0, 64, 8, 96, 256, 147'456, kRuntime, 36},
    {kGemmOld, 168, 0, 0, 48, 8, 384, 198'656, kRuntime, 18},
    {kLayerNormGrad, 62, 16, 0, 8'192, 1, 128, 6'144, kRuntime, 5},
    {"triton_red_fused_native_layer_norm_backward_3", 48, 128, 0, 768, 1, 512, 0, kDriver, 3},
};
constexpr Kernel kLossRow[] = {
    {kGemmTall, 168, 0, 0, 528, 1, 384, 213'504, kRuntime, 40},
    {kSoftmax, 32, 512, 0, 8'192, 1, 1'024, 4'096, kRuntime, 9},
    {kLoss, 30, 8, 0, 1, 1, 32, 0, kRuntime, 1},
    {kSum, 32, 16, 0, 1, 1, 512, 16, kRuntime, 1},
    {kDivide, 16, 0, 0, 1, 1, 128, 0, kRuntime, 1},
    {kFill, 16, 0, 0, 1, 1, 128, 0, kRuntime, 1},
    {kSoftmaxGrad, 36, 512, 0, 8'192, 1, 1'024, 4'096, kRuntime, 12},
};
constexpr Kernel kOptimizerRow[] = {
    {kNorm, 40, 128, 0, 320, 1, 512, 0, kCooperative, 6},
    {kMultiply, 18, 0, 0, 1, 1, 128, 0, kRuntime, 1},
    {kClip, 32, 0, 0, 320, 1, 512, 0, kRuntime, 6},
    {kAdam, 62, 0, 0, 320, 1, 512, 0, kRuntime, 14},
    {kAdam, 62, 0, 0, 172, 1, 512, 0, kRuntime, 8},
    {"triton_poi_fused_lerp_4", 24, 0, 0, 1'536, 1, 256, 0, kDriver, 4},
};
constexpr Kernel kAllReduceRow{kAllReduce, 96, 0, 0, 24, 1, 512, 83'296, kDriver, 0};

constexpr Kernel kSendReceiveRow{
    "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE", 96, 0, 0, 24, 1, 512, 83'296, kDriver, 0};

void add_line(std::string& image, const Kernel& kernel) {
  for (const std::uint32_t number : {kernel.registers, kernel.static_shared_bytes, kernel.local_bytes}) {
    image += std::to_string(number) + ' ';
  }
  image += kernel.name;
  image += '\n';
}

}  // namespace

const Model& transformer() {
  static constexpr Model kModel{kForward, kBackward, kLossRow, kOptimizerRow};
  return kModel;
}

const Kernel& all_reduce_kernel() { return kAllReduceRow; }
const Kernel& send_receive_kernel() { return kSendReceiveRow; }

std::string module_image(const Model& model) {
  std::string image = kModuleHeader;
  for (const auto kernels : {model.forward, model.backward, model.loss, model.optimizer}) {
    for (const Kernel& kernel : kernels) add_line(image, kernel);
  }
  add_line(image, kAllReduceRow);
  add_line(image, kSendReceiveRow);
  return image;
}

}  // namespace sim
