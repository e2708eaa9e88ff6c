#include "agent/nvtx/nvtx_names.h"

#include <atomic>
#include <cstring>

#include "agent/base/memory.h"
#include "agent/ring/interner.h"
#include "agent/ring/recorder.h"
#include "common/hash.h"
#include "common/utf8.h"

namespace agent {
namespace {

constexpr std::size_t kTextChunk = 256u << 10;
constexpr std::size_t kPage = 1024;  // strings

// Text that is valid as long as the process, in chunks that are never freed.
class TextStore {
 public:
  // Returns null if memory ran out or the limit is reached.
  const char* keep(std::string_view text) noexcept;

 private:
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t total_ = 0;
};

const char* TextStore::keep(std::string_view text) noexcept {
  if (total_ + text.size() > kTextBytes) return nullptr;
  if (text.size() > left_) {
    at_ = map_zeroed<char>(kTextChunk);
    left_ = at_ != nullptr ? kTextChunk : 0;
    if (at_ == nullptr) return nullptr;
  }
  char* kept = at_;
  if (!text.empty()) std::memcpy(kept, text.data(), text.size());
  at_ += text.size();
  left_ -= text.size();
  total_ += text.size();
  return kept;
}

// The handle of all strings that were registered after the store was full.
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

// Returns the handle of a permanent string; 0 if there is no space for it.
std::uint64_t keep_string(std::string_view text) {
  const std::uint64_t count = s_string_count.load(std::memory_order_relaxed);
  if (count == kMostStrings) return 0;
  std::string_view*& page = s_pages[count / kPage];
  if (page == nullptr) page = map_zeroed<std::string_view>(kPage * sizeof(*page));
  const char* kept = page != nullptr ? s_store.keep(text) : nullptr;
  if (kept == nullptr) return 0;
  page[count % kPage] = {kept, text.size()};
  s_string_count.store(count + 1, std::memory_order_release);
  return count + 1;
}

constexpr std::size_t kMostPending = 128;
constexpr std::size_t kPendingBytes = 128;  // longer names are cut here while they wait
constexpr std::size_t kRemembered = 1024;

struct PendingName {
  NvtxName name;
  char text[kPendingBytes];
};

constinit Spinlock s_names_lock{};
constinit PendingName s_pending_names[kMostPending]{};
constinit std::size_t s_name_count = 0;
constinit std::uint64_t s_missed = 0;
constinit bool s_names_replayed = false;
// By hash, so that a repeated name does not fill the region
constinit std::atomic<std::uint64_t> s_written[kRemembered]{};

constinit std::atomic<NumberStream> s_number_stream{nullptr};

// The number of a stream has to be queried now, because streams are named while they exist.
void number_stream(NvtxResource& resource) {
  if (resource.kind != trace::ResourceKind::stream || resource.id != kUnknownId) return;
  const NumberStream number = s_number_stream.load(std::memory_order_acquire);
  std::uint32_t id;
  if (number != nullptr && number(resource.handle, id)) resource.id = id;
}

bool is_kept(const NvtxName& name) {
  for (const PendingName* known = s_pending_names; known != s_pending_names + s_name_count; ++known) {
    const NvtxName& other = known->name;
    if (other.domain == name.domain && other.category == name.category && other.resource == name.resource &&
        other.text == clipped(name.text, kPendingBytes)) {
      return true;
    }
  }
  return false;
}

bool keep(const NvtxName& name) {
  const Locked locked(s_names_lock);
  if (s_names_replayed) return false;
  if (is_kept(name)) return true;
  if (s_name_count == kMostPending) {
    ++s_missed;
    return true;
  }
  PendingName& pending = s_pending_names[s_name_count++];
  pending.name = name;
  pending.name.text = clipped(name.text, kPendingBytes);
  count_cut_name(name.text, pending.name.text);
  if (!name.text.empty()) std::memcpy(pending.text, name.text.data(), pending.name.text.size());
  pending.name.text = {pending.text, pending.name.text.size()};
  return true;
}

std::string_view domain_text(const NvtxName& name) {
  return name.domain != nullptr ? name.domain->name() : std::string_view();
}

bool was_written(const NvtxName& name) {
  const std::uint64_t ids[] = {reinterpret_cast<std::uint64_t>(name.domain), name.category,
                               static_cast<std::uint64_t>(name.resource.kind), name.resource.id, name.resource.handle};
  const std::uint64_t hash =
      trace::hash_bytes(name.text.data(), name.text.size(), trace::hash_bytes(ids, sizeof(ids), 1));
  return s_written[hash % kRemembered].exchange(hash, std::memory_order_relaxed) == hash;
}

// Calls `append` with the complete record of the name.
template <typename Append>
auto with_record(const NvtxName& name, std::uint32_t domain_ref, std::uint32_t name_ref, const Append& append) {
  if (name.resource.kind == trace::ResourceKind{}) {
    auto record = trace::make_record<trace::NvtxCategoryRecord>();
    record.category = name.category;
    record.domain_ref = domain_ref;
    record.name_ref = name_ref;
    return append(record);
  }
  auto record = trace::make_record<trace::ResourceNameRecord>();
  record.resource = static_cast<std::uint8_t>(name.resource.kind);
  record.id = name.resource.id;
  record.handle = name.resource.handle;
  record.name_ref = name_ref;
  return append(record);
}

// Returns false if the region is full.
bool write_in_region(const NvtxName& name) {
  const Locked locked(interner().lock());
  const auto define_text = [](std::string_view text) {
    return text.empty() ? trace::kNoRef : define_string(ring(), kNamesReserve, text);
  };
  const std::uint32_t domain_ref = define_text(domain_text(name));
  const std::uint32_t name_ref = define_text(name.text);
  if (!domain_text(name).empty() && domain_ref == trace::kNoRef) return false;
  if (!name.text.empty() && name_ref == trace::kNoRef) return false;
  return with_record(name, domain_ref, name_ref, [](const auto& record) {
    return trace::append_definition(ring(), kNamesReserve, &record, sizeof(record)) != trace::kNoRef;
  });
}

// Lost when its block is overwritten, like all definitions outside of the region.
void write_in_block(const Guard& guard, const NvtxName& name) {
  constexpr auto kKind = trace::ResourceNameRecord::kKind;
  HostWriter writer(guard, kKind, sizeof(trace::ResourceNameRecord), name.text.size() + domain_text(name).size());
  if (!writer) return;
  const std::uint32_t domain_ref = writer.name(domain_text(name));
  with_record(name, domain_ref, writer.name(name.text), [&](const auto& record) { writer.append(record); });
}

void write(const Guard& guard, NvtxName name) {
  const std::string_view whole = name.text;
  name.text = clipped(whole, longest_name(ring()));
  if (was_written(name)) return;
  count_cut_name(whole, name.text);
  if (!write_in_region(name)) write_in_block(guard, name);
}

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
  const bool ours =
      offset % sizeof(Domain) == 0 && offset / sizeof(Domain) < s_domain_count.load(std::memory_order_acquire);
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
  if (number <= s_string_count.load(std::memory_order_acquire))
    return s_pages[(number - 1) / kPage][(number - 1) % kPage];
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
    used += trace::put_utf8(code, buffer + used);
  }
  return {buffer, used};
}

