// The merged file (`*.ttrace`): all ranks on one axis, ordered by time, in chunks that can be read separately.
//
//   MergedHeader
//   chunk, chunk, ...     each: ChunkHeader, then one zstd frame (level 1, with its checksum) of `raw_bytes`
//   index chunk           IndexEntry for each chunk before it, in their order
//   MergedFooter          contains the offset of the index; the last bytes of the file
//
// All integers are little-endian. docs/ttrace.md describes the format for other languages. Chunks of events
// (columns.h) come first. The events of one process and one sort (ChunkSort) are a stream. The chunks of a
// stream are ordered by time and interleaved with those of other streams, so a reader of one rank, time range or kind
// reads only these chunks. The chunks of one input are contiguous. Within a stream events are ordered by start, then
// longer duration, kind, track. A reader that merges the streams therefore has all events in this order.
//
// Times are those of the process's own clock. Its clock fit (clock_fields) converts them to the axis of the trace, so
// the values of one rank do not depend on the alignment of ranks.
//
// The lists follow the events, each in one or more chunks. An entry of a list is its length in bytes (varint), then its
// fields in the order of the functions below: numbers as zigzag varints, texts and lists as their length and content.
// An entry within an entry is a text of fields, so it can be extended, too.
//
// Evolution: new fields are appended to an entry (a reader skips unknown ones, and missing ones keep their defaults), a
// new list is a new ChunkKind (unknown ones are skipped), and an event kind is identified by its name in the list of
// kinds. A change that a reader has to support gets a bit in `features`; readers refuse unknown bits.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cli/trace/payload.h"

namespace cli::ttrace {

static_assert(std::endian::native == std::endian::little, "the structs below are the bytes of the file");

inline constexpr char kMergedMagic[8] = {'T', 'T', 'R', 'A', 'C', 'E', '\r', '\n'};
inline constexpr char kMergedEnd[8] = {'T', 'T', 'R', 'A', 'C', 'E', 'E', 'N'};
inline constexpr std::uint32_t kMergedVersion = 9;
inline constexpr std::uint64_t kMergedFeatures = 0;

// Maximum memory of a reader for one chunk; writers observe it.
inline constexpr std::uint32_t kMaxChunkBytes = 64u << 20;
inline constexpr std::uint32_t kMaxChunkEvents = 1u << 16;
inline constexpr std::size_t kMaxProcesses = 1u << 17;

// Returns the maximum size of the lists, which are held in memory completely. Names compress to a tenth of their size,
// not to a thousandth: a larger list indicates an attack on memory.
constexpr std::uint64_t most_list_bytes(std::uint64_t file_bytes) {
  return (std::uint64_t{64} << 20) + 200 * file_bytes;
}

enum class ChunkKind : std::uint32_t {
  events = 1,
  kinds = 2,
  strings = 3,
  processes = 4,
  tracks = 5,
  clocks = 6,
  index = 7,
  launches = 8,
  captures = 9,
  steps = 10,   // an entry per process, in their order; missing if steps were not searched
  shapes = 11,  // texts with holes (cli/trace/shapes.h)
  collective_ops = 12,
  dims = 13,
  operator_inputs = 14,
  stacks = 15,
  schema = 16  // the columns of events and the fields of lists (SchemaEntry)
};

// Returns the list of a type of AllInterned.
template <typename T>
constexpr ChunkKind list_of() {
  if (std::is_same_v<T, Launch>) return ChunkKind::launches;
  if (std::is_same_v<T, Capture>) return ChunkKind::captures;
  if (std::is_same_v<T, CollectiveOp>) return ChunkKind::collective_ops;
  if (std::is_same_v<T, Dims>) return ChunkKind::dims;
  return std::is_same_v<T, OperatorInput> ? ChunkKind::operator_inputs : ChunkKind::stacks;
}

// How a value is encoded, in a column of events or in an entry of a list (docs/ttrace.md).
enum class Encoding : std::uint8_t {
  special,        // a column that all events have; the page describes it
  number,         // varint
  signed_number,  // zigzag varint
  real32,         // varint of the bits
  real64,
  difference,  // zigzag varint: minus the entry before it
  string,      // varint: number in the list of strings
  id           // varint: number in another list
};

// Describes a column of the events or a field of an entry, so that a file names what it contains.
struct SchemaEntry {
  ChunkKind of = ChunkKind::events;  // which chunks contain it
  std::uint8_t payload = 0;          // tag of the payload that has the column; 0 for all events and for lists
  std::string_view name;
  Encoding encoding = Encoding::special;
  ChunkKind list = ChunkKind{};  // the list that an id refers to
};

struct MergedHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;  // sizeof this struct when written; chunks start at this offset
  std::uint64_t features;
  std::uint64_t reserved;
};
static_assert(sizeof(MergedHeader) == 32);

