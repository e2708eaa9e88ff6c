#include "cli/analyze/write_folded.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "cli/analyze/call_text.h"
#include "cli/io/visible_text.h"

namespace cli {
namespace {

std::string folded_name(const Catalog& catalog, const CallPaths::Node& node) {
  std::string text = call_text(catalog, node.label);
  if (node.label.part == CallPart::process) {
    const std::int64_t rank = catalog.processes[node.group].rank;
    text = rank < 0 ? "rank ?" : fmt::format("rank {}", rank);
  }
  std::replace(text.begin(), text.end(), ';', ':');
  return text.empty() ? "?" : visible_text(text);
}

}  // namespace

std::int64_t write_folded(const Catalog& catalog, const std::vector<CallPaths::Node>& nodes, FoldedWeight weight, bool several, ByteSink& out) {
  std::vector<std::string> stacks(nodes.size());
  std::map<std::string, std::int64_t> lines;  // nodes may have the same names
  std::int64_t sum = 0;
  for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
    const CallPaths::Node& node = nodes[id];
    const std::string& outer = stacks[node.parent];
    if (several || node.label.part != CallPart::process) stacks[id] = outer + (outer.empty() ? "" : ";") + folded_name(catalog, node);
    const std::int64_t ns = weight == FoldedWeight::gpu ? node.gpu_ns : node.host_ns;
    if (ns <= 0) continue;
    lines[stacks[id]] += ns;
    sum += ns;
  }
  for (const auto& [stack, ns] : lines) out.write(fmt::format("{} {}\n", stack, ns));
  return sum;
}

}  // namespace cli
