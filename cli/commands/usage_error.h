// What is said of a command line that cannot be understood: what was wrong, what may have been meant, where to read on.
#pragma once
#include <string>
#include <string_view>

#include "common/nearest_word.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cli {

// `app` is the whole, with its subcommands; `error` what parsing threw. One line, without "tracetool: ".
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

// Throws Error (usage): there is no such command.
[[noreturn]] void refuse_command(std::string_view name);

// Returns "; did you mean NAME?" with the nearest of `known`, or "" if none is near.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string meant(trace::nearest_word(word, known));
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace cli