struct ChunkHeader {
  std::uint32_t kind;
  std::uint32_t count;  // events or entries
  // Decompressed size; for the index it is limited by its entries, which are smaller than chunks
  std::uint32_t raw_bytes;
  std::uint32_t stored_bytes;  // size of the zstd frame that follows
};
static_assert(sizeof(ChunkHeader) == 16);

// Separates the events of a process into streams; each sort has its own chunks.
enum class ChunkSort : std::uint32_t {
  stream,  // on a GPU's stream
  call,    // CUDA API calls
  flow,    // flow endpoints
  other,
  count_
};

inline constexpr std::int64_t kUnknownLaunch = INT64_MIN;

struct IndexEntry {
  std::uint64_t offset;       // of the ChunkHeader
  std::int64_t first_ns = 0;  // for events: first start
  std::int64_t last_ns = 0;   // for events: last end (or start, if it has no end)
  // Start of the first call that launched one of the events, at most first_ns; kUnknownLaunch if it may be any earlier
  // time.
  std::int64_t first_launch_ns = 0;
  // Start of the last call that began after the work it launched, or later; at least first_ns. Clocks occasionally
  // cause this order.
  std::int64_t late_launch_ns = 0;
  std::uint64_t kinds = 0;    // a bit for each kind in the chunk, by the list of kinds
  std::uint32_t process = 0;  // for events
  std::uint32_t sort = 0;     // for events: ChunkSort
  ChunkHeader header;
};
static_assert(sizeof(IndexEntry) == 72);

struct MergedFooter {
  std::uint64_t index_offset;
  std::uint64_t file_bytes;  // including the footer
  std::uint64_t events;      // in all chunks
  char magic[8];
};
static_assert(sizeof(MergedFooter) == 32);

// The fields of the entries, defined once for both directions: `f` is a FieldWriter or a FieldReader (fields.h).
template <typename F, typename R>
void recorder_fields(F& f, R& r) {
  f.text(r.agent_version);
  f.text(r.events);
  f.number(r.mode);
  f.number(r.cupti_state);
  f.text(r.cupti_holder);
  f.text(r.cupti_path);
  f.number(r.nvtx_state);
  f.number(r.cupti_error);
  f.number(r.cupti_version);
  f.number(r.cuda_driver_version);
  f.number(r.nccl_version);
  f.number(r.truncated_names);
  f.number(r.discarded_buffers);
  f.number(r.definitions_missed);
  f.number(r.agent_cpu_ns);
  f.number(r.created_ns);
  f.number(r.heartbeat_ns);
  f.number(r.invalid_timestamps);
  f.number(r.spool_state);
  f.number(r.spool_error);
  f.number(r.spooled_bytes);
  f.text(r.local_path);
  f.number(r.newest_gpu_end_ns);
  f.number(r.stacks_left_out);
  f.number(r.operators_without_stack);
  f.number(r.module_names_missed);
}

template <typename F, typename D>
void device_fields(F& f, D& d) {
  f.number(d.device);
  f.text(d.name);
  f.text(d.given_name);
  f.text(d.uuid);
  f.text(d.pci_bus_id);
  f.number(d.memory_bytes);
  f.number(d.memory_bandwidth_kbps);
  f.number(d.multiprocessors);
  f.number(d.compute_major);
  f.number(d.compute_minor);
  f.number(d.core_clock_khz);
  f.number(d.l2_bytes);
  f.number(d.threads_per_warp);
  f.number(d.max_threads_per_block);
  f.number(d.max_warps_per_multiprocessor);
  f.number(d.max_blocks_per_multiprocessor);
  f.number(d.max_registers_per_block);
  f.number(d.max_registers_per_multiprocessor);
  f.number(d.max_shared_bytes_per_block);
  f.number(d.max_shared_bytes_per_multiprocessor);
  f.number(d.copy_engines);
}

template <typename F, typename C>
void communicator_fields(F& f, C& c) {
  f.number(c.communicator);
  f.number(c.parent);
  f.number(c.rank);
  f.number(c.ranks);
  f.number(c.device);
  f.number(c.color);
  f.number(c.key);
  f.number(c.epoch);
}

template <typename F, typename N>
void notice_fields(F& f, N& n) {
  f.number(n.code);
  f.number(n.start_ns);
  f.number(n.end_ns);
  f.number(n.value);
  f.text(n.text);
}

