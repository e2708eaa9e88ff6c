#include "cli/formats/nsys/payloads.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cli::nsys {
namespace {

// A blob begins with a header: domain at byte 0, number of the schema at byte 8, size of the payload at byte 16. All
// numbers are little-endian.
constexpr std::size_t kSchemaAt = 8, kBlobHeaderBytes = 32;
constexpr std::int64_t kMostPayloadBytes = 1 << 16;

// Sizes of the entry types in the payload extension of NVTX, by number. Enumerations have numbers from 1 << 24 on, and
// NCCL's are 32 bits wide.
constexpr std::array<std::uint8_t, 24> kTypeBytes{0, 1, 1, 2, 2, 4, 4, 8, 8, 8,  8, 1,
                                                  1, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8};
constexpr std::int64_t kFirstEnumeration = 1 << 24;

std::size_t bytes_of_type(std::int64_t type) {
  if (type >= kFirstEnumeration) return 4;
  return type >= 0 && type < std::int64_t{kTypeBytes.size()} ? kTypeBytes[static_cast<std::size_t>(type)] : 0;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

}  // namespace

struct NcclSchemas::Entry {
  Member member = Member::other;
  std::int64_t type = 0;
  std::optional<std::int64_t> offset;
};

NcclSchemas::Member NcclSchemas::member_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Member>, 8> kNames{{{"NCCL communicator ID", Member::communicator},
                                                                       {"Message size [bytes]", Member::bytes},
                                                                       {"No. of ranks", Member::ranks},
                                                                       {"Rank", Member::rank},
                                                                       {"CUDA device", Member::device},
                                                                       {"Reduction operation", Member::reduction},
                                                                       {"Peer rank", Member::peer},
                                                                       {"Root", Member::root}}};
  for (const auto& [known, member] : kNames) {
    if (name == known) return member;
  }
  return Member::other;
}

// An entry without an offset follows the one before it, at its natural alignment.
std::vector<NcclSchemas::Field> NcclSchemas::lay_out(const std::map<std::int64_t, Entry>& entries) {
  std::vector<Field> fields;
  std::size_t end = 0;
  for (const auto& [number, entry] : entries) {
    const std::size_t size = bytes_of_type(entry.type);
    if (size == 0) break;
    const std::size_t next = (end + size - 1) / size * size;
    const std::int64_t at = entry.offset.value_or(static_cast<std::int64_t>(next));
    if (at < 0 || at > kMostPayloadBytes) break;
    fields.push_back({entry.member, static_cast<std::size_t>(at), size});
    end = fields.back().offset + size;
  }
  return fields;
}

// The rows of a schema are repeated for each process.
NcclSchemas::NcclSchemas(Database& database) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, Entry>> entries;
  for (Rows rows =
           database.rows("NVTX_PAYLOAD_SCHEMA_ENTRIES", {"domainId", "schemaId", "idx", "type", "name", "offset"});
       rows.next();) {
    const Entry entry{member_of(rows.text(4)), rows.integer(3), rows.optional(5)};
    entries[{rows.integer(0), rows.integer(1)}].emplace(rows.integer(2), entry);
    if (entry.member == Member::communicator) nccl_domains_.insert(rows.integer(0));
  }
  for (const auto& [schema, of_schema] : entries) schemas_.emplace(schema, lay_out(of_schema));
}

std::optional<NcclPayload> NcclSchemas::decode(std::int64_t domain, std::string_view blob) const {
  if (blob.size() < kBlobHeaderBytes) return {};
  const auto schema =
      schemas_.find({domain, static_cast<std::int64_t>(little_endian(blob.substr(kSchemaAt, sizeof(std::uint32_t))))});
  if (schema == schemas_.end()) return {};
  const std::string_view content = blob.substr(kBlobHeaderBytes);
  NcclPayload payload;
  for (const Field& field : schema->second) {
    if (field.offset + field.size > content.size()) return {};
    const std::uint64_t value = little_endian(content.substr(field.offset, field.size));
    const auto number = field.size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
    switch (field.member) {
      case Member::communicator:
        payload.communicator = value;
        break;
      case Member::bytes:
        payload.bytes = value;
        break;
      case Member::ranks:
        payload.ranks = number;
        break;
      case Member::rank:
        payload.rank = number;
        break;
      case Member::device:
        payload.device = number;
        break;
      case Member::reduction:
        payload.reduction = number;
        break;
      case Member::peer:
        payload.peer = number;
        break;
      case Member::root:
        payload.root = number;
        break;
      case Member::other:
        break;
    }
  }
  return payload;
}

}  // namespace cli::nsys