std::string_view message_of(std::int32_t type, const nvtxMessageValue_t& message, char* buffer) noexcept {
  if (type == NVTX_MESSAGE_TYPE_ASCII) return text_of(message.ascii);
  if (type == NVTX_MESSAGE_TYPE_UNICODE) return narrow(message.unicode, buffer);
  return type == NVTX_MESSAGE_TYPE_REGISTERED ? registered_text(message.registered) : std::string_view();
}

void set_stream_numbers(NumberStream number) noexcept { s_number_stream.store(number, std::memory_order_release); }

void nvtx_name(const Guard& guard, NvtxName name) noexcept {
  number_stream(name.resource);
  if (recording() == Recording::off && keep(name)) return;
  if (recording() == Recording::open) write(guard, name);
}

void replay_pending_names(const Guard& guard) noexcept {
  const Locked locked(s_names_lock);
  for (std::size_t i = 0; i < s_name_count; ++i) write(guard, s_pending_names[i].name);
  if (s_missed > 0) count_lost(trace::ResourceNameRecord::kKind, s_missed);
  s_names_replayed = true;
}

void forget_pending_names() noexcept {
  s_names_lock.unlock();  // a thread of the parent may have held it
  s_name_count = 0;
  s_missed = 0;
}

}  // namespace agent
