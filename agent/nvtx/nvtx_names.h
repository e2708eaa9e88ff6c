// Names that the program gives to categories, threads and CUDA's things: permanent definitions in the recording. Before
// there is one they wait, bounded.
#pragma once
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/base/loaded_objects.h"
#include "common/record.h"

namespace agent {

// What NVTX hands us, as text: domains and registered strings (our handles), and the message of an event. Handles live
// as long as the process, as NVTX's own do. A handle that we did not give (another tool's, garbage) is no name, never a
// crash. A wrong pointer to a text or struct does no harm without a tool. The agent checks that the memory is readable before it reads it.
struct Domain {
  std::string_view text;
  bool is_nccl;
  std::string_view name() const { return text; }
};

// One per name, however often it is made or destroyed. Null (the default domain) when memory ran out; beyond
// kMostDomains they all share one that says so.
const Domain* make_domain(std::string_view name) noexcept;
inline constexpr std::size_t kMostDomains = 512;
// In a forked child that begins afresh: a thread of the parent may have been making one.
void release_nvtx_texts() noexcept;
// Null (the default domain) for what is not one of ours.
const Domain* domain_of(nvtxDomainHandle_t handle) noexcept;

// Strings are kept for good up to kTextBytes and kMostStrings; those that come later share a name that says so, and are
// counted as truncated: a program that registers `step 1`, `step 2`, ... for days must not fill memory.
nvtxStringHandle_t make_registered_string(std::string_view text) noexcept;
inline constexpr std::size_t kTextBytes = 32u << 20;
inline constexpr std::size_t kMostStrings = 1u << 19;

// The most of a name that fits into a block of the ring.
inline constexpr std::size_t kLongestKept = 16u << 10;
// Names are cut at this length where they are converted or wait.
inline constexpr std::size_t kConverted = 512;

// The text of a handle, "" where it is none of ours.
std::string_view registered_text(nvtxStringHandle_t handle) noexcept;

// wchar_t text as UTF-8 in `buffer` of kConverted bytes.
std::string_view narrow(const wchar_t* text, char* buffer) noexcept;

// One byte more than is kept, so that a longer text is counted as truncated.
inline std::string_view text_of(const char* text) {
  return text != nullptr ? readable_text(text, kLongestKept + 1) : std::string_view();
}

// A message: its own text, the text of its registered string, or `buffer` with converted text.
std::string_view message_of(std::int32_t type, const nvtxMessageValue_t& message, char* buffer) noexcept;

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
