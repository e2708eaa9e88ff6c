// What people call frames and stacks.
#pragma once
#include <string>

#include "cli/trace/catalog.h"

namespace cli {

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b".
std::string frame_text(const Catalog& catalog, const StackFrame& frame);

// As PyTorch's profiler writes it: the innermost frame first, with ; between them. Of calls of modules nothing.
std::string stack_text(const Catalog& catalog, StackId stack);

// The innermost module that was called, as named_modules() says, or else the classes of it and of those around it: "GPT.Block.Attention";
// "" where none was.
std::string module_text(const Catalog& catalog, StackId stack);

}  // namespace cli
