// Reads allocations and releases of device memory from the events of a trace, and the code that made them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::memory {

// An allocation of device memory, an allocation that failed, or a release.
struct Change {
  enum class Type : std::uint8_t { allocation, failure, release };

  Type type = Type::allocation;
  bool is_of_driver = false;  // false: of PyTorch's allocator, which divides memory of the driver
  std::int64_t device = 0;
  std::uint64_t address = 0;  // 0 for a failure
  std::uint64_t bytes = 0;    // allocated, requested or released
  std::uint64_t stream = 0;   // PyTorch's id of the stream; 0 is the default stream
  // Totals of PyTorch's allocator after it, and free memory of the device at a failure; empty if unknown
  std::optional<std::int64_t> allocated_bytes = {}, reserved_bytes = {}, free_bytes = {};
  StackId python{};  // Python stack of the call, in the catalogue of the trace; 0 if unknown
};

// Returns the change that an event contains, or nullopt. These events contain changes:
// - in profiles: Kineto's "[memory]" and "[OutOfMemory]" instants
// - in recordings: the same of PyTorch's allocator (TRACETOOL_TORCH=memory), and allocations and releases of the driver
//   (TRACETOOL_EVENTS=default,memory)
std::optional<Change> change_of(const Event& event, const Facts& facts);

// Finds the stack of an allocation: the operators, annotations, ranges and Python functions that are open on its thread,
// and the Python stack in its record. A stack is interned when it is first needed, so that a trace without allocations
// costs little.
class OpenStacks {
 public:
  explicit OpenStacks(const Catalog& trace);

  static KindSet kinds();
  // Adds the event if it is a range of a process with allocations. Events and calls of stack_of() have to be in order of time.
  void event(const Event& event);
  // Returns the stack of a change, interned in `names`; 0 if it is unknown. Use one catalogue per thread. The Python
  // stack of a record becomes the caller of the outermost range, because ranges have no Python frames.
  StackId stack_of(const Event& event, const Change& change, Catalog& names);

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
  StackId copied(StackId stack, Catalog& names) const;

  const Catalog& trace_;
  std::vector<bool> has_allocations_;                                       // by ProcessId
  std::vector<std::vector<Open>> open_;                                     // by TrackId
  std::map<std::tuple<const Catalog*, StackId, StackId>, StackId> joined_;  // by ranges and Python stack
};

}  // namespace cli::memory
