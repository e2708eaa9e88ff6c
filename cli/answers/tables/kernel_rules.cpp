// The rules by which `classes` tells what kernels do, in the format of name_rules.h. What communicates and what copies is
// told before them, by what WorkClasses says; what none of them matches is `other`.
//
// The order matters: kernels that a compiler generated first, for their names list operations that they are fused of; then
// attention, convolutions and products of matrices, whose names hold words of each other; then what is left, from the
// particular to the general. A name of PyTorch's ATen holds its functor, which tells more than the loop that runs it.
// Every line has a name in tests/unit/cli/answers/tables/test_kernel_rules.cpp, of a real trace where there is one.
#include "cli/timeline/gpu/name_rules.h"

namespace cli {
namespace {

constexpr std::string_view kKernelRules = R"(
# Inductor (torch/_inductor/codegen/triton.py): triton_KIND_fused_OPERATIONS_NUMBER; kinds: tem a template, poi pointwise,
# red a reduction, per a persistent one, for of a list of tensors. What is pointwise does not normalize and has no loss,
# whatever its operations came from, but for batch norm, which is pointwise in inference, and embeddings.
attention      triton_{tem,flex}_*attention*
convolution    triton_tem_*convolution*
matmul         triton_{tem_,mm,bmm}*
softmax_loss   triton_{red,per}_*{softmax,_loss,cross_entropy,logsumexp}*
normalization  triton_{red,per}_*{layer_norm,rms_norm,batch_norm,group_norm,instance_norm}*
# Norms that were decomposed before they were fused divide by a root
normalization  triton_{red,per}_*rsqrt*
normalization  triton_poi_*batch_norm*
embedding      triton_{poi,red,per}_*embedding*
reduction      triton_{red,per}_*
elementwise    triton_{poi,for}_*

# FlashAttention 2 and 3 (namespace flash) and PyTorch's copy of it (pytorch_flash)
attention      *flash::*
attention      *{flash_fwd,flash_bwd,flash_attn}*
# cuDNN's fused attention; xFormers' and PyTorch's memory-efficient one, and CK's
attention      cudnn_generated_*sdpa*
attention      *cudnn::fusion::{compute_dot_do_o,convert_dq_to}*
attention      *fmha*
# FlashInfer; vLLM: attention, and what writes its cache
attention      *{withpagedkvcache,withraggedkvcache}*
attention      *reshape_and_cache*
attention      *attention*
# AOTriton (ROCm's SDPA): attn_fwd, bwd_kernel_dk_dv, bwd_kernel_dq, bwd_kernel_fuse, bwd_preprocess; Triton's tutorial
attention      *attn_{fwd,bwd}*
attention      bwd_{kernel_dk,kernel_dq,kernel_fuse,preprocess}*
# SageAttention in aiter, with what quantizes its operands; SGLang: what writes its cache
attention      sage_{fwd,quant}*
attention      *store_kvcache*

# cuDNN: direct, Winograd and implicit products, and what prepares them; its engines are named by pass
convolution    *{convolve,convolution,im2col,col2im}*
convolution    *{scudnn,cask_cudnn}*
convolution    *{fprop,dgrad,wgrad}*
convolution    *winograd*
convolution    fft2d_{r2c,c2r}_*
# ATen's own
convolution    at::native::*{conv_depthwise,conv2d,conv3d}*
# MIOpen (igemm_fwd, _bwd, _wrw) and composable kernels
convolution    igemm_{fwd,bwd,wrw}_*
convolution    {im2d2col,im3d2col}*
convolution    *{conv_fwd,conv_bwd,gemm_xdlops_bwd_weight}*

# FBGEMM and TorchRec: tables of embeddings with their optimizer within, and the indices that they take
embedding      {split,dense,ssd}_embedding_*
embedding      {permute_pooled_embs,bounds_check_indices,linearize_index}*
embedding      fbgemm_gpu::{permute_,_block_bucketize,_offsets_range}*
elementwise    fbgemm_gpu::_*fp8*

# Optimizers: apex' and DeepSpeed's functors, PyTorch's fused ones, llm.c, bitsandbytes
optimizer      *multi_tensor_apply_kernel<*{adam,adagrad,lambstage,sgd,novograd}*functor*
optimizer      *fusedoptimizertensorlistmetadata*
optimizer      *adamw_kernel*
optimizer      koptimizer*

# cuBLAS and cuBLASLt (nvjet, xmma, their split-K and epilogues), CUTLASS, Tensile (rocBLAS, hipBLASLt)
matmul         *{gemm,gemv}*
matmul         nvjet_*
matmul         *xmma_*
matmul         *{splitkreduce,cublas}*
matmul         cijk_a*
matmul         cutlass*::{kernel,kernel2,device_kernel}<*
# TensorRT-LLM's batched products of experts, which name their types and the activation that they end with: bmm_E4m3_E4m3E4m3_Fp32_..._swiGlu
matmul         bmm_*
# aiter's fused products of experts
matmul         {aiter::fmoe,fmoe_,mfma_moe}*
# Triton's own, of experts too; of modded-nanogpt's Newton-Schulz iteration
matmul         *matmul*
matmul         *fused_moe_kernel*
matmul         {xxt_kernel,ba_plus_caa_kernel}

# ATen, cuDNN, apex, TransformerEngine, CK, Liger and Triton's tutorial write it out; cuDNN also bn
normalization  *{batch_norm,batchnorm,layer_norm,layernorm,rms_norm,rmsnorm,group_norm,groupnorm,instance_norm}*
normalization  cudnn::bn_{fw,bw}_*
normalization  at::native::{rowwisemoments,gammabetabackward,computefusedparams}*
normalization  *::{ln_fwd,ln_bwd}_*

softmax_loss   *softmax*
softmax_loss   *{cross_entropy,crossentropy,nll_loss,nllloss,classnll}*
# llm.c
softmax_loss   fused_classifier_kernel*

# Rotary embeddings are a product with constants
elementwise    *{rotary,rope}*
embedding      *embedding*
# What ATen's embedding and index_select run, and their gradient
embedding      *{indexselect,vectorized_gather_kernel,indexing_backward_kernel}*
# llm.c
embedding      {encoder_,wte_,wpe_}*

# Norms of lists of tensors; then reductions, pools, scans, sorts and top-k
reduction      *multi_tensor_apply_kernel<*normfunctor*
reduction      at::native::reduce_kernel<*
reduction      at::native::*{max_pool,avg_pool,average_pool}*
reduction      *cub::device*
reduction      *{topk,reduce_segments,sum_bitmatrix}*
reduction      at::native::*{sort,scan,cunn_norm}*

# ATen's loops over elements, and over lists of tensors (_foreach_*, of an optimizer or not)
elementwise    *elementwise_*
elementwise    *multi_tensor_apply_kernel<*
elementwise    at::native::{catarraybatchedcopy,fused_dropout,roll_cuda,triu_tril}*
elementwise    compute_cuda_kernel<*
# Layouts: cuDNN, MIOpen
elementwise    *{nchwtonhwc,nhwctonchw,cnhw2nchw,nchw2cnhw}*
elementwise    {*batched_transpose*,subtensorop*}
elementwise    at::native::*upsample*
elementwise    cudnn::ops::scalepackedtensor*
# Activations with a kernel of their own: vLLM, Liger, llm.c
elementwise    *{gelu,silu,swiglu,geglu,act_and_mul}*
elementwise    {permute_kernel,unpermute_kernel,residual_forward_kernel}*
# Casts to and from types of 8 bits and fewer, by vLLM, TensorRT-LLM, bitsandbytes and DeepSeek
elementwise    *{quantize,quant_kernel}*
elementwise    *{cast_to_fp8,cast_back,cast_and_transpose}*
# hipMemcpy and hipMemset where they run as kernels
elementwise    __amd_rocclr_{copy,fill}buffer*
)";

// KempnerForge, profiling/profiler.py, _analyze_profiler: substrings of the lower-cased name, in this order. "mm" is in
// "comm" too: kernels of NCCL whose parameters say ncclDevComm or ncclDevCommAndChannels count as matmul.
constexpr std::string_view kKempnerForge = R"(
matmul  *{gemm,mm,matmul,dot,bmm,cublas,nvjet,cutlass}*
comm    *{nccl,allreduce,allgather,reduce_scatter}*
memory  *{memcpy,memset}*
other   *
)";

}  // namespace

const NameRules& kernel_rules() {
  static const NameRules rules(kKernelRules, "kernel_rules");
  return rules;
}

const NameRules& kempnerforge_rules() {
  static const NameRules rules(kKempnerForge, "kempnerforge");
  return rules;
}

}  // namespace cli
