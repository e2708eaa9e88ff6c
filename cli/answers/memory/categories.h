// Derives what a block held: parameters, gradients, optimizer state, activations or temporary data. A history does not
// contain it. It follows from the part of the training step that allocated the block, and from how long it was kept.
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
std::string_view part_name(Part part);

// Divides the history of one device into the parts of its training steps.
//
// setup:     the stack has a frame of torch/nn/init.py, or of Module._apply, which to() and cuda() call
// optimizer: the stack has a frame of torch/optim, which wraps every optimizer's step; or the time lies within an
//            annotation Optimizer.step of newer versions of PyTorch
// backward:  the stack has a frame of the autograd engine, or of a Python function named backward; or it is empty and
//            the history has Python frames only, because the threads of the engine have no Python frames
// forward:   the stack has a frame of a call of a Module, or of a Python function named forward; recorded stacks mark
//            calls of a Module
class Parts {
 public:
  Parts(const snapshot::Snapshot& snapshot, std::int64_t device);

  // Returns the category of a block:
  // parameter:       allocated in setup; kept after it
  // optimizer_state: allocated by the optimizer; kept after it
  // gradient:        allocated in the backward pass; kept after it
  // activation:      allocated in the forward pass; kept until the next backward pass begins
  // temporary:       allocated in one of these parts; released earlier
  // unknown:         allocated before the history or in no known part; or in use at the end, in a part that the history
  //                  does not contain to its end: a forward pass without a later backward pass, or the part in which
  //                  the last allocation failed
  Category category_of(const LiveBlock& block);

  // Returns true for an activation, and for a block of the forward pass in which the last allocation failed. Most of
  // these are activations, but the history does not show it.
  bool may_be_activation(const LiveBlock& block);

  // Returns the part that allocated a block. unknown: before the history, or no known part
  Part part_of(const LiveBlock& block);

  // A part lasts from its first allocation to the first allocation of another part. Allocations without a known part
  // do not end it: a loss that is computed outside of modules belongs to the forward pass.
  struct Span {
    std::size_t first_state = 0;
    Part part = Part::unknown;
  };
  // Returns the parts in order of time. The first begins with state 0. It is unknown until the first known part.
  std::vector<Span> spans() const;

  // Returns the states in which the steps end. A step ends after its optimizer part, when another part or the end of
  // the history follows.
  std::vector<std::size_t> step_ends() const;

 private:
  struct Change {
    std::size_t entry;  // index of the part's first allocation
    Part part;
  };

  Part part_of(StackId stack, std::int64_t time_us);
  Part part_of(StackId stack);
  // Returns true if another part begins between the entries `after` and `before`: `part` if it is set, else any part
  // except `from`.
  bool changes_to(std::optional<Part> part, Part from, std::size_t after, std::size_t before) const;

  const snapshot::Snapshot& snapshot_;
  std::vector<std::pair<std::int64_t, std::int64_t>> optimizer_us_;  // begin and end of each step, sorted
  std::vector<Part> parts_;                                          // by StackId
  std::vector<bool> known_;                                          // by StackId; true if parts_ is set
  std::vector<Change> changes_;
  std::size_t states_ = 0;  // size of the history
  bool ends_in_failure_ = false;
  bool only_python_ = false;  // no stack has native frames
};

}  // namespace cli::memory
