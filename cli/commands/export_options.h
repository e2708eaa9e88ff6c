// The options of `export`, and their validation.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/answers/tables/write_folded.h"
#include "cli/commands/inputs.h"
#include "cli/commands/options.h"
#include "cli/show/export/export_job.h"

namespace CLI {
class App;
}

namespace cli {

struct ExportOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output;  // "" if not given
  const ExportFormat* format = nullptr;
  FormatOptions format_options;
  std::shared_ptr<SelectionOptions> selection;
  std::optional<std::uint64_t> max_bytes;
  bool manifest = false;
  bool gzip = false;
  bool no_computed = false;
  bool json = false;
  std::optional<FoldedWeight> folded;  // stacks for flame graphs instead of a format
};

// Adds all options of `export` to the command. The run of the command owns the result.
std::shared_ptr<ExportOptions> add_export_options(CLI::App& app);

// The output of an export: a file, a directory, or a TAR.
struct ExportTarget {
  enum class Form : std::uint8_t { file, directory, manifest };
  Form form = Form::file;
  std::string path;
  const ExportFormat* format = nullptr;
  FormatOptions format_options;
  std::uint64_t max_bytes = 0;  // 0 for unlimited
};

// Throws Error (usage) if options conflict, if the output would replace an input, or if a default output exists
// already.
ExportTarget target_of(const ExportOptions& options, const std::vector<TraceInput>& inputs);

// Implements `export --folded`: stacks for flame graphs. Throws Error (usage) if other options do not fit.
void export_folded(const ExportOptions& options);

// Reads the inputs and writes the target. Throws the errors of read_inputs() and the writers.
ExportReport export_to(const ExportTarget& target, const std::vector<TraceInput>& inputs, const ExportOptions& options);

}  // namespace cli
