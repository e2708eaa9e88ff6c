

#include "cli/base/output_file.h"
#include "cli/base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/commands/info_text.h"
#include "cli/commands/options.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/timeline/merge/catalogs.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/timeline/merge/ranks.h"
#include "cli/timeline/merge/runs.h"
#include "cli/timeline/select/step_name.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

struct InfoOptions {
  std::shared_ptr<InputOptions> inputs;
  bool json = false;
};

std::vector<bool> ranks_of(const Catalog& catalog) {
  std::vector<bool> ranks = beside_ranks(catalog);
  ranks.flip();
  return ranks;
}

void run_info(const InfoOptions& options) {
  const auto inputs = find_inputs(*options.inputs);
  Progress progress(reading_text(inputs));
  MergedFacts merged;
  Catalog catalog = read_catalogs(inputs, progress, merged);
  progress.done();
  check_given_ranks(catalog);
  std::string counted = inputs.size() == 1 ? "" : count_ranks(catalog);
  std::vector<std::string> warnings = name_phases(catalog);
  if (inputs.size() == 1) warnings.clear();  // its phases were reported when it was merged
  if (!counted.empty()) warnings.insert(warnings.begin(), std::move(counted));
  if (std::string by_device = device_ranks_text(catalog); !by_device.empty()) warnings.push_back(std::move(by_device));
  sort_processes(catalog);
  print_warnings(file_warnings(catalog));
  print_warnings(warnings);
  std::vector<std::string> notes = repeated_ranks(catalog);
  if (std::string fault = contradiction(catalog); !fault.empty()) notes.push_back(std::move(fault));
  if (std::string runs = separate_runs_text(catalog); !runs.empty()) notes.push_back(std::move(runs));
  OutputFile out("-");
  if (options.json) {
    write_info_json(catalog, merged.fits, notes, out);
  } else {
    InfoInput input{inputs.size() == 1 && ttrace::is_merged_file(inputs[0].path), inputs_text(*options.inputs)};
    if (input.merged && merged.steps.size() == catalog.processes.size())
      input.steps = step_notes(merged.steps, catalog, ranks_of(catalog), true);
    out.write(info_text(catalog, merged.fits, notes, input));
  }
  out.finish();
}

std::function<void()> set_up_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  options->inputs = add_inputs(app);
  app.add_flag("--json", options->json, "Print one JSON object, for programs");
  return [options] { run_info(*options); };
}

}  // namespace

Command info_command() {
  return {
      "info", "Summarize traces: ranks, hosts, GPUs, time, events by kind, losses",
      "Prints one row per process, sorted by rank, and a line for each process without a rank, like a launcher. States: live\n"
      "(still recording), clean (closed), recovered (the process was killed; events recorded until then are kept), unknown.\n"
      "\n"
      "  tracetool info traces/\n"
      "  tracetool info run.ttrace --json | jq '.ranks[].counts.kernel'",
      set_up_info};
}

}  // namespace cli
