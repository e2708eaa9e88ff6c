#include "cli/commands/selection_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/commands/input_options.h"
#include "cli/base/shell_word.h"

namespace cli {

std::shared_ptr<SelectionOptions> add_selection(CLI::App& app) {
  auto options = std::make_shared<SelectionOptions>();
  const auto add = [&](const std::string& name, std::string& text, const std::string& type, const std::string& help) {
    app.add_option(name, text, help)->check(not_empty())->type_name(type);
  };
  add("--ranks", options->ranks, "LIST", "Only these ranks: 0-3,7");
  add("--steps", options->steps, "LIST", "Only these training steps and their GPU work: 5, 10-12 or 10-");
  add("--time", options->time, "A-B", "Only this time range, measured from the start of the trace: 1.5s-2s, 300ms-, -2s");
  add("--kinds", options->kinds, "LIST",
      "Only these kinds of events: kernel,memcpy,nccl,... as in `info --json`. nccl includes the kernels of collectives");
  return options;
}

void add_min_duration(CLI::App& app, const std::shared_ptr<SelectionOptions>& options) {
  app.add_option("--min-dur", options->min_dur, "Only slices at least this long: 5us")->check(not_empty())->type_name("TIME");
}

std::string selection_text(const SelectionOptions& options) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format(" {} {}", name, shell_word(text));
  };
  add("--ranks", options.ranks);
  add("--steps", options.steps);
  add("--time", options.time);
  add("--kinds", options.kinds);
  add("--min-dur", options.min_dur);
  return out;
}

Selection selection_of(const SelectionOptions& options, const std::string& prefix) {
  Selection selection;
  if (!options.ranks.empty()) selection.ranks.emplace("--" + prefix + "ranks", options.ranks);
  if (!options.steps.empty()) selection.steps.emplace("--" + prefix + "steps", options.steps);
  if (!options.time.empty()) selection.time = time_range_option("--" + prefix + "time", options.time);
  if (!options.kinds.empty()) selection.kinds = kinds_option("--" + prefix + "kinds", options.kinds);
  if (!options.min_dur.empty()) selection.min_dur_ns = duration_option("--" + prefix + "min-dur", options.min_dur);
  return selection;
}

}  // namespace cli
