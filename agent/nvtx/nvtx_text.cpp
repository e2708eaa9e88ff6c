#include "agent/nvtx/nvtx_text.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "agent/base/lock.h"
#include "agent/ring/interner.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::size_t kChunk = 256u << 10;
constexpr std::size_t kPage = 1024;  // strings

// Text that lives as long as the process, from chunks that are never freed.
class TextStore {
 public:
  // Null when memory ran out, or the limit is reached.
  const char* keep(std::string_view text) noexcept;

 private:
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t total_ = 0;
};

void* map_bytes(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

const char* TextStore::keep(std::string_view text) noexcept {
  if (total_ + text.size() > kTextBytes) return nullptr;
  if (text.size() > left_) {
    at_ = static_cast<char*>(map_bytes(kChunk));
    left_ = at_ != nullptr ? kChunk : 0;
    if (at_ == nullptr) return nullptr;
  }
  char* kept = at_;
  if (!text.empty()) std::memcpy(kept, text.data(), text.size());
  at_ += text.size();
  left_ -= text.size();
  total_ += text.size();
  return kept;
}

// The handle of all strings that came after the store was full.
constexpr std::uint64_t kMoreStrings = kMostStrings + 1;
constexpr std::string_view kMoreStringsText = "(string limit reached)";

constinit Spinlock s_text_lock{};
constinit TextStore s_store{};
constinit Domain s_domains[kMostDomains]{};
constinit std::atomic<std::size_t> s_domain_count{0};
constinit std::string_view* s_pages[kMostStrings / kPage]{};
constinit std::atomic<std::uint64_t> s_string_count{0};

const Domain* find_domain(std::string_view name) {
  const std::size_t count = s_domain_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (s_domains[i].text == name) return s_domains + i;
  }
  return nullptr;
}

const Domain* add_domain(std::string_view name) {
  const std::size_t count = s_domain_count.load(std::memory_order_relaxed);
  if (count == kMostDomains) return s_domains + kMostDomains - 1;
  if (count == kMostDomains - 1) name = "(domain limit reached)";
  const char* text = s_store.keep(name);
  if (text == nullptr) return nullptr;
  s_domains[count] = {{text, name.size()}, name == "NCCL"};
  s_domain_count.store(count + 1, std::memory_order_release);
  return s_domains + count;
}

// The handle of a string that is kept for good; 0: there is no room for it.
std::uint64_t keep_string(std::string_view text) {
  const std::uint64_t count = s_string_count.load(std::memory_order_relaxed);
  if (count == kMostStrings) return 0;
  std::string_view*& page = s_pages[count / kPage];
  if (page == nullptr) page = static_cast<std::string_view*>(map_bytes(kPage * sizeof(*page)));
  const char* kept = page != nullptr ? s_store.keep(text) : nullptr;
  if (kept == nullptr) return 0;
  page[count % kPage] = {kept, text.size()};
  s_string_count.store(count + 1, std::memory_order_release);
  return count + 1;
}

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

bool is_code_point(std::uint32_t code) { return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff); }

}  // namespace

const Domain* make_domain(std::string_view name) noexcept {
  count_cut_name(name, clipped(name, kLongestKept));
  name = clipped(name, kLongestKept);
  const Locked locked(s_text_lock);
  const Domain* known = find_domain(name);
  return known != nullptr ? known : add_domain(name);
}

void release_nvtx_texts() noexcept { s_text_lock.unlock(); }

const Domain* domain_of(nvtxDomainHandle_t handle) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(s_domains);
  const bool ours = offset % sizeof(Domain) == 0 && offset / sizeof(Domain) < s_domain_count.load(std::memory_order_acquire);
  return ours ? reinterpret_cast<const Domain*>(handle) : nullptr;
}

nvtxStringHandle_t make_registered_string(std::string_view text) noexcept {
  count_cut_name(text, clipped(text, kLongestKept));
  text = clipped(text, kLongestKept);
  const Locked locked(s_text_lock);
  std::uint64_t handle = keep_string(text);
  if (handle == 0) {
    count_cut_name();
    handle = kMoreStrings;
  }
  return reinterpret_cast<nvtxStringHandle_t>(handle);
}

std::string_view registered_text(nvtxStringHandle_t handle) noexcept {
  const auto number = reinterpret_cast<std::uint64_t>(handle);
  if (number == 0) return {};
  if (number == kMoreStrings) return kMoreStringsText;
  if (number <= s_string_count.load(std::memory_order_acquire)) {
    return s_pages[(number - 1) / kPage][(number - 1) % kPage];
  }
  return {};
}

std::string_view narrow(const wchar_t* text, char* buffer) noexcept {
  std::size_t used = 0;
  std::uint32_t code = 0;
  for (; text != nullptr && read_guarded(text, code) && code != 0; ++text) {
    if (used + 4 > kConverted) {
      count_cut_name();
      break;
    }
    used += encode(is_code_point(code) ? code : 0xfffd, buffer + used);
  }
  return {buffer, used};
}

std::string_view message_of(std::int32_t type, const nvtxMessageValue_t& message, char* buffer) noexcept {
  switch (type) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text_of(message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(message.unicode, buffer);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return registered_text(message.registered);
    default:
      return {};
  }
}

}  // namespace agent
