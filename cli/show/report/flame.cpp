#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/answers/tables/call_paths.h"
#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/write_folded.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/text.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"

namespace cli::report {

namespace {

constexpr std::size_t kMostFlameNodes = 1200, kMostFlameDepth = 60;
constexpr std::int64_t kLeastFlamePart = 1500;  // nodes below this part (1 / N) of the total are too thin to see

// Receives folded lines. Each write is one line.
class FlameSink : public ByteSink {
 public:
  void write(std::string_view line) override {
    const std::size_t blank = line.rfind(' ');
    std::int64_t ns = 0;
    std::from_chars(line.data() + blank + 1, line.data() + line.size(), ns);
    const std::string_view path = line.substr(0, blank);
    total_ns_ += ns;
    std::uint32_t at = 0;
    nodes_[0].ns += ns;
    for (std::size_t from = 0; from <= path.size();) {
      const std::size_t to = std::min(path.find(';', from), path.size());
      at = child(at, path.substr(from, to - from));
      nodes_[at].ns += ns;
      from = to + 1;
    }
    lines_.emplace_back(ns, path);
  }
  void finish() override {}

  void give(FlameTree& tree) {
    tree.total_ns = total_ns_;
    for (Node& node : nodes_) {
      std::ranges::sort(node.children, [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(-nodes_[a].ns, nodes_[a].name) < std::pair(-nodes_[b].ns, nodes_[b].name);
      });
    }
    std::uint32_t top = 0;
    while (nodes_[top].children.size() == 1 && !nodes_[nodes_[top].children.front()].children.empty() &&
           nodes_[nodes_[top].children.front()].ns == total_ns_) {
      top = nodes_[top].children.front();
      tree.common.push_back(nodes_[top].name);
    }
    std::vector<std::int64_t> sizes;
    for (const Node& node : nodes_) sizes.push_back(node.ns);
    tree.least_ns = std::max<std::int64_t>(1, total_ns_ / kLeastFlamePart);
    if (sizes.size() > kMostFlameNodes) {
      std::nth_element(sizes.begin(), sizes.begin() + kMostFlameNodes, sizes.end(), std::greater<>());
      tree.least_ns = std::max(tree.least_ns, sizes[kMostFlameNodes] + 1);
    }
    add_below(top, 0, 0, tree);
    add_longest(tree);
  }

 private:
  struct Node {
    std::string name;
    std::int64_t ns = 0;
    std::vector<std::uint32_t> children;
  };

  std::uint32_t child(std::uint32_t parent, std::string_view name) {
    const auto [at, is_new] =
        places_.try_emplace({parent, std::string(name)}, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_.push_back({std::string(name), 0, {}});
      nodes_[parent].children.push_back(at->second);
    }
    return at->second;
  }

  void add_below(std::uint32_t parent, std::size_t depth, std::int64_t from_ns, FlameTree& tree) const {
    if (depth == kMostFlameDepth) return;
    for (const std::uint32_t id : nodes_[parent].children) {
      const Node& node = nodes_[id];
      if (node.ns < tree.least_ns) break;
      tree.nodes.push_back({node.name, depth, from_ns, node.ns, node.children.empty()});
      add_below(id, depth + 1, from_ns, tree);
      from_ns += node.ns;
    }
  }

  void add_longest(FlameTree& tree) {
    std::ranges::stable_sort(lines_, [](const auto& a, const auto& b) { return a.first > b.first; });
    tree.longest = {"flame",
                    {{"gpu_ns", Unit::ns, "Time of the kernels, copies or memsets launched there"},
                     {"gpu_share_pct", Unit::percent, "Share in all GPU work"},
                     {"stack", Unit::text, "Names from the outermost to the kernel"}}};
    for (auto& [ns, path] : lines_) tree.longest.rows.push_back({ns, percent(ns, total_ns_), std::move(path)});
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> places_;
  std::vector<std::pair<std::int64_t, std::string>> lines_;
  std::int64_t total_ns_ = 0;
};

class FlameObserver : public TablesObserver {
 public:
  FlameObserver(const AnalysisContext& context, FlameTree& tree)
      : context_(context), paths_(context, false, true), tree_(tree) {}
  void event(const Event& event, const Facts& facts) override { paths_.event(event, facts); }
  void work(const GpuWork& work) override { paths_.work(work); }
  void end_of(ProcessId process) override { paths_.end_of(process); }
  void finish(const std::vector<ResultTable>&) override {
    FlameSink sink;
    write_folded(context_.catalog, paths_.finish(), FoldedWeight::gpu, false, sink);
    sink.give(tree_);
  }

