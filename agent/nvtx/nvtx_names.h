// Names that the program gives to categories, threads and CUDA objects: permanent definitions in the recording. Before
// there is a recording they wait in a bounded buffer.
#pragma once
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"
#include "agent/base/loaded_objects.h"
#include "common/record.h"

namespace agent {

// Texts from NVTX: domains and registered strings (our handles), and the message of an event. Handles are valid as long
// as the process, like NVTX's own. A handle that is not ours (another tool's, or invalid) has no name and never causes
// a crash. A wrong pointer to a text or struct does no harm without a tool, so the agent checks that the memory is
// readable before it reads it.
struct Domain {
  std::string_view text;
  bool is_nccl;
  std::string_view name() const { return text; }
};

// Returns the domain for a name; the same one for the same name. Null (the default domain) if memory ran out. Domains
// beyond kMostDomains share one whose name indicates that.
const Domain* make_domain(std::string_view name) noexcept;
inline constexpr std::size_t kMostDomains = 512;
// Called in a forked child that begins again: a thread of the parent may have been making a domain.
void release_nvtx_texts() noexcept;
// Returns null (the default domain) for handles that are not ours.
const Domain* domain_of(nvtxDomainHandle_t handle) noexcept;

// Registers a string. Strings are kept permanently up to kTextBytes and kMostStrings. Later ones share a name that
// indicates that, and are counted as truncated, so that a program that registers `step 1`, `step 2`, ... for days does
// not fill memory.
nvtxStringHandle_t make_registered_string(std::string_view text) noexcept;
inline constexpr std::size_t kTextBytes = 32u << 20;
inline constexpr std::size_t kMostStrings = 1u << 19;

// Maximum length of a name that fits a block of the ring.
inline constexpr std::size_t kLongestKept = 16u << 10;
// Maximum length of names that are converted or wait.
inline constexpr std::size_t kConverted = 512;

// Returns the text of a handle; "" if it is not ours.
std::string_view registered_text(nvtxStringHandle_t handle) noexcept;

// Converts wchar_t text to UTF-8 in `buffer`, which has kConverted bytes.
std::string_view narrow(const wchar_t* text, char* buffer) noexcept;

// Returns one byte more than is kept, so that a longer text is counted as truncated.
inline std::string_view text_of(const char* text) {
  return text != nullptr ? readable_text(text, kLongestKept + 1) : std::string_view();
}

// Returns the text of a message: its own text, that of its registered string, or `buffer` with converted text.
std::string_view message_of(std::int32_t type, const nvtxMessageValue_t& message, char* buffer) noexcept;

inline constexpr std::uint32_t kUnknownId = 0xffffffff;

struct NvtxResource {
  trace::ResourceKind kind{};
  std::uint32_t id = kUnknownId;  // that of a stream is queried
  std::uint64_t handle = 0;
  friend bool operator==(const NvtxResource&, const NvtxResource&) = default;
};

struct NvtxName {
  const Domain* domain;  // for a category
  std::uint32_t category;
  NvtxResource resource;  // kind 0 for a category
  std::string_view text;
};

// Queries the number of an existing stream; returns false if unknown. No number is known before set_stream_numbers().
using NumberStream = bool (*)(std::uint64_t handle, std::uint32_t& id);
void set_stream_numbers(NumberStream number) noexcept;

// Records a name now, or when the recording begins. A repeated name takes no space in the file.
void nvtx_name(const Guard& guard, NvtxName name) noexcept;

// Writes the waiting names once, when the recording begins.
void replay_pending_names(const Guard& guard) noexcept;
// Called in a forked child that begins again.
void forget_pending_names() noexcept;

}  // namespace agent
