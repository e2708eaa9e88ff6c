// Names that the program gives to categories, threads and CUDA's things: permanent definitions in the recording. Before
// there is one they wait, bounded.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/nvtx/nvtx_text.h"
#include "common/record.h"

namespace agent {

inline constexpr std::uint32_t kUnknownId = 0xffffffff;

struct NvtxResource {
  trace::ResourceKind kind{};
  std::uint32_t id = kUnknownId;  // a stream's is asked for
  std::uint64_t handle = 0;
};

struct NvtxName {
  const Domain* domain;  // of a category
  std::uint32_t category;
  NvtxResource resource;  // kind 0: a category
  std::string_view text;
};

// How the number of a stream is asked for while it lives; false: unknown. Before it is told none is.
using NumberStream = bool (*)(std::uint64_t handle, std::uint32_t& id);
void set_stream_numbers(NumberStream number) noexcept;

// Now, or when the recording begins. The same name again costs nothing in the file.
void nvtx_name(const Guard& guard, NvtxName name) noexcept;

// Writes what waits. Once, when the recording begins.
void replay_pending_names(const Guard& guard) noexcept;
// In a forked child that begins afresh.
void forget_pending_names() noexcept;

}  // namespace agent
