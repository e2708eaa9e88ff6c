// Resolves the references in records: names, launch configurations, API functions. Throws Error with the record's
// offset for a reference without a target (a damaged file).
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "cli/base/error.h"
#include "cli/formats/ring/file.h"
#include "cli/trace/catalog.h"

namespace cli::ring {

class RingNames {
 public:
  RingNames(const RingFile& file, Catalog& catalog) : file_(file), catalog_(catalog) {}

  // Sets the origin of the following references: a block, or the definitions region.
  void enter_block(const RingBlock& block);
  void enter_region();

  StringId string(std::uint32_t ref, std::size_t record_at);  // 0 for kNoRef
  // Returns the bytes of a string, which may be no text. Valid as long as the block, or the region, is unchanged.
  std::string_view bytes(std::uint32_t ref, std::size_t record_at) const;
  trace::LaunchShapeRecord shape(std::uint32_t ref, std::size_t record_at) const;
  StringId kernel_name(const trace::LaunchShapeRecord& shape, std::size_t record_at);  // demangled
  StringId api_name(trace::RecordKind domain, std::uint32_t cbid);
  void note_api(const trace::ApiNameRecord& api);
  // Returns the error for a reference without a record of this kind.
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
  const RingBlock* block_ = nullptr;                            // null for the region
  std::unordered_map<std::uint32_t, StringId> region_strings_;  // by reference
  std::unordered_map<std::uint32_t, StringId> block_strings_;
  std::unordered_map<StringId, StringId> demangled_;
  std::unordered_map<std::uint64_t, StringId> apis_;  // by domain << 32 | cbid
};

// Returns the text in a field of fixed size.
template <std::size_t Size>
std::string_view terminated(const char (&text)[Size]) {
  return {text, strnlen(text, Size)};
}

}  // namespace cli::ring