 private:
  const AnalysisContext& context_;
  CallPaths paths_;
  FlameTree& tree_;
};

// The flame graph of GPU time by the program part that launched it. The root is at the top.

constexpr double kFlameRow = 18,
                 kLeastFlameText = 0.03;  // share of the width; narrower boxes have no text until the user zooms in
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
  open_chart(
      page,
      {"GPU time by call path",
       "Each box is a frame, module, range, operator or call. Its width is the GPU time of the work launched in it. Callees are below it; kernels are at the end.",
       kFlameRow * static_cast<double>(depth), 0});
  const auto total = static_cast<double>(tree.total_ns);
  for (const FlameNode& node : tree.nodes) {
    const double share = static_cast<double>(node.ns) / total;
    open_box(page, "box flame", static_cast<double>(node.from_ns) / total, share,
             kFlameRow * static_cast<double>(node.depth), kFlameRow - 1);
    const std::string name = flame_name(node);
    page.element("title",
                 fmt::format("{}: {}, {:.2f} %", name.size() > kMostFlameName ? name.substr(0, kMostFlameName) : name,
                             duration_text(node.ns), 100 * share));
    page.empty("rect", {{"class", flame_class(node)}, {"width", "100%"}, {"height", "100%"}});
    if (share >= kLeastFlameText) page.element("text", {{"x", 3}, {"y", 13}}, shortened_text(name, kMostFlameName));
    close_box(page);
  }
  close_chart(page);
}

void write_flame(const ReportFacts& facts, Html& page) {
  const FlameTree& tree = facts.flame;
  std::string text = fmt::format("{} of GPU work by call path; boxes of less than {} are omitted.",
                                 duration_text(tree.total_ns), duration_text(tree.least_ns));
  write_paragraph(page, text);
  if (!tree.common.empty()) {
    std::string common;
    for (const std::string& name : tree.common) common += (common.empty() ? "" : " > ") + shortened_text(name);
    page.element("p", {{"class", "note"}}, "All of it is below: " + common);
  }
  page.open("div", {{"class", "tl-controls"}, {"id", "flame-controls"}, {"hidden", ""}});
  page.open("label");
  page.text("Find ");
  page.empty("input", {{"id", "flame-search"},
                       {"type", "search"},
                       {"placeholder", "part of a name"},
                       {"autocomplete", "off"},
                       {"spellcheck", "false"}});
  page.close("label");
  page.element("output", {{"id", "flame-found"}, {"for", "flame-search"}}, "");
  page.element("button", {{"type", "button"}, {"id", "flame-all"}}, "Show all");
  page.element("span", {{"class", "tl-help"}}, "Click a box to zoom to it.");
  page.close("div");
  page.open("figure", {{"id", "flame-graph"}});
  draw_flame(page, tree);
  page.close("figure");
  write_folded_table(
      page, tree.longest, facts, "paths with most GPU time",
      {.most = 50, .command = fmt::format("tracetool export --folded {}{} -o -", facts.inputs, facts.selected)});
}

bool has_flame(const ReportFacts& facts) { return facts.flame.total_ns > 0; }

}  // namespace

TablesObserverEntry flame_observer(FlameTree& tree) {
  return {{.kinds = CallPaths::kinds()},
          [&tree](const AnalysisContext& context) { return std::make_unique<FlameObserver>(context, tree); }};
}

SectionEntry flame_section() { return {"flame", "Flame graph of GPU time", {}, write_flame, has_flame}; }

}  // namespace cli::report
