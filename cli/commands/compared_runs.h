// The runs that `diff` and `check` compare: the traces, the selected part, and the profile of their steps.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "cli/answers/compare/run_profile.h"
#include "cli/commands/inputs.h"
#include "cli/commands/options.h"

namespace CLI {
class App;
}

namespace cli {

class NameRules;

struct ComparedRun {
  InputOptions inputs;
  SelectionOptions selection;
  std::string prefix;  // prefix of its options: "a-" of --a-ranks
};

// Adds --PREFIXranks, --PREFIXsteps, --PREFIXtime and --PREFIXrun. `of` names the run in their help: "A". The result
// contains the prefix.
std::shared_ptr<ComparedRun> add_compared_run(CLI::App& app, const std::string& prefix, const std::string& of,
                                              const std::string& path);

struct ProfileRequest {
  std::size_t memory_mib = 0;
  std::string output;  // scratch files go next to it; it must not replace an input
  const NameRules* class_rules = nullptr;
  bool for_diff = false;  // include sequences, collectives and operators
};

// Returns the profile by steps. It covers the trace as a whole if no chosen process has steps, --time contains none, or
// `whole` is set. Throws the errors of analyze().
comparison::RunProfile read_profile(const ComparedRun& run, const ProfileRequest& request, bool whole = false);

}  // namespace cli
