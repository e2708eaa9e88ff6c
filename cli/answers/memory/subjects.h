// Names the stack of an allocation for a table: by line of code, operator, or module.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::memory {

enum class GroupBy : std::uint8_t { category, phase, line, stack, op, module };

// Names the stacks of a catalogue. Names are computed once per stack.
class Subjects {
 public:
  Subjects(const Catalog& catalog, GroupBy by) : catalog_(&catalog), by_(by) {}

  // Returns the name of a stack:
  // category, phase: ""; they do not follow from the stack alone (categories.h)
  // line: the innermost Python frame outside of the package torch; the innermost Python frame if all are in torch; the
  //       operator if the stack has native frames only
  // stack: all Python frames, or all frames if there are none, innermost first
  // op: the PyTorch operator that Python or the backward pass called, such as "aten::div_Tensor"
  // module: the innermost function named forward outside of torch
  // Returns "" if the stack has no such frame.
  const std::string& of(StackId stack);

 private:
  const Catalog* catalog_;
  GroupBy by_;
  std::vector<std::string> names_;  // by StackId
  std::vector<bool> known_;
};

// Returns the last component of a qualified name: "forward" for "Model.forward". Recordings contain qualified names with
// Python 3.11 and later; snapshots contain plain ones.
std::string_view plain_name(std::string_view function);
// Returns true for a Python function named forward outside of torch.
bool is_module_frame(const Catalog& catalog, const StackFrame& frame);
// Returns a path without the directory of packages, or its last two components.
std::string_view short_path(std::string_view file);
// Returns true if a file belongs to the package torch.
bool is_of_torch(std::string_view file);
// Returns "aten::NAME" for a frame of at::_ops::NAME, or for a profile's range with that name. Returns "" for others.
std::string operator_of(std::string_view function);

}  // namespace cli::memory
