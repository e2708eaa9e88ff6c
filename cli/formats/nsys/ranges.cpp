// The table NVTX_EVENTS: ranges, marks, and the calls of NCCL, which are ranges of its own domain.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/formats/nsys/output.h"
#include "cli/formats/nsys/payloads.h"
#include "cli/formats/nsys/torch_ranges.h"

namespace cli::nsys {
namespace {

enum class RangeType : std::uint8_t { other, category, mark, range, domain };

struct RangeTypeName {
  RangeType type;
  std::string_view name;  // in ENUM_NSYS_EVENT_TYPE
  std::int64_t usual;     // number in files without that table
};
constexpr std::array<RangeTypeName, 8> kRangeTypes{{{RangeType::category, "NvtxCategory", 33},
                                                    {RangeType::mark, "NvtxMark", 34},
                                                    {RangeType::range, "NvtxPushPopRange", 59},
                                                    {RangeType::range, "NvtxStartEndRange", 60},
                                                    {RangeType::mark, "NvtxtMark", 65},
                                                    {RangeType::range, "NvtxtPushPopRange", 70},
                                                    {RangeType::range, "NvtxtStartEndRange", 71},
                                                    {RangeType::domain, "NvtxDomainCreate", 75}}};

// NCCL calls that move data, as tracetool's agent classifies them. Other ranges of NCCL's domain stay ranges.
struct NcclName {
  std::string_view name;
  trace::NcclClass nccl_class;
};
constexpr std::array<NcclName, 12> kNcclNames{{{"ncclAllReduce", trace::NcclClass::collective},
                                               {"ncclReduceScatter", trace::NcclClass::collective},
                                               {"ncclAllGather", trace::NcclClass::collective},
                                               {"ncclBroadcast", trace::NcclClass::collective},
                                               {"ncclBcast", trace::NcclClass::collective},
                                               {"ncclReduce", trace::NcclClass::collective},
                                               {"ncclAlltoAll", trace::NcclClass::collective},
                                               {"ncclAllToAll", trace::NcclClass::collective},
                                               {"ncclGather", trace::NcclClass::collective},
                                               {"ncclScatter", trace::NcclClass::collective},
                                               {"ncclSend", trace::NcclClass::send},
                                               {"ncclRecv", trace::NcclClass::receive}}};

std::optional<trace::NcclClass> nccl_class_of(std::string_view name) {
  for (const NcclName& known : kNcclNames) {
    if (name == known.name) return known.nccl_class;
  }
  return {};
}

class Ranges {
 public:
  explicit Ranges(Output& output) : output_(output), schemas_(output.database), nccl_(output.intern("NCCL")) {
    const Enumeration types = read_enumeration(output.database, "ENUM_NSYS_EVENT_TYPE");
    for (const RangeTypeName& each : kRangeTypes) {
      const auto found = types.find(each.name);
      if (found != types.end() || types.empty()) types_.emplace(types.empty() ? each.usual : found->second, each.type);
    }
  }

