// What NVTX hands us, as text: domains and registered strings (our handles), and the message of an event. Handles live
// as long as the process, as NVTX's own do.
#pragma once
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string_view>

namespace agent {

struct Domain {
  std::string_view text;  // lies behind this struct
  bool is_nccl;
  std::string_view name() const { return text; }
};

// Null (the default domain) when memory ran out.
Domain* make_domain(std::string_view name) noexcept;
nvtxStringHandle_t make_registered_string(std::string_view text) noexcept;

// Names are cut at this length where they are converted or wait.
inline constexpr std::size_t kConverted = 512;

// wchar_t text as UTF-8 in `buffer` of kConverted bytes.
std::string_view narrow(const wchar_t* text, char* buffer) noexcept;

// The message of an event: its own text, the text of its registered string, or `buffer` with converted text.
std::string_view message_of(const nvtxEventAttributes_t* event, char* buffer) noexcept;

}  // namespace agent
