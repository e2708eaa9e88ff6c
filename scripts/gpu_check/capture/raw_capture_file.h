// What libraw_capture.so writes: CUPTI's buffers and NVTX's arguments as they came, in the order in which they came,
// small enough to be kept as a fixture of the tests. Little-endian, native alignment, pointers of 64 bits.
//
//   FileHeader, then sections: Section, `bytes` of content, zeros up to the next multiple of 8
//
// A file may end anywhere (SIGKILL): what is whole before that holds. A section of an unknown type is to be skipped.
#pragma once
#include <cstdint>

namespace raw_capture {

inline constexpr char kMagic[8] = {'T', 'T', 'R', 'A', 'W', 'C', 'A', 'P'};
inline constexpr std::uint32_t kVersion = 1;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;   // sections begin there
  std::uint32_t cupti_version;  // of the loaded library (cuptiGetVersion), which chose the records' layouts; 0: none
  std::uint32_t header_cupti_version;  // CUPTI_API_VERSION of the headers that libraw_capture.so was built with
  std::int32_t driver_version;         // cuDriverGetVersion; 0: unknown
  std::int32_t pid;
  std::uint64_t reserved[4];
};
static_assert(sizeof(FileHeader) == 64);

enum class SectionType : std::uint32_t {
  device = 1,   // name of device 0, as the driver tells it; "(simulated)" is in that of a stand-in
  clocks = 2,   // Clocks
  text = 3,     // u64 address, then the characters: what lay behind a pointer of a record of the next buffer
  records = 4,  // RecordPlace of each record of the next buffer, as cuptiActivityGetNextRecord found them
  buffer = 5,   // validSize bytes of an activity buffer. The kinds of its records are those that were enabled
  nvtx = 6,     // NvtxPart, then its attributes, message and payload, one behind the other
  totals = 7,   // Totals; the last section of a process that ended by itself
};

struct Section {
  SectionType type;
  std::uint32_t tid;      // thread that wrote it: for nvtx the caller's
  std::uint64_t bytes;    // of content, without the zeros behind it
  std::uint64_t mono_ns;  // CLOCK_MONOTONIC when it was written
};

struct Clocks {
  std::uint64_t cupti_ns;
  std::uint64_t mono_ns;  // read before and after: the middle
  std::uint64_t real_ns;
  std::uint64_t uncertainty_ns;  // between the two readings around
};

struct RecordPlace {
  std::uint32_t offset;  // in the buffer
  std::uint32_t kind;    // CUpti_ActivityKind
};

enum class NvtxCall : std::uint32_t { push = 1, pop = 2, mark = 3, push_payload = 4, pop_payload = 5 };

struct NvtxPart {
  NvtxCall call;
  std::uint32_t attributes_bytes;  // of nvtxEventAttributes_t, as many as the caller's size member says; 0: none
  std::uint32_t message_bytes;     // the text itself, plain or registered
  std::uint32_t payload_bytes;     // of the first extended payload
  std::uint64_t schema;            // of that payload
  char domain[40];                 // its name, cut; "": the default one
};

struct Totals {
  std::uint64_t buffers, buffers_left_out;  // left out: the file has reached its size
  std::uint64_t records, cupti_dropped;
  std::uint64_t nvtx, nvtx_left_out;
};

}  // namespace raw_capture
