// What a person asked `export` for, and whether it fits together.
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
  std::string output;  // "": not named
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

// Adds all options of `export` to the command. What is returned lives as long as the run that holds it.
std::shared_ptr<ExportOptions> add_export_options(CLI::App& app);

// What is written where: a file, a directory, or a TAR.
struct ExportTarget {
  enum class Form : std::uint8_t { file, directory, manifest };
  Form form = Form::file;
  std::string path;
  const ExportFormat* format = nullptr;
  FormatOptions format_options;
  std::uint64_t max_bytes = 0;  // 0: any size
};

// Throws Error (usage) where options do not go together, or the output would replace an input or, not being named, any
// file.
ExportTarget target_of(const ExportOptions& options, const std::vector<TraceInput>& inputs);

// Reads the inputs and writes the target. Throws Error as read_inputs() and the writers do.
ExportReport export_to(const ExportTarget& target, const std::vector<TraceInput>& inputs, const ExportOptions& options);

}  // namespace cli
