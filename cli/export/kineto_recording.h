// An event of a recording as Kineto would have written it.
#pragma once
#include <string>
#include <string_view>

#include "cli/export/kineto_text.h"
#include "cli/model/catalog.h"
#include "cli/model/event.h"

namespace cli {

// Kineto's category: NVTX ranges and NCCL calls are user annotations, a CUDA graph that was recorded as a whole is
// drawn as a kernel, marks and memory are instants.
std::string_view kineto_category(const Event& event);

// Completes `line` of an event that did not come from JSON. `args` holds what is added to it, and lives as long.
void as_kineto(const Event& event, KinetoLine& line, std::string& args);

}  // namespace cli
