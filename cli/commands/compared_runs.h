// The runs that `diff` and `check` compare: which traces, what of them, and what they did in their steps.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "cli/commands/inputs.h"
#include "cli/commands/options.h"
#include "cli/answers/compare/run_profile.h"

namespace CLI {
class App;
}

namespace cli {

class NameRules;

struct ComparedRun {
  InputOptions inputs;
  SelectionOptions selection;
  std::string prefix;  // of its options: "a-" of --a-ranks
};

// --PREFIXranks, --PREFIXsteps, --PREFIXtime and --PREFIXrun; `of`, and of the run `path`, are for their help: "A". What is returned
// has the prefix.
std::shared_ptr<ComparedRun> add_compared_run(CLI::App& app, const std::string& prefix, const std::string& of, const std::string& path);

struct ProfileRequest {
  std::size_t memory_mib = 0;
  std::string output;  // beside which goes what does not fit into memory; the inputs are not replaced by it
  const NameRules* class_rules = nullptr;
  bool for_diff = false;  // sequences, collectives and operators, too
};

// By steps; where no process that is chosen has any, --time holds none, or `whole`, of the trace as a whole. Throws Error, as analyze() does.
comparison::RunProfile read_profile(const ComparedRun& run, const ProfileRequest& request, bool whole = false);

}  // namespace cli
