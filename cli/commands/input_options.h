// The options that commands share. What is returned lives as long as the run that holds it.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "cli/commands/inputs.h"

namespace CLI {
class App;
class Validator;
}

namespace cli {

// Refuses an empty value: what an unset variable of a script leaves behind is no choice.
const CLI::Validator& not_empty();

// PATH..., --rank N=FILE and --run.
std::shared_ptr<InputOptions> add_inputs(CLI::App& app);

// --run alone.
void add_run(CLI::App& app, std::string& run);

// --memory, in MiB.
std::shared_ptr<std::size_t> add_memory(CLI::App& app);

// Adds --wide, --color and --quiet, which change how text looks on a terminal.
void add_terminal_options(CLI::App& app);

// Turns off colors and the limit of the width if `output` is a file and not stdout ("-"). Call it before the text is made.
void make_text_for(const std::string& output);

}  // namespace cli
