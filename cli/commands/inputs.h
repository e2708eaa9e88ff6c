// Which traces a command reads.
#pragma once
#include <string>
#include <vector>

#include "cli/merge/ordered_trace.h"

namespace cli {

struct InputOptions {
  std::vector<std::string> paths;
  std::vector<std::string> ranks;  // "N=FILE"
};

// Each file once, in the order given. Throws Error (usage) when there is none or a --rank is malformed.
std::vector<TraceInput> resolve(const InputOptions& options);

// "3=traces/a.ring" -> its two parts. Throws Error (usage).
TraceInput parse_rank(const std::string& text);

// Throws Error (usage) when the output would replace one of the inputs.
void refuse_input_as_output(const std::vector<TraceInput>& inputs, const std::string& output);

// A new name beside an input: traces/ and ".json.gz" -> traces.json.gz; endings of traces are replaced. Never the
// input.
std::string name_beside(const std::string& input, const std::string& extension);

}  // namespace cli
