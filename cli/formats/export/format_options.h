// What a person may choose of how a format is written. Formats pass over what is not theirs.
#pragma once
#include <cstdint>

namespace cli {

enum class PacketCompression : std::uint8_t { deflate, zstd, none };

struct FormatOptions {
  PacketCompression compression = PacketCompression::deflate;  // pftrace: of the packets; zstd needs Perfetto v58
  bool gpu_tracks = false;  // pftrace: GPU work as render stages, for the GPU views of Perfetto v55
  bool computed = true;  // kineto: calls of Python, which are computed from the stacks of operators
};

}  // namespace cli
