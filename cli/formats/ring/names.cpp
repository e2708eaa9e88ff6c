#include "cli/formats/ring/names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "cli/base/error.h"

namespace cli::ring {
namespace {

// CUPTI reports linker names ("_Z..."); other names are not changed.
std::string demangle(const std::string& name) {
  int status = 0;
  char* plain = name.rfind("_Z", 0) == 0 ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status) : nullptr;
  if (plain == nullptr) return name;
  std::string result = plain;
  std::free(plain);
  return result;
}

// CUPTI names runtime calls by function and version ("cudaLaunchKernel_v7000"), while users and other tools use the
// function's name. Driver calls keep their "_v2", which is part of the name.
std::string_view without_version(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool versioned = name.size() - digits >= 4 && digits >= 2 && name.substr(digits - 2, 2) == "_v";
  return versioned ? name.substr(0, digits - 2) : name;
}

}  // namespace

void RingNames::enter_block(const RingBlock& block) {
  block_ = &block;
  block_strings_.clear();
}

void RingNames::enter_region() {
  block_ = nullptr;
  block_strings_.clear();
}

void RingNames::note_api(const trace::ApiNameRecord& api) {
  apis_[std::uint64_t{api.domain} << 32 | api.cbid] = catalog_.strings.intern(without_version(terminated(api.name)));
}

Error RingNames::bad_reference(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const {
  const std::uint64_t base = block_ != nullptr ? block_->offset : file_.header().definitions_offset;
  return Error(Exit::bad_content,
               fmt::format("{}: byte {}: reference {:#x} points to no {}; the file is damaged", file_.path(),
                           base + record_at, ref, trace::record_name(static_cast<std::uint8_t>(kind))));
}

RingNames::Found RingNames::find(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const {
  const bool local = trace::is_local(ref) && block_ != nullptr;
  const std::vector<std::byte>& bytes = local ? block_->payload : file_.definitions();
  const std::size_t at = trace::is_local(ref) && !local ? bytes.size() : trace::ref_offset(ref);
  const std::size_t end = local ? record_at : bytes.size();
  const std::size_t size = at < end ? trace::record_size(bytes.data() + at, end - at) : 0;
  if (size == 0 || bytes[at] != static_cast<std::byte>(kind)) throw bad_reference(ref, kind, record_at);
  return {&bytes, at, size};
}

std::string_view RingNames::bytes(std::uint32_t ref, std::size_t record_at) const {
  const Found found = find(ref, trace::StringRecord::kKind, record_at);
  const auto head = ring::record_at<trace::StringRecord>(*found.bytes, found.at, found.size);
  const std::size_t room = found.size < sizeof(head) ? 0 : found.size - sizeof(head);
  const auto* text = reinterpret_cast<const char*>(found.bytes->data() + found.at + sizeof(head));
  return {text, head.length < room ? head.length : room};
}

StringId RingNames::string(std::uint32_t ref, std::size_t record_at) {
  if (ref == trace::kNoRef) return 0;
  auto& known = trace::is_local(ref) ? block_strings_ : region_strings_;
  const auto [entry, is_new] = known.try_emplace(ref, 0);
  if (is_new) entry->second = catalog_.strings.intern(bytes(ref, record_at));
  return entry->second;
}

trace::LaunchShapeRecord RingNames::shape(std::uint32_t ref, std::size_t record_at) const {
  const Found found = find(ref, trace::LaunchShapeRecord::kKind, record_at);
  return ring::record_at<trace::LaunchShapeRecord>(*found.bytes, found.at, found.size);
}

StringId RingNames::kernel_name(const trace::LaunchShapeRecord& shape, std::size_t record_at) {
  const StringId raw = string(shape.name_ref, record_at);
  const auto [entry, is_new] = demangled_.try_emplace(raw, 0);
  if (is_new) entry->second = catalog_.strings.intern(demangle(std::string(catalog_.strings[raw])));
  return entry->second;
}

StringId RingNames::api_name(trace::RecordKind domain, std::uint32_t cbid) {
  const auto [entry, is_new] = apis_.try_emplace(std::uint64_t{static_cast<std::uint8_t>(domain)} << 32 | cbid, 0);
  if (is_new || entry->second == 0) {
    const char* which = domain == trace::DriverRecord::kKind ? "driver" : "runtime";
    entry->second = catalog_.strings.intern(fmt::format("{} call {}", which, cbid));
  }
  return entry->second;
}

}  // namespace cli::ring
