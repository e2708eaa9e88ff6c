// A ResNet's kernels, as PyTorch and cuDNN launch them in tf32: of each convolution of a bottleneck block its batch
// norm and ReLU, and of the gradient first the input's, then the filter's.
#include "kernels.h"

namespace sim {
namespace {

constexpr auto kCnnLauncher = Launcher::runtime;

constexpr char kConvolution[] =
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_warpsize2x2x1_"
    "g1_tensor16x8x8_execute_kernel_cudnn_infer";
constexpr char kConvolutionInputGrad[] =
    "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_"
    "tensor16x8x8_execute_kernel_cudnn_infer";
constexpr char kConvolutionFilterGrad[] =
    "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_"
    "g1_tensor16x8x8_execute_split_k_kernel_cudnn_train";
constexpr char kBatchNorm[] =
    "_ZN5cudnn25bn_fw_tr_1C11_kernel_NCHWIffiLi512ELb1ELi1ELb1EEEv17cudnnTensorStructPKT_S1_PS2_PKT0_S8_S6_S6_PS6_S9_"
    "S9_S9_S6_S6_";
constexpr char kBatchNormGrad[] =
    "_ZN5cudnn21bn_bw_1C11_kernel_newIff6float2Li512ELb1ELi1EEEvT0_S2_S2_S2_17cudnnTensorStructPKT_S3_S6_S3_PS4_PKS2_"
    "PS2_SA_S9_S9_S2_";
constexpr char kRelu[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_12_GLOBAL__N_119launch_clamp_scalarERNS_"
    "18TensorIteratorBaseEN3c106ScalarES6_NS0_6detail11ClampLimitsEENKUlvE_clEvENKUlvE5_clEvEUlfE_NS_"
    "6detail5ArrayIPcLi2EEEEEviT0_T1_";
constexpr char kReluGrad[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffZNS0_12_GLOBAL__N_121threshold_kernel_"
    "implIfEEvRNS_18TensorIteratorBaseET_S7_EUlffE_EENS_6detail5ArrayIPcLi3EEEEEviT0_T1_";
constexpr char kResidual[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_";
constexpr char kMean[] = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfjLi4ELi4EEEEEvT1_";
constexpr char kClassifier[] = "ampere_sgemm_32x128_tn";
constexpr char kClassifierInputGrad[] = "ampere_sgemm_64x64_nn";
constexpr char kClassifierWeightGrad[] = "ampere_sgemm_64x64_nt";
constexpr char kLogSoftmax[] =
    "_ZN2at6native19cunn_SoftMaxForwardILi4EfffNS0_25LogSoftMaxForwardEpilogueEEEvPT2_PKT0_i";
constexpr char kLogSoftmaxGrad[] =
    "_ZN2at6native20cunn_SoftMaxBackwardILi4EfffNS0_26LogSoftMaxBackwardEpilogueEEEvPT0_PKT2_S7_l";
constexpr char kCrossEntropy[] =
    "_ZN2at6native38nll_loss_forward_reduce_cuda_kernel_2dIfflEEvPT_S3_PKS2_PKT1_S5_bS6_S6_S6_S6_";
constexpr char kSgd[] =
    "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEENS1_"
    "24BinaryOpListAlphaFunctorIfLi2ELi2ELi0EEEJSt4plusIfEfEEEvT_T0_DpT1_";

// name, registers, static shared, local, grid x, grid y, block, dynamic shared, launcher, weight
constexpr Kernel kBlockForward[] = {
    {kConvolution, 236, 0, 0, 784, 1, 128, 73'728, kCnnLauncher, 6},
    {kBatchNorm, 40, 64, 0, 64, 1, 512, 0, kCnnLauncher, 4},
    {kRelu, 16, 0, 0, 6'272, 1, 128, 0, kCnnLauncher, 2},
    {kConvolution, 236, 0, 0, 784, 1, 128, 73'728, kCnnLauncher, 11},
    {kBatchNorm, 40, 64, 0, 64, 1, 512, 0, kCnnLauncher, 4},
    {kRelu, 16, 0, 0, 6'272, 1, 128, 0, kCnnLauncher, 2},
    {kConvolution, 236, 0, 0, 784, 2, 128, 73'728, kCnnLauncher, 7},
    {kBatchNorm, 40, 64, 0, 256, 1, 512, 0, kCnnLauncher, 5},
    {kResidual, 20, 0, 0, 25'088, 1, 128, 0, kCnnLauncher, 3},
    {kRelu, 16, 0, 0, 25'088, 1, 128, 0, kCnnLauncher, 2},
};
constexpr Kernel kBlockBackward[] = {
    {kReluGrad, 20, 0, 0, 25'088, 1, 128, 0, kCnnLauncher, 3},
    {kBatchNormGrad, 48, 96, 0, 256, 1, 512, 0, kCnnLauncher, 7},
    {kConvolutionInputGrad, 234, 0, 0, 784, 1, 128, 65'536, kCnnLauncher, 7},
    {kConvolutionFilterGrad, 238, 0, 0, 2, 18, 128, 65'536, kCnnLauncher, 7},
    {kReluGrad, 20, 0, 0, 6'272, 1, 128, 0, kCnnLauncher, 2},
    {kBatchNormGrad, 48, 96, 0, 64, 1, 512, 0, kCnnLauncher, 6},
    {kConvolutionInputGrad, 234, 0, 0, 784, 1, 128, 65'536, kCnnLauncher, 12},
    {kConvolutionFilterGrad, 238, 0, 0, 5, 18, 128, 65'536, kCnnLauncher, 12},
    {kReluGrad, 20, 0, 0, 6'272, 1, 128, 0, kCnnLauncher, 2},
    {kBatchNormGrad, 48, 96, 0, 64, 1, 512, 0, kCnnLauncher, 6},
    {kConvolutionInputGrad, 234, 0, 0, 784, 2, 128, 65'536, kCnnLauncher, 7},
    {kConvolutionFilterGrad, 238, 0, 0, 2, 18, 128, 65'536, kCnnLauncher, 7},
    {kResidual, 20, 0, 0, 25'088, 1, 128, 0, kCnnLauncher, 3},
};
constexpr Kernel kClassification[] = {
    {kMean, 32, 16, 0, 512, 1, 512, 16, kCnnLauncher, 3},
    {kClassifier, 57, 16'384, 0, 32, 1, 256, 0, kCnnLauncher, 4},
    {kLogSoftmax, 32, 512, 0, 32, 1, 1'024, 4'096, kCnnLauncher, 1},
    {kCrossEntropy, 30, 8, 0, 1, 1, 32, 0, kCnnLauncher, 1},
    {kLogSoftmaxGrad, 36, 512, 0, 32, 1, 1'024, 4'096, kCnnLauncher, 1},
    {kClassifierInputGrad, 126, 8'192, 0, 32, 1, 64, 0, kCnnLauncher, 3},
    {kClassifierWeightGrad, 126, 8'192, 0, 512, 1, 64, 0, kCnnLauncher, 4},
};
constexpr Kernel kSgdStep[] = {
    {kSgd, 40, 0, 0, 300, 1, 512, 0, kCnnLauncher, 9},
    {kSgd, 40, 0, 0, 90, 1, 512, 0, kCnnLauncher, 3},
};

}  // namespace

const Model& cnn() {
  static constexpr Model kModel{kBlockForward, kBlockBackward, kClassification, kSgdStep};
  return kModel;
}

}  // namespace sim
