// Resolves the references of a recording's records: names, launch shapes, API functions, threads. A reference that
// leads nowhere (a damaged file) is an Error with the record's offset.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "cli/model/catalog.h"
#include "cli/read/ring_file.h"

namespace cli {

class RingNames {
 public:
  // Reads the definitions region: identity goes to `process`, names to `catalog`.
  RingNames(const RingFile& file, Catalog& catalog, ProcessId process);

  void enter_block(const RingBlock& block);
  // A definition within the current block: API and thread names are noted, the rest is found by reference.
  void define(std::uint8_t kind, std::size_t at, std::size_t size);

  StringId string(std::uint32_t ref, std::size_t record_at);  // 0 for kNoRef
  trace::LaunchShapeRecord shape(std::uint32_t ref, std::size_t record_at) const;
  StringId kernel_name(const trace::LaunchShapeRecord& shape, std::size_t record_at);  // demangled
  StringId api_name(trace::RecordKind domain, std::uint32_t cbid);

  // Names the thread tracks that exist by now.
  void name_threads(Catalog& catalog, ProcessId process) const;

 private:
  struct Found {
    const std::vector<std::byte>* bytes;
    std::size_t at;
    std::size_t size;
  };
  Found find(std::uint32_t ref, trace::RecordKind kind, std::size_t record_at) const;
  std::string_view text(std::uint32_t ref, std::size_t record_at) const;
  void read_region();
  void note(const std::vector<std::byte>& bytes, std::uint8_t kind, std::size_t at, std::size_t size);
  void read_identity(const trace::IdentityRecord& identity);

  const RingFile& file_;
  Catalog& catalog_;
  ProcessId process_;
  const RingBlock* block_ = nullptr;
  std::size_t region_read_ = 0;                                 // bytes
  std::unordered_map<std::uint32_t, StringId> region_strings_;  // by reference
  std::unordered_map<std::uint32_t, StringId> block_strings_;
  std::unordered_map<StringId, StringId> demangled_;
  std::unordered_map<std::uint64_t, StringId> apis_;  // by domain << 32 | cbid
  std::unordered_map<std::uint32_t, std::string> threads_;
};

}  // namespace cli
