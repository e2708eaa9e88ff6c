// Resolves the references of a recording's records: names, launch configurations, API functions. A reference that leads nowhere
// (a damaged file) is an Error with the record's offset.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "cli/trace/catalog.h"
#include "cli/base/error.h"
#include "cli/formats/ring/file.h"

namespace cli::ring {

class RingNames {
 public:
  RingNames(const RingFile& file, Catalog& catalog) : file_(file), catalog_(catalog) {}

  // Whose records ask from now on: those of a block, or of the definitions region.
  void enter_block(const RingBlock& block);
  void enter_region();

  StringId string(std::uint32_t ref, std::size_t record_at);  // 0 for kNoRef
  // Its bytes, which may be no text; valid while the block, or the region, is as it is.
  std::string_view bytes(std::uint32_t ref, std::size_t record_at) const;
  trace::LaunchShapeRecord shape(std::uint32_t ref, std::size_t record_at) const;
  StringId kernel_name(const trace::LaunchShapeRecord& shape, std::size_t record_at);  // demangled
  StringId api_name(trace::RecordKind domain, std::uint32_t cbid);
  void note_api(const trace::ApiNameRecord& api);
  // What to throw where a reference leads to no record of this kind.
  Error bad_reference(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const;

 private:
  struct Found {
    const std::vector<std::byte>* bytes;
    std::size_t at;
    std::size_t size;
  };
  Found find(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const;

  const RingFile& file_;
  Catalog& catalog_;
  const RingBlock* block_ = nullptr;                            // null: the region
  std::unordered_map<std::uint32_t, StringId> region_strings_;  // by reference
  std::unordered_map<std::uint32_t, StringId> block_strings_;
  std::unordered_map<StringId, StringId> demangled_;
  std::unordered_map<std::uint64_t, StringId> apis_;  // by domain << 32 | cbid
};

// The text of a field of fixed size.
template <std::size_t Size>
std::string_view terminated(const char (&text)[Size]) {
  return {text, strnlen(text, Size)};
}

}  // namespace cli::ring
