// Implements `export --folded`: stacks for flame graphs.
#pragma once
#include "cli/commands/export_options.h"

namespace cli {

// Throws Error (usage) if other options do not fit.
void export_folded(const ExportOptions& options);

}  // namespace cli
