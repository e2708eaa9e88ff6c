#include "cli/formats/nsys/callchains.h"

namespace cli::nsys {

Callchains::Callchains(Output& output) {
  constexpr std::string_view kTable = "CUDA_CALLCHAINS";
  for (const std::string_view column : {"id", "symbol", "stackDepth"}) {
    if (!output.database.has_column(kTable, column)) return;
  }
  // Depth 0 is the innermost frame. Frames are interned from the outermost to the innermost.
  for (Rows rows =
           output.database.rows(kTable, {"id", "symbol", "module"}, "id IS NOT NULL ORDER BY id, stackDepth DESC");
       rows.next();) {
    StackId& stack = stacks_[rows.integer(0)];
    StackFrame frame;
    frame.outer = stack;
    frame.name = output.name(rows.optional(1));
    frame.file = output.name(rows.optional(2));
    frame.what = StackFrame::kNative;
    stack = output.catalog.stacks.intern(frame);
  }
}

StackId Callchains::operator[](std::optional<std::int64_t> id) const {
  const auto found = id ? stacks_.find(*id) : stacks_.end();
  return found == stacks_.end() ? StackId{} : found->second;
}

}  // namespace cli::nsys
