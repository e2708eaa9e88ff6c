#include "cli/trace/stack_text.h"

#include <fmt/format.h>

#include <string_view>

namespace cli {
namespace {

std::string_view text_of_module(const Catalog& catalog, const StackFrame& frame) {
  constexpr std::string_view kOfProfiler = "nn.Module: ";  // torch.profiler's names of such frames
  const std::string_view name = catalog.strings[frame.name];
  return name.substr(name.starts_with(kOfProfiler) ? kOfProfiler.size() : 0);
}

}  // namespace

std::string frame_text(const Catalog& catalog, const StackFrame& frame) {
  const std::string_view name = catalog.strings[frame.name], file = catalog.strings[frame.file];
  if (frame.what == StackFrame::kModule) {
    const std::string_view of_class = text_of_module(catalog, frame);
    return frame.path != 0 ? fmt::format("{} ({})", catalog.strings[frame.path], of_class) : std::string(of_class);
  }
  if (frame.what == StackFrame::kNative && frame.name == 0) return fmt::format("{}+{:#x}", file.substr(file.rfind('/') + 1), frame.instance);
  const bool is_placed = frame.file != 0 && (frame.what == StackFrame::kPython || frame.line != 0);
  return is_placed ? fmt::format("{}({}): {}", file, frame.line, name) : std::string(name);
}

std::string stack_text(const Catalog& catalog, StackId stack) {
  std::string text;
  for (; stack != 0; stack = catalog.stacks[stack].outer) {
    const StackFrame& frame = catalog.stacks[stack];
    if (frame.what != StackFrame::kModule) text += (text.empty() ? "" : ";") + frame_text(catalog, frame);
  }
  return text;
}

std::string module_text(const Catalog& catalog, StackId stack) {
  std::string text;
  for (; stack != 0; stack = catalog.stacks[stack].outer) {
    const StackFrame& frame = catalog.stacks[stack];
    if (frame.what != StackFrame::kModule) continue;
    if (frame.path != 0) return std::string(catalog.strings[frame.path]) + (text.empty() ? "" : "." + text);
    text = std::string(text_of_module(catalog, frame)) + (text.empty() ? "" : "." + text);
  }
  return text;
}

}  // namespace cli
