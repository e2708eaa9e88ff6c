#include "cli/commands/input_options.h"

#include <CLI/CLI.hpp>

namespace cli {

std::shared_ptr<InputOptions> add_inputs(CLI::App& app) {
  auto options = std::make_shared<InputOptions>();
  app.add_option("PATH", options->paths, "Traces: files, folders (all traces in them) or globs; - is stdin");
  app.add_option("--rank", options->ranks, "N=FILE: reads FILE as rank N, whatever it says itself; may be repeated")
      ->type_name("N=FILE")
      ->allow_extra_args(false);
  return options;
}

std::shared_ptr<std::size_t> add_memory(CLI::App& app) {
  auto mebibytes = std::make_shared<std::size_t>(kDefaultMemory >> 20);
  app.add_option("--memory", *mebibytes, "MiB to sort in; what does not fit goes to $TMPDIR, else beside the output")
      ->check(CLI::Range(std::size_t{16}, std::size_t{8192}))
      ->type_name("MIB")
      ->capture_default_str();
  return mebibytes;
}

}  // namespace cli
