// The table of kinds: one entry each.
#pragma once
#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "cli/trace/event.h"

namespace cli {

using KindSet = std::bitset<static_cast<std::size_t>(Kind::count_)>;

constexpr KindSet kinds_of(std::initializer_list<Kind> kinds) {
  unsigned long long bits = 0;
  for (const Kind kind : kinds) bits |= 1ull << static_cast<unsigned>(kind);
  return bits;
}

struct KindInfo {
  Kind kind;
  std::string_view name;      // the JSON key in `info --json`
  std::string_view category;  // what our own recordings get in Chrome JSON (Kineto's words where it has one)
};

inline constexpr std::array<KindInfo, static_cast<std::size_t>(Kind::count_)> kKinds{{
    {Kind::kernel, "kernel", "kernel"},
    {Kind::memcpy, "memcpy", "gpu_memcpy"},
    {Kind::memset, "memset", "gpu_memset"},
    {Kind::runtime, "runtime", "cuda_runtime"},
    {Kind::driver, "driver", "cuda_driver"},
    {Kind::nvtx, "nvtx", "nvtx"},
    {Kind::nccl, "nccl", "nccl"},
    {Kind::sync, "sync", "cuda_sync"},
    {Kind::cuda_event, "cuda_event", "cuda_event"},
    {Kind::overhead, "overhead", "overhead"},
    {Kind::graph, "graph", "cuda_graph"},
    {Kind::memory, "memory", "cuda_memory"},
    {Kind::notice, "notice", "notice"},
    {Kind::cpu_op, "cpu_op", "cpu_op"},
    {Kind::user_annotation, "user_annotation", "user_annotation"},
    {Kind::gpu_annotation, "gpu_annotation", "gpu_user_annotation"},
    {Kind::python_function, "python_function", "python_function"},
    {Kind::instant, "instant", "cpu_instant_event"},
    {Kind::counter, "counter", "counter"},
    {Kind::flow, "flow", "flow"},
    {Kind::garbage_collection, "garbage_collection", "garbage_collection"},
    {Kind::stack, "stack", "stack"},
    {Kind::other, "other", "other"},
}};
static_assert(std::all_of(kKinds.begin(), kKinds.end(),
                          [](const KindInfo& info) { return &info - kKinds.data() == static_cast<int>(info.kind); }),
              "rows are found by their kind: they stand in its order");

constexpr const KindInfo& info(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

}  // namespace cli
