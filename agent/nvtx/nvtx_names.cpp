#include "agent/nvtx/nvtx_names.h"

#include <atomic>
#include <cstring>

#include "agent/ring/recorder.h"

namespace agent {
namespace {

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
constinit std::atomic<std::uint64_t> s_written[kRemembered]{};  // by hash, so that a name in a loop does not fill the region

constinit std::atomic<NumberStream> s_number_stream{nullptr};

// Streams are named while they live, so this is the moment to ask.
void number_stream(NvtxResource& resource) {
  if (resource.kind != trace::ResourceKind::stream || resource.id != kUnknownId) return;
  const NumberStream number = s_number_stream.load(std::memory_order_acquire);
  std::uint32_t id;
  if (number != nullptr && number(resource.handle, id)) resource.id = id;
}

bool same(const NvtxResource& a, const NvtxResource& b) {
  return a.kind == b.kind && a.id == b.id && a.handle == b.handle;
}

bool is_kept(const NvtxName& name) {
  for (const PendingName* known = s_pending_names; known != s_pending_names + s_name_count; ++known) {
    const NvtxName& other = known->name;
    if (other.domain == name.domain && other.category == name.category && same(other.resource, name.resource) &&
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
  const std::uint64_t hash = hash_bytes(name.text.data(), name.text.size(), hash_bytes(ids, sizeof(ids), 1));
  return s_written[hash % kRemembered].exchange(hash, std::memory_order_relaxed) == hash;
}

trace::NvtxCategoryRecord category_record(const NvtxName& name, std::uint32_t domain_ref, std::uint32_t name_ref) {
  auto record = trace::make_record<trace::NvtxCategoryRecord>();
  record.category = name.category;
  record.domain_ref = domain_ref;
  record.name_ref = name_ref;
  return record;
}

trace::ResourceNameRecord resource_record(const NvtxName& name, std::uint32_t name_ref) {
  auto record = trace::make_record<trace::ResourceNameRecord>();
  record.resource = static_cast<std::uint8_t>(name.resource.kind);
  record.id = name.resource.id;
  record.handle = name.resource.handle;
  record.name_ref = name_ref;
  return record;
}

// Gives `append` the finished record of the name.
template <typename Append>
auto with_record(const NvtxName& name, std::uint32_t domain_ref, std::uint32_t name_ref, const Append& append) {
  return name.resource.kind == trace::ResourceKind{} ? append(category_record(name, domain_ref, name_ref))
                                                     : append(resource_record(name, name_ref));
}

// False: the region is full.
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

// Dies with its block, as all definitions beyond the region do.
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
