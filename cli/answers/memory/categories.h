// What a block held: parameters, gradients, optimizer state, activations or temporary data. A history does not say, so
// it follows from where in the training step the block was allocated, and whether it outlived that part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/memory/replay.h"

namespace cli::memory {

enum class Category : std::uint8_t { unknown, parameter, gradient, optimizer_state, activation, temporary };
std::string_view category_name(Category category);

// The parts of a training step.
enum class Part : std::uint8_t { unknown, setup, forward, backward, optimizer };

// The parts of the history of one device.
//
// setup:     the stack has a frame of torch/nn/init.py, or of Module._apply, which to() and cuda() call
// optimizer: the stack has a frame of torch/optim, which wraps every optimizer's step; or the time is between the
//            annotations Optimizer.step of PyTorch 2.4 and newer
// backward:  the stack has a frame of the autograd engine, or of a Python function named backward; or it is empty in a
//            history of Python frames, because the engine's threads have none
// forward:   the stack has a call of a Module, or a Python function named forward
class Parts {
 public:
  Parts(const snapshot::Snapshot& snapshot, std::int64_t device);

  // parameter:       allocated in setup; kept after it
  // optimizer_state: allocated by the optimizer; kept after it
  // gradient:        allocated in the backward pass; kept after it
  // activation:      allocated in the forward pass; kept until the next backward pass begins
  // temporary:       released before that
  // unknown:         allocated before the history or in no known part; or in the part in which the history ends with an
  //                  allocation that failed, because then nobody knows how long it would have been kept
  Category category_of(const LiveBlock& block);

  // Returns the states in which a step ends: when the optimizer has run and another part begins, or the history ends.
  std::vector<std::size_t> step_ends() const;

 private:
  struct Change {
    std::size_t entry;  // first allocation of the part
    Part part;
  };

  Part part_of(StackId stack, std::int64_t time_us);
  Part part_of(StackId stack);
  // Returns true if the history changes, between these entries, to `part`, or to any part but `from`.
  bool changes_to(std::optional<Part> part, Part from, std::size_t after, std::size_t before) const;

  const snapshot::Snapshot& snapshot_;
  std::vector<std::pair<std::int64_t, std::int64_t>> optimizer_us_;  // begin and end of each step, sorted
  std::vector<Part> parts_;                                          // by StackId
  std::vector<bool> known_;                                          // by StackId: whether parts_ is set
  std::vector<Change> changes_;
  std::size_t states_ = 0;  // size of the history
  bool ends_in_failure_ = false;
  bool only_python_ = false;  // no stack has native frames
};

}  // namespace cli::memory
