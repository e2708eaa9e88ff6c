// `export --folded`: stacks for flame graphs.
#pragma once
#include "cli/commands/export_options.h"

namespace cli {

// Throws Error (usage) where options do not go with it.
void export_folded(const ExportOptions& options);

}  // namespace cli
