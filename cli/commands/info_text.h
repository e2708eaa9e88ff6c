// `info` for people: a table, what was lost, notes, and what to do next.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"

namespace cli {

// What was looked at, and what the next command takes.
struct InfoInput {
  bool merged = false;
  std::string inputs = {};  // as words of a command
  std::vector<std::string> steps = {};  // how they were found, of a merged file
};

// `notes` concern all inputs together.
// `fits`: how a merged file was aligned.
std::string info_text(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, const InfoInput& input);

}  // namespace cli
