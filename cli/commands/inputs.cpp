#include "cli/commands/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "cli/error.h"
#include "cli/read/reader.h"

namespace cli {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

// Files by their real path, so that thousands of them stay quick to tell apart.
class InputList {
 public:
  void add(TraceInput input) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(input.path, error);
    const auto [place, is_new] = places_.try_emplace(error ? input.path : real.string(), inputs.size());
    if (is_new) {
      inputs.push_back(std::move(input));
    } else if (input.rank) {
      inputs[place->second].rank = input.rank;
    }
  }
  std::vector<TraceInput> inputs;

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

TraceInput parse_rank(const std::string& text) {
  std::int64_t rank = -1;
  const std::size_t equals = text.find('=');
  const char* end = text.data() + std::min(equals, text.size());
  const auto parsed = std::from_chars(text.data(), end, rank);
  if (equals == std::string::npos || parsed.ptr != end || parsed.ec != std::errc() || rank < 0 ||
      equals + 1 == text.size()) {
    throw Error(Exit::usage,
                fmt::format("--rank {}: expected N=FILE with N from 0, like --rank 3=traces/worker.ring", text));
  }
  return {text.substr(equals + 1), rank};
}

std::vector<TraceInput> resolve(const InputOptions& options) {
  if (options.paths.empty() && options.ranks.empty()) {
    throw Error(Exit::usage, "which traces? Name files, a folder or a glob, like `tracetool info traces/`");
  }
  InputList list;
  if (!options.paths.empty()) {
    for (std::string& path : expand_paths(options.paths)) list.add({std::move(path), {}});
  }
  for (const std::string& text : options.ranks) list.add(parse_rank(text));
  return list.inputs;
}

void refuse_input_as_output(const std::vector<TraceInput>& inputs, const std::string& output) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(output, error)) return;
  for (const TraceInput& input : inputs) {
    if (!same_file(input.path, output)) continue;
    throw Error(Exit::usage, fmt::format("{} is also an input: choose another name with -o", output));
  }
}

std::string name_beside(const std::string& input, const std::string& extension) {
  std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  if (name.empty() || name == "-" || name == "." || name == "..") return "trace" + extension;
  for (const std::string ending : {".gz", ".zst", ".json", ".trace", ".pt", ".ttrace", ".ring"}) {
    const bool ends =
        name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
    if (ends) name.resize(name.size() - ending.size());
  }
  const std::filesystem::path beside = path.parent_path() / (name + extension);
  return beside == path ? (path.parent_path() / (name + ".export" + extension)).string() : beside.string();
}

}  // namespace cli
