// Finds the code that holds most memory at the peak of a device, and the code whose memory grows most from step to step,
// in one pass over the events of a trace. Unlike a replay, this needs no history: its memory grows with the number of
// blocks in use and of different stacks.
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

// Requested bytes in use by StackId, and marks: earlier states of these sums. Setting a mark again only copies the sums
// that changed since.
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
  // The code that holds most memory, or whose memory grows most. Only named code counts.
  struct Holder {
    std::string line;             // as in `tracetool mem --by line`
    std::uint64_t bytes = 0;      // memory that it allocated and that is in use; in growth(): growth per step
    std::int64_t peak_bytes = 0;  // all memory in use at the peak of the device
  };

  // `host` and `steps` are windows in host time: the chosen time and the training steps in it. The catalogue must
  // outlive this object.
  Holders(const Catalog& catalog, Windows host, Windows steps);

  static KindSet kinds();
  void event(const Event& event, const Facts& facts);
  // Frees the data that only later events of the process would need.
  void end_of(ProcessId process);

  // Call these after the last event. They return nullopt if no named code was found.
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
    std::optional<std::size_t> first_step = {};  // index of the first step whose end is known
    std::size_t last_step = 0;                   // index of the newest
    std::vector<std::uint64_t> first_bytes;      // by StackId, at the end of the first step
  };
  // Process, device, and true for memory of the driver. PyTorch's allocator divides memory of the driver.
  using Key = std::tuple<ProcessId, std::int64_t, bool>;

  void hold(ProcessId process, Device& device, std::int64_t to_ns);
  Device* finished(ProcessId process, std::int64_t device);  // of PyTorch's allocator, else of the driver
  std::optional<Holder> largest(const std::vector<std::uint64_t>& bytes) const;

  const Catalog& catalog_;
  const Windows host_, steps_;
  std::vector<bool> has_memory_;  // by ProcessId; false if the trace contains no allocations of the process
  OpenStacks stacks_;
  Catalog names_;
  std::map<Key, Device> devices_;
};

}  // namespace cli::memory
