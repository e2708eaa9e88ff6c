#include "cli/answers/memory/subjects.h"

#include <fmt/format.h>

#include "cli/trace/short_name.h"

namespace cli::memory {
namespace {

// Calls visit(frame) from the innermost frame outwards, until visit() returns false.
template <typename Visit>
void each_frame(const Catalog& catalog, StackId stack, Visit&& visit) {
  while (stack != 0) {
    const StackFrame& frame = catalog.stacks[stack];
    if (!visit(frame)) return;
    stack = frame.outer;
  }
}

// Returns a frame as "einops/_backends.py(288): zeros".
std::string python_text(const Catalog& catalog, const StackFrame& frame) {
  return fmt::format("{}({}): {}", short_path(catalog.strings[frame.file]), frame.line, catalog.strings[frame.name]);
}

std::string operator_name(const Catalog& catalog, StackId stack) {
  std::string found;
  each_frame(catalog, stack, [&](const StackFrame& frame) {
    if (frame.what == StackFrame::kPython) return found.empty();
    if (std::string name = operator_of(catalog.strings[frame.name]); !name.empty()) found = std::move(name);
    return true;
  });
  return found;
}

// Returns the innermost Python frame outside of torch with the function name `wanted`. If `wanted` is "", any name
// matches, and the innermost Python frame is returned if all frames are in torch.
std::string python_frame(const Catalog& catalog, StackId stack, std::string_view wanted) {
  const StackFrame *own = nullptr, *any = nullptr;
  each_frame(catalog, stack, [&](const StackFrame& frame) {
    if (frame.what != StackFrame::kPython) return true;
    if (!wanted.empty() && plain_name(catalog.strings[frame.name]) != wanted) return true;
    if (any == nullptr) any = &frame;
    if (!is_of_torch(catalog.strings[frame.file])) own = &frame;
    return own == nullptr;
  });
  if (own == nullptr && wanted.empty()) own = any;
  return own == nullptr ? "" : python_text(catalog, *own);
}

std::string all_frames(const Catalog& catalog, StackId stack) {
  std::string python, all;
  each_frame(catalog, stack, [&](const StackFrame& frame) {
    const std::string text = frame_text(catalog, frame);
    if (frame.what == StackFrame::kPython) python += (python.empty() ? "" : ";") + text;
    all += (all.empty() ? "" : ";") + text;
    return true;
  });
  return python.empty() ? all : python;
}

std::string name_of(const Catalog& catalog, StackId stack, GroupBy by) {
  switch (by) {
    case GroupBy::stack:
      return all_frames(catalog, stack);
    case GroupBy::op:
      return operator_name(catalog, stack);
    case GroupBy::module:
      return python_frame(catalog, stack, "forward");
    case GroupBy::category:
    case GroupBy::phase:
      return {};
    case GroupBy::line:
      break;
  }
  std::string line = python_frame(catalog, stack, "");
  return line.empty() ? operator_name(catalog, stack) : line;
}

}  // namespace

const std::string& Subjects::of(StackId stack) {
  if (stack >= names_.size()) {
    names_.resize(catalog_->stacks.size());
    known_.resize(catalog_->stacks.size());
  }
  if (!known_[stack]) {
    names_[stack] = name_of(*catalog_, stack, by_);
    known_[stack] = true;
  }
  return names_[stack];
}

std::string_view group_word(GroupBy by) {
  switch (by) {
    case GroupBy::category:
      return "category";
    case GroupBy::phase:
      return "phase";
    case GroupBy::stack:
      return "stack";
    case GroupBy::op:
      return "operator";
    case GroupBy::module:
      return "module";
    case GroupBy::line:
      break;
  }
  return "line";
}

GroupNames::GroupNames(const snapshot::Snapshot& snapshot, std::int64_t device, GroupBy by)
    : by_(by), subjects_(snapshot.catalog, by) {
  if (by == GroupBy::category || by == GroupBy::phase) parts_.emplace(snapshot, device);
}

std::string GroupNames::of(const LiveBlock& block) {
  const bool is_before = block.entry == LiveBlock::kBefore;
  if (by_ == GroupBy::category) {
    const Category category = parts_->category_of(block);
    return std::string(category == Category::unknown && is_before ? kBeforeText : category_name(category));
  }
  if (by_ == GroupBy::phase) return std::string(is_before ? kBeforeText : part_name(parts_->part_of(block)));
  const std::string& name = subjects_.of(block.stack);
  if (!name.empty()) return name;
  if (block.stack == 0) return std::string(is_before ? kBeforeText : "no stack in the history");
  return by_ == GroupBy::op ? "outside of operators" : by_ == GroupBy::module ? "outside of modules" : "native code";
}

std::string_view plain_name(std::string_view function) { return function.substr(function.rfind('.') + 1); }

bool is_module_frame(const Catalog& catalog, const StackFrame& frame) {
  return frame.what == StackFrame::kPython && plain_name(catalog.strings[frame.name]) == "forward" &&
         !is_of_torch(catalog.strings[frame.file]);
}

std::string_view short_path(std::string_view file) {
  if (const std::size_t packages = file.rfind("-packages/"); packages != file.npos) {
    file.remove_prefix(file.find('/', packages) + 1);
  } else if (const std::size_t name = file.rfind('/'); name != file.npos && name != 0) {
    file.remove_prefix(file.rfind('/', name - 1) + 1);  // npos + 1 is 0
  }
  return file;
}

bool is_of_torch(std::string_view file) {
  return file.find("-packages/torch/") != file.npos || file.starts_with("torch/") || file.starts_with('<');
}

std::string operator_of(std::string_view function) {
  constexpr std::string_view kNamespace = "at::_ops::";
  if (function.starts_with("aten::")) return std::string(function);  // in a profile
  if (!function.starts_with(kNamespace)) return {};
  function.remove_prefix(kNamespace.size());
  const std::size_t end = function.find("::");
  return end == function.npos ? std::string() : "aten::" + std::string(function.substr(0, end));
}

}  // namespace cli::memory
