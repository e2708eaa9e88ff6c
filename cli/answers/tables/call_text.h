// What people call a node of a tree of calls (call_paths.h).
#pragma once
#include <string>

#include "cli/answers/tables/call_paths.h"
#include "cli/trace/catalog.h"

namespace cli {

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b", "aten::addmm".
std::string call_text(const Catalog& catalog, const CallPaths::Label& label);

// The class of a module, without what torch.profiler writes before it: "Attention", "Attention_0".
std::string module_class(const Catalog& catalog, const CallPaths::Label& label);

}  // namespace cli
