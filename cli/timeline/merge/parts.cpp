#include "cli/timeline/merge/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/trace/error.h"
#include "cli/trace/rank_list.h"
#include "cli/formats/ttrace/merged_file.h"
#include "cli/formats/ttrace/merged_reader.h"

namespace cli {
namespace {

struct Part {
  const TraceInput* input;
  std::string run_id;  // of its first process that has one; "": unknown
  std::string fault;   // "": none
};

Part look_into(const TraceInput& input) {
  Part part{&input, {}, {}};
  try {
    Catalog catalog;
    MergedReader(input.path).read_lists(catalog);
    for (const Process& process : catalog.processes) {
      if (part.run_id.empty()) part.run_id = process.run_id;
    }
  } catch (const Error& error) {
    part.fault = error.what();
  }
  return part;
}

// The run of more than one part that more parts are of than of any other; "": there is none, and nobody can tell which is meant.
std::string run_of_most(const std::vector<Part>& parts) {
  std::map<std::string, std::size_t> parts_of;
  for (const Part& part : parts) {
    if (!part.run_id.empty()) ++parts_of[part.run_id];
  }
  std::string run;
  std::size_t most = 1;
  for (const auto& [id, count] : parts_of) {
    if (count == most) run.clear();
    if (count > most) {
      run = id;
      most = count;
    }
  }
  return run;
}

}  // namespace

std::vector<std::string> leave_out_unfit(std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) return {};
  std::vector<Part> parts;
  for (const TraceInput& input : inputs) {
    if (is_merged_file(input.path)) parts.push_back(look_into(input));
  }
  const std::string run = run_of_most(parts);
  std::vector<std::string> lines;
  std::set<const TraceInput*> unfit;
  for (const Part& part : parts) {
    std::string why = part.fault;
    if (why.empty() && !run.empty() && !part.run_id.empty() && part.run_id != run) {
      why = fmt::format("{}: belongs to run {}, but most others belong to {}", part.input->path, part.run_id, run);
    }
    if (why.empty()) continue;
    unfit.insert(part.input);
    lines.push_back(why + "; skipped");
  }
  if (unfit.size() == inputs.size()) throw Error(Exit::bad_content, parts[0].fault);
  std::vector<TraceInput> fit;
  for (TraceInput& input : inputs) {
    if (!unfit.contains(&input)) fit.push_back(std::move(input));
  }
  inputs = std::move(fit);
  return lines;
}

std::string missing_ranks(const Catalog& catalog) {
  std::int64_t ranks = -1;
  std::set<std::int64_t> there;
  for (const Process& process : catalog.processes) {
    ranks = std::max(ranks, process.world_size);
    there.insert(process.rank);
  }
  std::vector<std::int64_t> missing;
  if (ranks > static_cast<std::int64_t>(kMaxProcesses)) return {};  // no run, but a number in a damaged file
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty() || missing.size() == static_cast<std::size_t>(ranks)) return {};
  return fmt::format("{} of {} {} missing", rank_list(missing), ranks, missing.size() == 1 ? "is" : "are");
}

}  // namespace cli
