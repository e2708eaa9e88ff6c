// The layout of a recording (`*.ring`): one file per process that uses the GPU, in a shared mapping of its writer.
//
//   0                       FileHeader, one page of 4096 bytes
//   definitions_offset      the definitions region: records of kinds 1 to 15, contiguous, ended by kind 0
//   blocks_offset           block_count blocks of block_bytes: a BlockHeader, then the payload
//
// The writer may be killed between any two instructions, and the reader maps the file at any moment, of a live or a
// dead process. One word of each structure therefore contains how much of it is complete, and that word is stored last:
//   the region   definitions_used     bytes of complete definitions
//   a block      committed            bytes of complete records
//   recycling    generation           odd while the payload is replaced; if it changed during a copy, discard the copy
//
// Overwritten records are counted per block and kind, in the copy that the generation selects (overwritten_index), so
// that one store of `generation` removes the old records and counts them at once.
//
// Evolution: fields are appended (header_bytes and block_header_bytes grow). A change that every reader has to support
// gets a bit in `features` (kKnownFeatures); a reader rejects files with unknown bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/record.h"

namespace trace {

inline constexpr char kMagic[8] = {'T', 'T', 'R', 'I', 'N', 'G', '\r', '\n'};
inline constexpr std::uint32_t kFormatVersion = 2;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint64_t kKnownFeatures = 0;

enum class ClockKind : std::uint32_t { none = 0, cupti = 1 };

// The three clocks, read together (ns; cupti_ns is 0 if CUPTI was not available).
struct ClockSample {
  std::uint64_t cupti_ns;
  std::uint64_t mono_ns;
  std::uint64_t real_ns;
  std::uint64_t uncertainty_ns;
};

// The last state of one source of events.
enum class SourceState : std::uint32_t { off = 0, on = 1, failed = 2, taken = 3 };

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t features;  // bits by name; none so far
  std::uint64_t file_bytes;
  std::uint64_t definitions_offset;
  std::uint64_t definitions_bytes;
  std::uint64_t blocks_offset;
  std::uint64_t block_bytes;
  std::uint64_t block_count;
  std::uint32_t block_header_bytes;
  std::uint32_t pid;
  std::uint64_t process_start_ticks;  // field 22 of /proc/PID/stat; with boot id and pid it identifies a process
  std::uint64_t created_real_ns;
  std::uint32_t cupti_version;  // cuptiGetVersion; 0 if none
  std::uint32_t cuda_driver_version;  // cuDriverGetVersion; 0 if none
  char host[64];
  char boot_id[40];
  char run_id[64];
  char program[256];  // argv[0] and the script's name, never the whole command line
  char agent_version[32];
  char cupti_path[256];
  char cupti_holder[64];  // current subscriber of CUPTI (state `taken`), if known
  ClockSample created_clock;

  // The fields below change while the process runs; each is one atomic word.
  std::uint64_t definitions_used;        // bytes
  std::uint64_t heartbeat_real_ns;       // about once a flush period
  std::uint64_t closed_real_ns;          // 0 if not closed (live, or killed)
  std::uint64_t claimed_blocks;          // tickets given out so far: the next block to take is (this + 1) % block_count
  std::uint64_t cupti_dropped;           // records that CUPTI reported as dropped; their kind is unknown
  std::uint64_t unknown_activities;      // CUPTI records of a kind that the agent did not enable or does not support
  std::uint64_t definitions_missed;      // definitions that were written to blocks because the region was full; no name is lost
  std::uint32_t cupti_state;             // SourceState
  std::int32_t cupti_error;              // CUptiResult of the failure
  std::uint32_t nvtx_state;              // SourceState; on: our injection was called; taken: another tool has it
  std::uint32_t nccl_version;            // ncclGetVersion: 22809; 0 if NCCL was not seen
  std::uint64_t lost[kEventKinds];       // records without room in a block, per kind
  std::uint64_t truncated_names;         // names that were cut: longer than a third of a block, or than the buffer for pending or converted names
  std::uint64_t discarded_buffers;       // CUPTI buffers discarded for lack of memory, or not readable to their end; their number of records is unknown
  std::uint64_t agent_cpu_ns;            // CPU time of the agent's own thread
  std::uint64_t spooled_ticket;          // spool mode: every block up to it is in the spool, or was overwritten before; 0 if none
  char events[128];                      // TRACETOOL_EVENTS as requested, cut if it is longer; default if it was not set or was refused
  char local_path[256];                  // path of the ring if it cannot be in the run's directory; else empty
  std::uint64_t copied_real_ns;          // time at which this copy of the ring was made; 0 if this file is the ring itself
  std::uint64_t spooled_bytes;           // length of the spool
  std::uint32_t spool_state;             // SourceState; failed: it ended before the recording did
  std::int32_t spool_error;              // errno with which it ended
  std::uint64_t invalid_timestamps;      // CUPTI's records with times that are not 0 < start <= end, or are unknown (then 0)
  std::uint64_t stacks_left_out;         // stacks of calls above the rate, and native stacks that could not be taken
  std::uint64_t operators_without_stack; // operators and ranges without room for their Python stack
  std::uint64_t module_names_missed;     // modules without room for their names
  std::uint64_t removed_runs;            // earlier runs whose files this process removed (TRACETOOL_KEEP, TRACETOOL_MAX_DISK)
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

// The low bits of BlockHeader::state. The other bits are the ticket under which the block was claimed (unique per
// file).
enum class BlockState : std::uint64_t { free = 0, owned = 1, writing = 2, sealed = 3 };
inline constexpr std::uint64_t kBlockStateBits = 2;
constexpr std::uint64_t block_state(std::uint64_t ticket, BlockState state) {
  return ticket << kBlockStateBits | static_cast<std::uint64_t>(state);
}
constexpr BlockState state_of(std::uint64_t word) { return static_cast<BlockState>(word & 3); }
constexpr std::uint64_t ticket_of(std::uint64_t word) { return word >> kBlockStateBits; }

struct BlockHeader {
  std::uint64_t state;       // for writers only
  std::uint64_t generation;  // odd while being recycled; 0 if never used
  std::uint64_t committed;   // complete payload bytes
  std::uint64_t ticket;      // claims are numbered from 1: the order of the blocks
  std::uint32_t tid;         // writing thread; 0 for the agent's flush, which writes for all threads
  std::uint32_t reserved;
  ClockSample clock;         // when the block was claimed
  std::uint64_t reserved2[7];
  std::uint64_t overwritten[2][kEventKinds];  // all past contents of this block, per kind
};
static_assert(sizeof(BlockHeader) == 640 && sizeof(BlockHeader) % 64 == 0);

// Returns the copy of `overwritten` that is valid at a generation. It changes when the generation becomes odd.
constexpr std::size_t overwritten_index(std::uint64_t generation) { return (generation + 1) / 2 % 2; }

}  // namespace trace
