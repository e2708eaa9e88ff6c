// NVTX ranges and NCCL calls, from the agent's NVTX injection, in CLOCK_MONOTONIC.
#pragma once
#include "common/records/record_kind.h"

namespace trace {

// A range has two records, so that one that is open when the process dies is visible. Pushes and pops are nested per
// (tid, domain). A domain_ref of kNoRef is NVTX's default domain.
struct NvtxPushRecord {
  static constexpr RecordKind kKind{25};
  static constexpr std::string_view kName = "nvtx_push";
  static constexpr std::string_view kCountsAs = "nvtx";
  static constexpr Choice kChoice{"nvtx", FirstSet::light};  // for all of NVTX
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;  // 0 if none
  std::uint32_t category;
  std::uint64_t payload;  // bytes of the value, in its own type; absent without payload
};

struct NvtxPopRecord {
  static constexpr RecordKind kKind{26};
  static constexpr std::string_view kName = "nvtx_pop";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t domain_ref;
  std::uint32_t reserved2;
};

// Ranges that start on one thread and may end on another. range_id joins both records.
struct NvtxStartRecord {
  static constexpr RecordKind kKind{27};
  static constexpr std::string_view kName = "nvtx_start";
  static constexpr std::string_view kCountsAs = "nvtx";
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;
  std::uint32_t category;
  std::uint64_t range_id;
  std::uint64_t payload;  // bytes of the value, in its own type; absent without payload
};

struct NvtxEndRecord {
  static constexpr RecordKind kKind{28};
  static constexpr std::string_view kName = "nvtx_end";
  std::uint8_t kind, size_words;
  std::uint16_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint64_t range_id;
};

struct NvtxMarkRecord {
  static constexpr RecordKind kKind{29};
  static constexpr std::string_view kName = "nvtx_mark";
  static constexpr std::string_view kCountsAs = "nvtx";
  std::uint8_t kind, size_words;
  std::uint8_t payload_type;  // nvtxPayloadType_t: 0 none, 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float
  std::uint8_t reserved;
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;
  std::uint32_t domain_ref;
  std::uint32_t color_argb;
  std::uint32_t category;
  std::uint64_t payload;  // bytes of the value, in its own type; absent without payload
};

// Classes of NCCL calls with separate numbering. All ranks of a communicator call in the same order, so equal numbers
// identify the same call.
enum class NcclClass : std::uint8_t { collective = 1, send = 2, receive = 3 };

// Bits of `has`: the known facts about an NCCL call.
enum NcclHas : std::uint8_t {
  kHasCommunicator = 1,  // communicator
  kHasBytes = 2,         // bytes
  kHasReductionOp = 4,   // reduction_op
  kHasPeer = 8,          // peer: of a send or receive; for other calls the root
  kHasDataType = 16,     // data_type and count
  kHasStream = 32,       // stream
  kHasFirstOf = 64,      // in graph_node: the first of several calls of a group; any of them may have created the node
};

// A host call of NCCL: a push in NCCL's NVTX domain; the next nvtx_pop of (tid, domain_ref) at its depth ends it.
// (communicator, epoch, nccl_class, ordinal) identifies the same collective on every rank.
struct NcclCallRecord {
  static constexpr RecordKind kKind{30};
  static constexpr std::string_view kName = "nccl_call";
  static constexpr std::string_view kCountsAs = "nccl";
  static constexpr Choice kChoice{"nccl", FirstSet::light};
  std::uint8_t kind, size_words;
  std::uint8_t nccl_class;  // NcclClass
  std::uint8_t has;         // NcclHas
  std::uint32_t tid;
  std::uint64_t time_mono_ns;
  std::uint32_t name_ref;    // "ncclAllReduce"
  std::uint32_t domain_ref;  // "NCCL"
  std::uint64_t communicator;
  std::uint64_t bytes;  // count argument of the call (ncclReduceScatter: recvcount) times the size of the type
  std::uint64_t ordinal;
  std::uint32_t epoch;
  std::uint32_t reduction_op;
  std::uint32_t peer;
  std::uint32_t data_type;  // ncclDataType_t
  std::uint64_t count;      // elements of one message
  std::uint64_t stream;     // cudaStream_t
};

}  // namespace trace
