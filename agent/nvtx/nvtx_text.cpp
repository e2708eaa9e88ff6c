#include "agent/nvtx/nvtx_text.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace agent {
namespace {

struct RegisteredString {
  std::string_view text;  // lies behind this struct
};

// A T with a copy of `text` behind it; null when memory ran out.
template <typename T>
T* with_text(std::string_view text) {
  void* memory = std::malloc(sizeof(T) + text.size());
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) T{};
  char* behind = reinterpret_cast<char*>(made + 1);
  std::memcpy(behind, text.data(), text.size());
  made->text = {behind, text.size()};
  return made;
}

std::string_view view(const char* text) { return text != nullptr ? std::string_view(text) : std::string_view(); }

// One code point as UTF-8; returns the bytes written (at most 4).
std::size_t encode(std::uint32_t code, char* to) {
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  const std::size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  constexpr unsigned char kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (std::size_t i = bytes - 1; i > 0; --i, code >>= 6) to[i] = static_cast<char>(0x80 | (code & 0x3f));
  to[0] = static_cast<char>(kLead[bytes] | code);
  return bytes;
}

}  // namespace

Domain* make_domain(std::string_view name) noexcept {
  auto* domain = with_text<Domain>(name);
  if (domain != nullptr) domain->is_nccl = name == "NCCL";
  return domain;
}

nvtxStringHandle_t make_registered_string(std::string_view text) noexcept {
  return reinterpret_cast<nvtxStringHandle_t>(with_text<RegisteredString>(text));
}

std::string_view narrow(const wchar_t* text, char* buffer) noexcept {
  std::size_t used = 0;
  for (; text != nullptr && *text != L'\0' && used + 4 <= kConverted; ++text) {
    const auto code = static_cast<std::uint32_t>(*text);
    used += encode(code <= 0x10ffff ? code : 0xfffd, buffer + used);
  }
  return {buffer, used};
}

std::string_view message_of(const nvtxEventAttributes_t* event, char* buffer) noexcept {
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return view(event->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(event->message.unicode, buffer);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* string = reinterpret_cast<const RegisteredString*>(event->message.registered);
      return string != nullptr ? string->text : std::string_view();
    }
    default:
      return {};
  }
}

}  // namespace agent
