#include <random>

#include "cli/trace/short_name.h"
#include "tests/unit/catch.h"

using cli::demangled;
using cli::short_name;
using cli::ShortNames;

TEST_CASE("short names: signatures of PyTorch, CUTLASS and NCCL") {
  CHECK(short_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                   "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)") ==
        "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>");
  CHECK(short_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  CHECK(short_name("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>"
                   "(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8::Params)") ==
        "Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>");
  CHECK(short_name("void (anonymous namespace)::softmax_warp_forward<float, c10::BFloat16, float, 9, true, false>"
                   "(c10::BFloat16*, float const*, int)") ==
        "softmax_warp_forward<float, BFloat16, float, 9, true, false>");
  CHECK(short_name("foo(...)") == "foo");
  CHECK(short_name("void const_pad_kernel<int>(int)") == "const_pad_kernel<int>");
}

TEST_CASE("short names: what tells lambdas apart stays") {
  CHECK(short_name("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
                   "CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::"
                   "{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >"
                   "(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1})") ==
        "elementwise_kernel<128, 4, gpu_kernel_impl_nocast<CUDAFunctor_add<...>>::lambda>");
  CHECK(short_name("void f<main::{lambda(int)#1}, main::{lambda(int)#2}>()") == "f<lambda, lambda#2>");
  CHECK(short_name("g(int)::{lambda(float)#1}::operator()(float) const") == "g::operator()");
}

TEST_CASE("short names: operators, casts, qualifiers and clones") {
  CHECK(short_name("bool ns::operator< <int>(ns::A<int> const&, ns::A<int> const&)") == "operator<<int>");
  CHECK(short_name("a::b::operator<<(int)") == "operator<<");
  CHECK(short_name("a::b::operator()(int) const") == "operator()");
  CHECK(short_name("void k<(int)4, (at::ScalarType)15, -1, &(ns::f)>(int)") == "k<4, 15, -1, &>");
  CHECK(short_name("void k<unsigned long, char const*, float const&>(int)") == "k<unsigned long, char*, float&>");
  CHECK(short_name("void k<float>(float) [clone .kd]") == "k<float>");
  CHECK(short_name("k(float) [clone .kd]") == "k");
  CHECK(short_name("std::enable_if<true, void>::type ns::k<3>(int)") == "k<3>");
  CHECK(short_name("void <unnamed>::k<int>(int)") == "k<int>");
  CHECK(short_name("void k<a<b<c<d>>>>(int)") == "k<a<b<...>>>");
  CHECK(short_name("void k<int (*)(float)>(int)") == "k<int>");
}

TEST_CASE("short names: what is no signature stays as it is") {
  for (const char* name :
       {"", "triton_poi_fused_add_mul_0", "ampere_sgemm_128x64_tn", "nvjet_tst_64x8_64x16_2x1_v_bz_TNT", "my kernel",
        "a\nb\"c", "CUDA graph 4", "_Znot a linker name", "\xff\xfe"}) {
    CHECK(short_name(name) == name);
  }
}

TEST_CASE("short names: brackets that do not match") {
  for (const char* name : {"k<", "k<<<<", "k(", "k<int>>)", "k<(>", "k<a, b", "void k<{lambda>(int)",
                           "operator<::", "::", "<>", "k<operator", ")", "void k<int(>()"}) {
    INFO(name);
    const std::string shown = short_name(name);
    CHECK_FALSE(shown.empty());
    CHECK(shown.size() <= std::string_view(name).size() + 5);
  }
  CHECK(short_name("k<a, b") == "k<a, b");
}

TEST_CASE("short names: 64 KB templates, in one pass") {
  std::string deep = "void ns::k<", wide = deep, open = "k";
  for (int i = 0; i < 16'000; ++i) deep += "a<", wide += "float, ", open += "<(a";
  for (int i = 0; i < 16'000; ++i) deep += '>';
  CHECK(short_name(deep + ">(int)") == "k<a<a<...>>>");
  const std::string shown = short_name(wide + "int>(int)");
  CHECK(shown.substr(0, 15) == "k<float, float,");
  CHECK(shown.substr(shown.size() - 6) == ", ...>");
  CHECK(shown.size() < 128);
  CHECK(short_name(open).size() == cli::kLongestShortName);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\xc3\xa9";
  CHECK(short_name(text).size() == cli::kLongestShortName - 1);  // 126 characters of two bytes, and "..."
}

TEST_CASE("short names: any bytes", "[property]") {
  static constexpr std::string_view kPieces[] = {"a",
                                                 "::",
                                                 "<",
                                                 ">",
                                                 "(",
                                                 ")",
                                                 "{",
                                                 "}",
                                                 ",",
                                                 " ",
                                                 "operator",
                                                 "const",
                                                 "->",
                                                 "(anonymous namespace)",
                                                 "{lambda(int)#1}",
                                                 "_Z",
                                                 "*",
                                                 "\xc3\xa9"};
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (unsigned i = random() % 24; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    REQUIRE(short_name(text).size() <= cli::kLongestShortName);
  }
}

TEST_CASE("short names: linker names of foreign traces") {
  CHECK(demangled("_ZN2at6native4fillIfEEvPT_i") == "void at::native::fill<float>(float*, int)");
  CHECK(demangled("plain").empty());
  CHECK(demangled("_Z").empty());
  std::string doubling = "_Z1f";  // each level says the last one twice: 2^60 characters
  for (int i = 0; i < 60; ++i) doubling += "1aI";
  for (int i = 0; i < 60; ++i) doubling += "S_S_E";
  CHECK(demangled(doubling).empty());
  CHECK(short_name("_ZN7cutlass13device_kernelINS_4gemm") == "device_kernel<...>");  // cut short: cannot be demangled
  CHECK(short_name("_Z99999999999999999999999999a") == "_Z99999999999999999999999999a");
}

TEST_CASE("short names: of a catalogue") {
  cli::Strings strings;
  const auto plain = strings.intern("gemm"), mangled = strings.intern("_ZN2at6native4fillIfEEvPT_i"),
             cpp = strings.intern("void a::k(int)");
  ShortNames names(strings);
  CHECK(names[0].shown.empty());
  CHECK(names[plain].shown == "gemm");
  CHECK(names[plain].full.empty());
  CHECK(names[mangled].shown == "fill<float>");
  CHECK(names[mangled].full == "void at::native::fill<float>(float*, int)");
  const auto later = strings.intern("void b::k(int)");
  CHECK(names[later].shown == "k");
  CHECK(names[cpp].shown == "k");
  CHECK(names[cpp].full == "void a::k(int)");
}
