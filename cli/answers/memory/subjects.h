// Names the group of a block for a table or a chart: by category, phase, line of code, stack, operator, or module.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/memory/categories.h"
#include "cli/answers/memory/replay.h"
#include "cli/trace/catalog.h"

namespace cli::memory {

enum class GroupBy : std::uint8_t { category, phase, line, stack, op, module };
// Returns the key of the column with the groups: "operator" for GroupBy::op.
std::string_view group_word(GroupBy by);

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

inline constexpr std::string_view kBeforeText = "before the history";

// Names the groups of the blocks of one device.
class GroupNames {
 public:
  // The snapshot must outlive this object.
  GroupNames(const snapshot::Snapshot& snapshot, std::int64_t device, GroupBy by);

  // Returns the category or phase of the block, or the name of its stack (Subjects). A block without such a name has a
  // text that says why, such as kBeforeText.
  std::string of(const LiveBlock& block);
  // Returns true if blocks with the same stack have the same name, except for stack 0.
  bool follow_from_stacks() const { return !parts_; }

 private:
  GroupBy by_;
  Subjects subjects_;
  std::optional<Parts> parts_;  // set for categories and phases
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
