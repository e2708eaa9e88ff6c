#include "cli/read/ring_names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "cli/error.h"

namespace cli {
namespace {

// CUPTI gives linker names ("_Z..."); what is none stays as it is.
std::string demangle(const std::string& name) {
  int status = 0;
  char* plain = name.rfind("_Z", 0) == 0 ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status) : nullptr;
  if (plain == nullptr) return name;
  std::string result = plain;
  std::free(plain);
  return result;
}

// CUPTI names runtime calls by function and version ("cudaLaunchKernel_v7000"); users and other tools know the
// function. Driver calls keep their "_v2": it is part of the name.
std::string_view without_version(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool versioned = name.size() - digits >= 4 && digits >= 2 && name.substr(digits - 2, 2) == "_v";
  return versioned ? name.substr(0, digits - 2) : name;
}

template <std::size_t Size>
std::string_view terminated(const char (&text)[Size]) {
  return {text, strnlen(text, Size)};
}

}  // namespace

RingNames::RingNames(const RingFile& file, Catalog& catalog, ProcessId process)
    : file_(file), catalog_(catalog), process_(process) {
  read_region();
}

void RingNames::read_region() {
  const auto& region = file_.definitions();
  const std::size_t end = walk_records(
      region, [&](std::size_t at, std::uint8_t kind, std::size_t size) { note(region, kind, at, size); }, region_read_);
  if (end != region.size()) {
    throw Error(Exit::bad_content, fmt::format("{}: byte {}: not a definition; the file is damaged", file_.path(),
                                               file_.header().definitions_offset + end));
  }
  region_read_ = end;
}

void RingNames::enter_block(const RingBlock& block) {
  block_ = &block;
  block_strings_.clear();
  if (file_.definitions().size() > region_read_) read_region();
}

void RingNames::define(std::uint8_t kind, std::size_t at, std::size_t size) { note(block_->payload, kind, at, size); }

void RingNames::note(const std::vector<std::byte>& bytes, std::uint8_t kind, std::size_t at, std::size_t size) {
  if (kind == static_cast<std::uint8_t>(trace::RecordKind::api_name)) {
    const auto api = record_at<trace::ApiNameRecord>(bytes, at, size);
    apis_[std::uint64_t{api.domain} << 32 | api.cbid] = catalog_.strings.intern(without_version(terminated(api.name)));
  } else if (kind == static_cast<std::uint8_t>(trace::RecordKind::thread_name)) {
    const auto thread = record_at<trace::ThreadNameRecord>(bytes, at, size);
    if (thread.name[0] != '\0') threads_[thread.tid] = terminated(thread.name);
  } else if (kind == static_cast<std::uint8_t>(trace::RecordKind::identity)) {
    read_identity(record_at<trace::IdentityRecord>(bytes, at, size));
  }
}

void RingNames::read_identity(const trace::IdentityRecord& identity) {
  Process& process = catalog_.processes[process_];
  if (identity.rank >= 0) process.rank = identity.rank;
  if (identity.local_rank >= 0) process.local_rank = identity.local_rank;
  if (identity.world_size >= 0) process.world_size = identity.world_size;
  if (process.rank >= 0) process.rank_source = "content";
}

RingNames::Found RingNames::find(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const {
  const bool local = trace::is_local(ref);
  const std::vector<std::byte>& bytes = local ? block_->payload : file_.definitions();
  const std::size_t at = trace::ref_offset(ref);
  const std::size_t end = local ? record_at : bytes.size();
  const std::size_t size = at < end ? trace::record_size(bytes.data() + at, end - at) : 0;
  if (size == 0 || bytes[at] != static_cast<std::byte>(kind)) {
    throw Error(Exit::bad_content,
                fmt::format("{}: byte {}: reference {:#x} leads to no {}; the file is damaged", file_.path(),
                            block_->offset + record_at, ref, trace::record_name(static_cast<std::uint8_t>(kind))));
  }
  return {&bytes, at, size};
}

std::string_view RingNames::text(std::uint32_t ref, std::size_t record_at) const {
  const Found found = find(ref, trace::RecordKind::string, record_at);
  const auto head = cli::record_at<trace::StringRecord>(*found.bytes, found.at, found.size);
  const std::size_t room = found.size < sizeof(head) ? 0 : found.size - sizeof(head);
  const auto* text = reinterpret_cast<const char*>(found.bytes->data() + found.at + sizeof(head));
  return {text, head.length < room ? head.length : room};
}

StringId RingNames::string(std::uint32_t ref, std::size_t record_at) {
  if (ref == trace::kNoRef) return 0;
  auto& known = trace::is_local(ref) ? block_strings_ : region_strings_;
  const auto [entry, is_new] = known.try_emplace(ref, 0);
  if (is_new) entry->second = catalog_.strings.intern(text(ref, record_at));
  return entry->second;
}

trace::LaunchShapeRecord RingNames::shape(std::uint32_t ref, std::size_t record_at) const {
  const Found found = find(ref, trace::RecordKind::launch_shape, record_at);
  return cli::record_at<trace::LaunchShapeRecord>(*found.bytes, found.at, found.size);
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
    const char* which = domain == trace::RecordKind::driver ? "driver" : "runtime";
    entry->second = catalog_.strings.intern(fmt::format("{} call {}", which, cbid));
  }
  return entry->second;
}

void RingNames::name_threads(Catalog& catalog, ProcessId process) const {
  for (Track& track : catalog.tracks) {
    if (track.process != process || track.kind != TrackKind::thread) continue;
    const auto name = threads_.find(static_cast<std::uint32_t>(track.id));
    if (name != threads_.end()) track.name = name->second;
  }
}

}  // namespace cli
