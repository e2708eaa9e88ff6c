// The table of kinds: one row each, in the order of the enumeration.
#pragma once
#include <array>
#include <string_view>

#include "cli/model/event.h"

namespace cli {

struct KindRow {
  std::string_view name;      // the JSON key in `info --json`
  std::string_view category;  // what our own recordings get in Chrome JSON (Kineto's words where it has one)
};

inline constexpr std::array<KindRow, static_cast<std::size_t>(Kind::count_)> kKinds{{
    {"kernel", "kernel"},
    {"memcpy", "gpu_memcpy"},
    {"memset", "gpu_memset"},
    {"runtime", "cuda_runtime"},
    {"driver", "cuda_driver"},
    {"nvtx", "nvtx"},
    {"nccl", "nccl"},
    {"sync", "cuda_sync"},
    {"cuda_event", "cuda_event"},
    {"overhead", "overhead"},
    {"graph", "cuda_graph"},
    {"memory", "cuda_memory"},
    {"notice", "notice"},
    {"cpu_op", "cpu_op"},
    {"user_annotation", "user_annotation"},
    {"gpu_annotation", "gpu_user_annotation"},
    {"python_function", "python_function"},
    {"instant", "cpu_instant_event"},
    {"counter", "counter"},
    {"flow", "flow"},
    {"other", "other"},
}};

constexpr const KindRow& row(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

}  // namespace cli
