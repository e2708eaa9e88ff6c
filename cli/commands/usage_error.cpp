#include "cli/commands/usage_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "cli/commands/commands.h"
#include "cli/model/error.h"

namespace cli {
namespace {

// Optimal string alignment; the words are short.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// Long names.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The subcommand that was parsed, else the whole.
const CLI::App& parsed(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

// Returns an explanation of the first word that `app` did not accept, or "" if it accepted all.
std::string unexpected(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word == "--") continue;
    if (!word.starts_with('-')) return "unexpected word " + word;
    const std::string name = word.substr(0, word.find('='));
    const std::string meant = nearest_word(name, options_of(app));
    return "unknown option " + name + (meant.empty() ? "" : "; did you mean " + meant + "?");
  }
  return {};
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;  // an error in three characters is near
  for (const std::string& each : known) {
    const std::size_t apart = distance(word, each);
    if (apart < least) {
      best = each;
      least = apart;
    }
  }
  return best;
}

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = parsed(app);
  std::string what;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = unexpected(app);
    if (what.empty()) what = unexpected(command);
  }
  if (what.empty()) what = error.what();
  std::replace(what.begin(), what.end(), '\n', ' ');
  const std::string name = &command != &app ? command.get_name() : "";
  return (name.empty() ? "" : name + ": ") + what + "; `tracetool " + (name.empty() ? "" : name + " ") +
         "--help` lists what there is";
}

void refuse_command(std::string_view name) {
  std::vector<std::string> names;
  std::string all;
  for (const Command& command : commands()) {
    if (command.is_hidden) continue;
    all.append(all.empty() ? "" : ", ").append(command.name);
    names.emplace_back(command.name);
  }
  const std::string meant = nearest_word(name, names);
  throw Error(Exit::usage, "there is no command " + std::string(name) +
                               (meant.empty() ? "" : " (did you mean " + meant + "?)") + "; there are " + all +
                               ". `tracetool --help` explains them");
}

}  // namespace cli
