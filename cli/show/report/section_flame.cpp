// The flame graph of GPU time by the program part that launched it. The root is at the top.
#include <fmt/format.h>

#include <algorithm>

#include "cli/answers/tables/write_tables.h"
#include "cli/base/text.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli {
namespace {

constexpr double kFlameRow = 18, kLeastFlameText = 0.03;  // share of the width; narrower boxes have no text until the user zooms in
constexpr std::size_t kMostFlameName = 160;

// Returns the name without directories of Python files and without arguments of kernels.
std::string flame_name(const FlameNode& node) {
  const std::size_t file = node.name.find(".py(");
  if (file != std::string::npos) return node.name.substr(node.name.rfind('/', file) + 1);
  return node.is_leaf ? short_name(node.name) : node.name;
}

std::string_view flame_class(const FlameNode& node) {
  if (!node.is_leaf) return node.depth % 2 == 0 ? "flame-even" : "flame-odd";
  if (is_comm_name(node.name)) return "bad";
  return is_gemm_name(node.name) ? "good" : "blue";
}

void draw_flame(Html& page, const FlameTree& tree) {
  std::size_t depth = 0;
  for (const FlameNode& node : tree.nodes) depth = std::max(depth, node.depth + 1);
  open_chart(page, {"GPU time by call path", "Each box is a frame, module, range, operator or call. Its width is the GPU time of the work launched in it. Callees are below it; kernels are at the end.",
                    kFlameRow * static_cast<double>(depth), 0});
  const auto total = static_cast<double>(tree.total_ns);
  for (const FlameNode& node : tree.nodes) {
    const double share = static_cast<double>(node.ns) / total;
    open_box(page, "box flame", static_cast<double>(node.from_ns) / total, share, kFlameRow * static_cast<double>(node.depth), kFlameRow - 1);
    const std::string name = flame_name(node);
    page.element("title", fmt::format("{}: {}, {:.2f} %", name.size() > kMostFlameName ? name.substr(0, kMostFlameName) : name, duration_text(node.ns), 100 * share));
    page.empty("rect", {{"class", flame_class(node)}, {"width", "100%"}, {"height", "100%"}});
    if (share >= kLeastFlameText) page.element("text", {{"x", 3}, {"y", 13}}, shortened_text(name, kMostFlameName));
    close_box(page);
  }
  close_chart(page);
}

void write_flame(const ReportFacts& facts, Html& page) {
  const FlameTree& tree = facts.flame;
  std::string text = fmt::format("{} of GPU work by call path; boxes of less than {} are omitted.", duration_text(tree.total_ns), duration_text(tree.least_ns));
  write_paragraph(page, text);
  if (!tree.common.empty()) {
    std::string common;
    for (const std::string& name : tree.common) common += (common.empty() ? "" : " > ") + shortened_text(name);
    page.element("p", {{"class", "note"}}, "All of it is below: " + common);
  }
  page.open("div", {{"class", "tl-controls"}, {"id", "flame-controls"}, {"hidden", ""}});
  page.open("label");
  page.text("Find ");
  page.empty("input", {{"id", "flame-search"}, {"type", "search"}, {"placeholder", "part of a name"}, {"autocomplete", "off"}, {"spellcheck", "false"}});
  page.close("label");
  page.element("output", {{"id", "flame-found"}, {"for", "flame-search"}}, "");
  page.element("button", {{"type", "button"}, {"id", "flame-all"}}, "Show all");
  page.element("span", {{"class", "tl-help"}}, "Click a box to zoom to it.");
  page.close("div");
  page.open("figure", {{"id", "flame-graph"}});
  draw_flame(page, tree);
  page.close("figure");
  write_folded_table(page, tree.longest, facts, "paths with most GPU time", {.most = 50, .command = fmt::format("tracetool export --folded {}{} -o -", facts.inputs, facts.selected)});
}

bool has_flame(const ReportFacts& facts) { return facts.flame.total_ns > 0; }

}  // namespace

SectionEntry flame_section() { return {"flame", "Flame graph of GPU time", {}, write_flame, has_flame}; }

}  // namespace cli
