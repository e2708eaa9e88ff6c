// What a stack of an allocation is called in a table: the line of code, the operator, or the module.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::memory {

enum class GroupBy : std::uint8_t { category, line, stack, op, module };

// Names the stacks of a catalogue. Names are computed once per stack.
class Subjects {
 public:
  Subjects(const Catalog& catalog, GroupBy by) : catalog_(&catalog), by_(by) {}

  // category: ""; it does not follow from the stack alone (categories.h)
  // line: the innermost Python frame outside of the package torch; its innermost Python frame if all are in it; the
  //       operator if the stack has native frames only
  // stack: all Python frames, or all frames if there are none, innermost first
  // op: the operator of PyTorch that Python, or the backward pass, called: "aten::div_Tensor"
  // module: the innermost frame outside of torch that is named forward
  // Returns "" if the stack does not contain it.
  const std::string& of(StackId stack);

 private:
  const Catalog* catalog_;
  GroupBy by_;
  std::vector<std::string> names_;  // by StackId
  std::vector<bool> known_;
};

// Returns true for a frame in the package torch itself.
bool is_of_torch(std::string_view file);
// Returns "aten::NAME" for a frame of at::_ops::NAME, or of that name in a profile; "" for others.
std::string operator_of(std::string_view function);

}  // namespace cli::memory
