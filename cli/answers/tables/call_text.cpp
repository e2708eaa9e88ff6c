#include "cli/answers/tables/call_text.h"

#include "cli/trace/stack_text.h"

namespace cli {

std::string module_class(const Catalog& catalog, const CallPaths::Label& label) {
  StackFrame frame;
  frame.what = StackFrame::kModule;
  frame.name = label.name;
  return frame_text(catalog, frame);
}

std::string call_text(const Catalog& catalog, const CallPaths::Label& label) {
  if (!is_frame(label.part)) return std::string(catalog.strings[label.name]);
  StackFrame frame;
  frame.what = label.part == CallPart::module ? StackFrame::kModule : label.part == CallPart::native ? StackFrame::kNative : StackFrame::kPython;
  frame.name = label.name;
  frame.file = label.file;
  frame.path = label.path;
  frame.line = label.line;
  frame.instance = label.address;
  return frame_text(catalog, frame);
}

}  // namespace cli
