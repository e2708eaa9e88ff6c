// Reads allocations and releases of device memory from the events of a trace, and the code that made them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::memory {

// An allocation or a release of device memory.
struct Change {
  std::int64_t device = 0;
  std::uint64_t address = 0, bytes = 0;
  bool is_allocation = false;
  std::optional<std::int64_t> allocated_bytes, reserved_bytes;  // totals of PyTorch's allocator after it, if known
};

// Returns the change that an event contains; nullopt if it contains none:
// - in profiles: Kineto's "[memory]" instants
// - in recordings: allocations and releases of the driver (Kind::memory)
std::optional<Change> change_of(const Event& event, const Facts& facts);

// Finds the stack of an allocation: the operators, annotations, ranges and Python functions that are open on its thread.
// A stack is interned when it is first needed, so that a trace without allocations costs little.
class OpenStacks {
 public:
  explicit OpenStacks(const Catalog& trace) : trace_(trace), open_(trace.tracks.size()) {}

  static KindSet kinds();
  // Adds the range if the event is one. Events and calls of at() have to be in order of time.
  void event(const Event& event);
  // Returns the stack of a thread, interned in `names`; 0 if no range is open. Use one catalogue per thread.
  StackId at(TrackId thread, std::int64_t ns, Catalog& names);

 private:
  struct Open {
    std::int64_t end_ns = 0;
    StringId name = 0;  // in the trace
    bool is_python = false;
    std::optional<StackId> stack = {};
    std::int64_t first_end_ns = 0, last_end_ns = 0;  // set by note_ends()
  };

  std::vector<Open>& open_at(TrackId thread, std::int64_t ns);
  StackId intern(const std::vector<Open>& open, std::size_t index, Catalog& names) const;

  const Catalog& trace_;
  std::vector<std::vector<Open>> open_;  // by TrackId
};

}  // namespace cli::memory
