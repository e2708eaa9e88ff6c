// Finds the line of code that allocated most of the memory in use at the peak of a device, and the line with the largest
// growth from step to step. It needs one pass over the events of a trace. Unlike a replay, it keeps no history: it uses
// memory for the blocks in use and for different stacks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cli/answers/memory/allocations.h"
#include "cli/answers/tables/windows.h"

namespace cli::memory {

// Bytes in use by StackId, and two marks, which are copies of these sums at an earlier moment. Setting a mark again copies
// only the sums that have changed.
class StackSums {
 public:
  struct Mark {
    std::vector<std::uint64_t> bytes;  // by StackId
    std::vector<bool> is_changed;      // since the mark was set, by StackId
    std::vector<StackId> changed;
  };
  enum Which : std::uint8_t { peak, end_of_step };

  void add(StackId stack, std::uint64_t bytes);
  void remove(StackId stack, std::uint64_t bytes) { add(stack, 0 - bytes); }
  void set(Which which);
  const std::vector<std::uint64_t>& at(Which which) const { return marks_[which].bytes; }

 private:
  std::vector<std::uint64_t> now_;
  Mark marks_[2];
};

class Holders {
 public:
  // A line of code and the memory that it allocated. Allocations without a known line are not considered.
  struct Holder {
    std::string line;             // as in `tracetool mem --by line`
    std::uint64_t bytes = 0;      // in use at the peak, or growth per step
    std::int64_t peak_bytes = 0;  // all memory in use at the peak of the device
  };

  // `host` and `steps` are windows in host time: the chosen time and the training steps in it. The catalogue must
  // outlive this object.
  Holders(const Catalog& catalog, Windows host, Windows steps);

  static KindSet kinds();
  void event(const Event& event, const Facts& facts);
  // Frees the data of a process that is not needed after its last event.
  void end_of(ProcessId process);

  // Call these after the last event. They return nullopt if no line is known.
  std::optional<Holder> at_peak(ProcessId process, std::int64_t device);
  // Compares the ends of the first and the last step.
  std::optional<Holder> growth(ProcessId process, std::int64_t device);

 private:
  struct Block {
    std::uint64_t bytes = 0;
    StackId stack{};
  };
  struct Device {
    std::unordered_map<std::uint64_t, Block> live;  // by address
    StackSums sums;
    std::uint64_t level = 0;  // memory in use since since_ns
    std::int64_t since_ns = 0;
    bool is_known = false;                       // level is set
    std::int64_t peak_bytes = -1;                // -1 if no level was in the windows
    std::optional<std::size_t> first_step = {};  // index of the first step that has ended
    std::size_t last_step = 0;                   // index of the last step that has ended
    std::vector<std::uint64_t> first_bytes;      // by StackId, at the end of the first step
  };
  // Process, device, and true for memory of the driver. PyTorch's allocator divides memory of the driver.
  using Key = std::tuple<ProcessId, std::int64_t, bool>;

  void hold(ProcessId process, Device& device, std::int64_t to_ns);
  Device* finished(ProcessId process, std::int64_t device);  // of PyTorch's allocator, else of the driver
  std::optional<Holder> largest(const std::vector<std::uint64_t>& bytes) const;

  const Catalog& catalog_;
  const Windows host_, steps_;
  OpenStacks stacks_;
  Catalog names_;
  std::map<Key, Device> devices_;
};

}  // namespace cli::memory
