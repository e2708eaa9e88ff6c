// --ranks, --steps, --time, --kinds: which part of a trace a command works on; the same everywhere.
#pragma once
#include <memory>
#include <string>

#include "cli/timeline/select/selection.h"

namespace CLI {
class App;
}

namespace cli {

struct SelectionOptions {
  std::string ranks, steps, time, kinds, min_dur;  // as given; "": not

  bool any() const { return !ranks.empty() || !steps.empty() || !time.empty() || !kinds.empty() || !min_dur.empty(); }
};

std::shared_ptr<SelectionOptions> add_selection(CLI::App& app);

// --min-dur, for commands that show events one by one.
void add_min_duration(CLI::App& app, const std::shared_ptr<SelectionOptions>& options);

// As a shell takes them, each behind a blank: " --ranks 0-3 --steps 5"; "" where nothing is chosen.
std::string selection_text(const SelectionOptions& options);

// Throws Error (usage) that names the option: "--" + prefix + "ranks".
Selection selection_of(const SelectionOptions& options, const std::string& prefix = "");

}  // namespace cli
