// What a call of NCCL moves, by the names of PyTorch's profiler (appendCollectiveArgs in libkineto's output_json.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::kineto {

// The groups of ranks that NCCL communicators stand for, as PyTorch's profiler names them.

// "0x00000000c0ffee00": NCCL's hash; what PyTorch called the group is not recorded.
std::string communicator_name(std::uint64_t communicator);

class Groups {
 public:
  struct Group {
    std::int64_t size = -1;           // -1: unknown
    std::vector<std::int64_t> ranks;  // of the job, ascending; empty where not all of them are in the trace
  };

  // Those of `process` whose hash is known. NCCL does not tell the size of a split: it is that of the ranks that have it, where all ranks
  // of its parent are in the catalog.
  Groups(const Catalog& catalog, const Process& process);

  // Null: not one of the process.
  const Group* find(std::uint64_t communicator) const;

 private:
  std::unordered_map<std::uint64_t, Group> groups_;
};

// "0, 1, 2"; of more than `most` ranks the first of them and "...".
std::string list(const std::vector<std::int64_t>& ranks, std::size_t most = std::numeric_limits<std::size_t>::max());

struct Message {
  std::string_view call;               // ours: "ncclAllGather"
  std::string_view type;               // PyTorch's, "" where the recording does not tell it
  std::uint64_t count = 0;             // elements of `type` in the message of one rank
  std::optional<std::uint64_t> bytes;  // of the message of one rank
  std::uint64_t communicator = 0;
};

// Of a call: its name, facts and bytes; of a kernel in a CUDA graph: those of the call that it was captured in. Nothing
// where it is no operation that Kineto knows, or the communicator or the size is unknown.
std::optional<Message> message_of_call(std::string_view call, const Event& event, const Facts& facts);
std::optional<Message> message_of_graph(const Catalog& catalog, CaptureId capture);

// Members of args, all of them or "". Where the call does not tell the type, the kernel's name does, of floating-point
// reductions (src/device/generate.py of NCCL 2.19 and newer); else elements are bytes, as NCCL moves them.
std::string kineto_members(const Message& message, std::string_view kernel, const Groups& groups);

// What NCCL kernels of a recording carry of the call that launched them. Only what is certain: the kernel is the first
// that was launched within the call, on its thread; or within the end of the group whose only call it is, which is how
// PyTorch calls NCCL. Of several calls in a group it is not known which work their kernels do.
class Collectives {
 public:
  Collectives(const Catalog& catalog, const Process& process) : catalog_(catalog), groups_(catalog, process) {}

  // Every event of the recording, by time. Of an NCCL kernel the members of args to add, of all else "".
  std::string event(const Event& event, const Facts& facts);

 private:
  static constexpr std::size_t kMostWaiting = 1 << 16;  // launches whose kernel has not come; the oldest are forgotten
  struct Thread {
    std::optional<Message> message;  // of the last call; none once a launch has taken it
    std::int64_t end_ns = 0;               // launches until then are those of the call
    std::size_t open_groups = 0;
    std::size_t calls = 0;  // in the outermost open group
  };

  void call(const Event& event, const Facts& facts);
  void range(const Event& event, const Facts& facts);
  void end_group(Thread& thread, std::int64_t end_ns);
  void launch(const Event& api);
  std::string kernel(const Event& event, const Facts& facts);
  std::optional<Message> take(std::uint64_t correlation);

  const Catalog& catalog_;
  Groups groups_;
  std::unordered_map<TrackId, Thread> threads_;
  std::unordered_map<std::uint64_t, Message> waiting_;
  std::deque<std::uint64_t> order_;  // of waiting_
};

}  // namespace cli::kineto