  void read() {
    read_definitions();
    for (Rows rows = output_.database.rows(
             "NVTX_EVENTS",
             {"start", "end", "eventType", "globalTid", "domainId", "text", "textId", "category", "color",
              "uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "binaryData"});
         rows.next();) {
      const RangeType type = type_of(rows.integer(2));
      if (type == RangeType::range || type == RangeType::mark) read_range(rows, type);
    }
  }

 private:
  using DomainKey = std::pair<std::uint64_t, std::int64_t>;  // process and number
  using CategoryKey = std::pair<DomainKey, std::int64_t>;
  static constexpr int kFirstValue = 9, kBlob = 15;

  RangeType type_of(std::int64_t number) const {
    const auto found = types_.find(number);
    return found == types_.end() ? RangeType::other : found->second;
  }

  static DomainKey domain_key(const Rows& rows) {
    const auto id = rows.optional(3);
    return {id ? GlobalId(*id).process : 0, rows.integer(4)};
  }

  // Exactly one of text and textId is set.
  StringId text_of(const Rows& rows) {
    return rows.is_null(5) ? output_.name(rows.optional(6)) : output_.intern(rows.text(5));
  }

  // The texts of emit_nvtx() contain numbers of each call, so they are not kept.
  std::optional<TorchRange> torch_range_of(const Rows& rows) {
    if (!rows.is_null(5)) return parse_torch_range(rows.text(5));
    const auto id = rows.optional(6);
    if (!id || other_texts_.count(*id) != 0) return {};
    const auto range = parse_torch_range(output_.texts[*id]);
    if (!range) other_texts_.insert(*id);
    return range;
  }

  // Names of domains and categories may be anywhere in the table. In a capture that was cut they may be missing.
  void read_definitions() {
    std::string where;
    for (const auto& [number, type] : types_) {
      if (type == RangeType::category || type == RangeType::domain)
        where += fmt::format("{}{}", where.empty() ? "" : ", ", number);
    }
    if (where.empty() || !output_.database.has_column("NVTX_EVENTS", "eventType")) return;
    for (Rows rows = output_.database.rows(
             "NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "domainId", "text", "textId", "category"},
             fmt::format("eventType IN ({})", where));
         rows.next();) {
      if (type_of(rows.integer(2)) == RangeType::domain)
        domains_.emplace(domain_key(rows), text_of(rows));
      else
        categories_.emplace(CategoryKey(domain_key(rows), rows.integer(7)), text_of(rows));
    }
  }

  // Returns the name of a domain. 0 is the default domain, which has none.
  StringId domain_of(const DomainKey& key) {
    if (key.second == 0) return 0;
    const auto [entry, is_new] = domains_.try_emplace(key, 0);
    if (entry->second == 0) {
      entry->second = schemas_.is_nccl(key.second) ? nccl_ : output_.intern(fmt::format("domain {}", key.second));
    }
    return entry->second;
  }

  RangeFacts facts_of(const Rows& rows, const DomainKey& domain) {
    RangeFacts facts;
    facts.domain = domain_of(domain);
    facts.has_domain = facts.domain != 0;
    facts.category = rows.number<std::uint32_t>(7);
    if (facts.category != 0) {
      const auto name = categories_.find({domain, facts.category});
      if (name != categories_.end()) facts.category_name = name->second;
    }
    facts.color_argb = static_cast<std::uint32_t>(rows.integer(8));
    for (std::uint8_t type = 1; type <= 6 && facts.payload_type == 0; ++type) {
      const int column = kFirstValue + type - 1;
      if (rows.is_null(column)) continue;
      facts.payload_type = type;
      const std::uint64_t whole = static_cast<std::uint64_t>(rows.integer(column));
      facts.payload = type == 3   ? std::bit_cast<std::uint64_t>(rows.real(column))
                      : type == 6 ? std::bit_cast<std::uint32_t>(static_cast<float>(rows.real(column)))
                      : type >= 4 ? whole & 0xffffffff
                                  : whole;
    }
    return facts;
  }

  void read_range(const Rows& rows, RangeType type) {
    Event event;
    event.kind = Kind::nvtx;
    if (type == RangeType::mark) event.phase = 'i';
    if (!output_.set_times(event, rows, 0, type == RangeType::mark ? -1 : 1)) return;
    const auto id = rows.optional(3);
    ReportProcess& process = output_.process(id);
    event.track = output_.thread_track(process, id ? GlobalId(*id).tid : 0);
    if (type == RangeType::range && rows.integer(4) == 0) {
      if (const auto range = torch_range_of(rows)) return read_torch_range(process, event, *range, rows);
    }
    event.name = text_of(rows);
    const RangeFacts facts = facts_of(rows, domain_key(rows));
    if (facts.domain == nccl_) return read_nccl(process, event, facts, rows);
    output_.emit(process, event, facts);
  }

  // Operators become events like those of torch.profiler, and ranges of record_function() stay ranges.
  void read_torch_range(ReportProcess& process, Event event, const TorchRange& range, const Rows& rows) {
    event.name = output_.intern(range.name);
    std::string more = range.rest.empty() ? "" : fmt::format("\"inputs\": {}", json_quoted(range.rest));
    if (!range.is_operator()) {
      if (range.op_id) more = fmt::format("\"op_id\": {}{}{}", *range.op_id, more.empty() ? "" : ", ", more);
      return output_.emit(process, event, Facts(facts_of(rows, domain_key(rows)), more));
    }
    event.kind = Kind::cpu_op;
    OperatorFacts facts;
    if (range.sequence_number) facts.has |= OperatorFacts::kSequenceNumber;
    if (range.op_id) facts.has |= OperatorFacts::kRecordFunction;
    facts.sequence_number = range.sequence_number.value_or(0);
    facts.record_function = range.op_id.value_or(0);
    output_.emit(process, event, Facts(facts, more));
  }

  void read_nccl(ReportProcess& process, Event event, const RangeFacts& range, const Rows& rows) {
    const auto payload = schemas_.decode(rows.integer(4), rows.text(kBlob));
    const auto nccl_class = nccl_class_of(output_.catalog.strings[event.name]);
    if (payload && payload->communicator && payload->ranks && payload->rank) note_communicator(process, *payload);
    if (!nccl_class || event.phase != 'X') return output_.emit(process, event, range);
    ++process.nccl_calls;
    process.nccl_payloads += payload.has_value();
    NcclFacts facts;
    facts.collective.nccl_class = static_cast<std::uint8_t>(*nccl_class);
    if (payload) describe(facts.collective, event, *payload);
    event.kind = Kind::nccl;
    output_.emit(process, event, facts);
  }

  static void describe(Collective& collective, Event& event, const NcclPayload& payload) {
    if (payload.communicator) {
      collective.has |= Collective::kCommunicator;
      collective.communicator = *payload.communicator;
    }
    if (payload.bytes) {
      collective.has |= Collective::kBytes;
      event.has_bytes = true;
      event.bytes = *payload.bytes;
    }
    if (payload.reduction && std::in_range<std::uint32_t>(*payload.reduction)) {
      collective.has |= Collective::kReduction;
      collective.reduction = static_cast<std::uint32_t>(*payload.reduction);
    }
    const auto& peer = payload.peer ? payload.peer : payload.root;
    if (peer && std::in_range<std::int32_t>(*peer)) {
      collective.has |= Collective::kPeer;
      collective.peer = static_cast<std::int32_t>(*peer);
    }
  }

  void note_communicator(const ReportProcess& process, const NcclPayload& payload) {
    Communicator communicator;
    communicator.communicator = *payload.communicator;
    communicator.rank = *payload.rank;
    communicator.ranks = *payload.ranks;
    communicator.device = payload.device.value_or(-1);
    std::vector<Communicator>& known = output_.catalog.processes[process.id].communicators;
    const auto is_same = [&](const Communicator& each) {
      return each.communicator == communicator.communicator && each.rank == communicator.rank;
    };
    if (known.size() < kMostCommunicators && std::none_of(known.begin(), known.end(), is_same))
      known.push_back(communicator);
  }

  static constexpr std::size_t kMostCommunicators = 4096;

  Output& output_;
  const NcclSchemas schemas_;
  const StringId nccl_;
  std::map<std::int64_t, RangeType> types_;
  std::unordered_set<std::int64_t> other_texts_;  // ids of texts that are not from emit_nvtx()
  std::map<DomainKey, StringId> domains_;
  std::map<CategoryKey, StringId> categories_;
};

}  // namespace

void read_ranges(Output& output) { Ranges(output).read(); }

}  // namespace cli::nsys
