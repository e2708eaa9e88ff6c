// The data of an NCCL call, with the names used by PyTorch's profiler (appendCollectiveArgs in libkineto's
// output_json.cpp).
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

// The groups of ranks of NCCL communicators, as named by PyTorch's profiler.

// Returns "0x00000000c0ffee00": NCCL's hash. PyTorch's name of the group is not recorded.
std::string communicator_name(std::uint64_t communicator);

class Groups {
 public:
  struct Group {
    std::int64_t size = -1;           // -1 if unknown
    std::vector<std::int64_t> ranks;  // in the job, ascending; empty if some are not in the trace
  };

  // Finds the groups of `process` with a known hash. NCCL does not report the size of a split communicator; it is the
  // number of ranks that have it, if all ranks of its parent are in the catalogue.
  Groups(const Catalog& catalog, const Process& process);

  // Returns null if it is no communicator of the process.
  const Group* find(std::uint64_t communicator) const;

 private:
  std::unordered_map<std::uint64_t, Group> groups_;
};

// Returns a text such as "0, 1, 2"; for more than `most` ranks, the first ones and "...".
std::string list(const std::vector<std::int64_t>& ranks, std::size_t most = std::numeric_limits<std::size_t>::max());

struct Message {
  std::string_view call;               // our name: "ncclAllGather"
  std::string_view type;               // PyTorch's name; "" if not recorded
  std::uint64_t count = 0;             // elements of `type` in the message of one rank
  std::optional<std::uint64_t> bytes;  // in the message of one rank
  std::uint64_t communicator = 0;
};

// Return the message of a call, from its name, facts and bytes; or, for a kernel in a CUDA graph, that of the captured
// call. nullopt if Kineto has no such operation, or the communicator or the size is unknown.
std::optional<Message> message_of_call(std::string_view call, const Event& event, const Facts& facts);
std::optional<Message> message_of_graph(const Catalog& catalog, CaptureId capture);

// Returns all members of args, or "". If the call has no type, that of a floating-point reduction is derived from the
// kernel's name (src/device/generate.py of NCCL 2.19 and newer); otherwise elements are bytes, as NCCL moves them.
std::string kineto_members(const Message& message, std::string_view kernel, const Groups& groups);

// Finds the call that launched each NCCL kernel of a recording, if it is certain: the kernel is the first one launched
// within the call on its thread, or within the end of a group whose only call it is, which is how PyTorch calls NCCL.
// If a group has several calls, the call of each kernel is unknown.
class Collectives {
 public:
  Collectives(const Catalog& catalog, const Process& process) : catalog_(catalog), groups_(catalog, process) {}

  // Handles every event of the recording, by time. Returns the members of args to add for an NCCL kernel; "" for other
  // events.
  std::string event(const Event& event, const Facts& facts);

 private:
  static constexpr std::size_t kMostWaiting = 1 << 16;  // launches whose kernel has not started; the oldest are removed
  struct Thread {
    std::optional<Message> message;  // of the last call; nullopt after a launch has used it
    std::int64_t end_ns = 0;         // launches until then belong to the call
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
  std::deque<std::uint64_t> order_;  // order of waiting_
};

}  // namespace cli::kineto