template <typename F, typename P>
void process_fields(F& f, P& p) {
  f.text(p.source);
  f.number(p.format);
  f.number(p.rank);
  f.number(p.local_rank);
  f.number(p.world_size);
  f.number(p.pid);
  f.number(p.rank_source);
  f.text(p.host);
  f.text(p.boot_id);
  f.text(p.run_id);
  f.text(p.program);
  f.text(p.device_name);
  f.number(p.state);
  f.counts(p.counts);
  f.counts(p.overwritten);
  f.counts(p.lost);
  f.number(p.lost_unknown_kind);
  f.number(p.first_ns);
  f.number(p.last_ns);
  f.number(p.explicit_flows);
  f.texts(p.notes);
  f.entry(p.recorder, [](auto& in, auto& r) { recorder_fields(in, r); });
  f.entries(p.devices, [](auto& in, auto& d) { device_fields(in, d); });
  f.entries(p.communicators, [](auto& in, auto& c) { communicator_fields(in, c); });
  f.entries(p.notices, [](auto& in, auto& n) { notice_fields(in, n); });
  f.text(p.phase);
  f.text(p.kineto_header);
  f.text(p.kineto_metadata);
  f.optional(p.kineto_base_ns);
  f.text(p.cut);
  f.number(p.text_bytes);
  f.number(p.unread_bytes);
  f.number(p.first_unclamped_ns);
  f.number(p.clock);
  f.number(p.ranks_drawn);
  f.optional_entry(p.damage, [](auto& in, auto& damage) { in.number(damage.byte), in.text(damage.what); });
  f.entries(p.overruns, [](auto& in, auto& each) {
    in.number(each.correlation), in.number(each.duration_ns), in.number(each.cut_ns);
  });
}

// The way in which a process's steps were found, first start and last end of its events except flow endpoints (0, 0 if
// there are none), and its steps on the host and on the GPU. For unnamed steps also the period of its kernels, and
// whether ranks number them alike. Times are on the process's own clock.
template <typename F, typename S>
void steps_fields(F& f, S& s) {
  f.text(s.found_by);
  f.number(s.first_ns);
  f.number(s.last_ns);
  f.entries(s.steps, [](auto& in, auto& step) {
    in.number(step.number);
    in.number(step.start_ns);
    in.number(step.end_ns);
    in.number(step.gpu_start_ns);
    in.number(step.gpu_end_ns);
    in.number(step.kernels);
  });
  f.number(s.period.kernels);
  f.number(s.period.matched);
  f.number(s.period.compared);
  f.number(s.period.by_names);
  f.number(s.alike);
  f.number(s.repeated);
  f.number(s.launched);
  f.number(s.repeats);
  f.text(s.repeats_within);
  f.number(s.launches.count);
  f.number(s.launches.sum_ns);
  f.number(s.launches.unlaunched_count);
  f.number(s.launches.unlaunched_ns);
}

// A visitor of the fields in payload.h, for entries of lists.
template <typename F>
struct EntryFields {
  template <typename T>
  void number(const char*, T& value, bool = true) {
    f.number(value);
  }
  void number(const char*, float& value, bool = true) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    f.number(bits);
    value = std::bit_cast<float>(bits);
  }
  void number(const char*, const float& value, bool = true) { f.number(std::bit_cast<std::uint32_t>(value)); }
  template <typename T>
  void delta(const char*, T& value, bool = true) {
    f.number(value);
  }
  template <typename T>
  void hex(const char*, T& value, bool = true) {
    f.number(value);
  }
  template <typename T>
  void string(const char*, T& id, bool = true) {
    f.number(id);
  }
  template <typename T>
  void id(const char*, T& id, bool = true) {
    f.number(id.value);
  }
  F& f;
};

template <typename F, typename T>
void interned_fields(F& f, T& value) {
  EntryFields<F> fields{f};
  visit_fields(fields, value);
}

template <typename F, typename T>
void track_fields(F& f, T& t) {
  f.number(t.process);
  f.number(t.kind);
  f.number(t.group);
  f.number(t.id);
  f.text(t.name);
  f.text(t.group_name);
  f.optional(t.priority);
  f.text(t.kineto_ids);
  f.number(t.launcher);
}

template <typename F, typename T>
void schema_fields(F& f, T& entry) {
  f.number(static_cast<std::uint32_t>(entry.of));
  f.number(entry.payload);
  f.text(entry.name);
  f.number(static_cast<std::uint8_t>(entry.encoding));
  f.number(static_cast<std::uint32_t>(entry.list));
}

template <typename F, typename C>
void clock_fields(F& f, C& c) {
  f.text(c.host);
  f.text(c.boot_id);
  f.numbers(c.ranks);
  f.number(c.offset_ns);
  f.number(c.reference_ns);
  f.real(c.drift_ppm);
  f.number(c.samples);
  f.optional(c.mad_ns);
  f.optional(c.bound_lo_ns);
  f.optional(c.bound_hi_ns);
  f.text(c.method);
  f.entries(c.later, [](auto& in, auto& piece) {
    in.number(piece.from_ns);
    in.number(piece.offset_ns);
    in.number(piece.reference_ns);
    in.real(piece.drift_ppm);
    in.number(piece.least_ns);
    in.optional(piece.bound_lo_ns);
    in.optional(piece.bound_hi_ns);
  });
}

}  // namespace cli::ttrace
