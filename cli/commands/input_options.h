// The options that commands share. What is returned lives as long as the run that holds it.
#pragma once
#include <cstddef>
#include <memory>

#include "cli/commands/inputs.h"

namespace CLI {
class App;
}

namespace cli {

// PATH... and --rank N=FILE.
std::shared_ptr<InputOptions> add_inputs(CLI::App& app);

// --memory, in MiB.
std::shared_ptr<std::size_t> add_memory(CLI::App& app);

}  // namespace cli
