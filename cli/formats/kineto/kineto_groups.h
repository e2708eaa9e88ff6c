// The groups of ranks that NCCL communicators stand for, as PyTorch's profiler names them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// "0x00000000c0ffee00": NCCL's hash; what PyTorch called the group is not recorded.
std::string communicator_name(std::uint64_t communicator);

class KinetoGroups {
 public:
  struct Group {
    std::int64_t size = -1;           // -1: unknown
    std::vector<std::int64_t> ranks;  // of the job, ascending; empty where not all of them are in the trace
  };

  // Those of `process` whose hash is known. NCCL does not tell the size of a split: it is that of the ranks that have it, where all ranks
  // of its parent are in the catalog.
  KinetoGroups(const Catalog& catalog, const Process& process);

  // Null: not one of the process.
  const Group* find(std::uint64_t communicator) const;

 private:
  std::unordered_map<std::uint64_t, Group> groups_;
};

// "0, 1, 2"; of more than `most` ranks the first of them and "...".
std::string list(const std::vector<std::int64_t>& ranks, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace cli
