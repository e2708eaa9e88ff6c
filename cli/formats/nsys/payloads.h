// Binary payloads of NVTX events in NCCL's domain, described by the schemas in the report.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/formats/nsys/database.h"

namespace cli::nsys {

// The members of a payload that have a meaning here, by the names that NCCL gives them
// (src/include/nvtx_payload_schemas.h of NCCL).
struct NcclPayload {
  std::optional<std::uint64_t> communicator, bytes;
  std::optional<std::int64_t> ranks, rank, device, reduction, peer, root;
};

class NcclSchemas {
 public:
  explicit NcclSchemas(Database& database);

  // Returns true if a schema of this domain describes NCCL's communicators. Domains have names only in captures that
  // begin before NCCL.
  bool is_nccl(std::int64_t domain) const { return nccl_domains_.contains(domain); }
  // Decodes the blob of an event. Empty if its schema is unknown or its size is wrong.
  std::optional<NcclPayload> decode(std::int64_t domain, std::string_view blob) const;

 private:
  enum class Member : std::uint8_t { other, communicator, bytes, ranks, rank, device, reduction, peer, root };
  struct Field {
    Member member = Member::other;
    std::size_t offset = 0, size = 0;
  };
  struct Entry;

  static Member member_of(std::string_view name);
  static std::vector<Field> lay_out(const std::map<std::int64_t, Entry>& entries);

  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Field>> schemas_;  // by domain and schema
  std::set<std::int64_t> nccl_domains_;
};

}  // namespace cli::nsys
