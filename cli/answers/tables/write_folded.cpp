#include "cli/answers/tables/write_folded.h"

#include "cli/trace/strings.h"

namespace cli {
namespace {

std::string folded_name(const Catalog& catalog, const CallPaths::Node& node) {
  std::string text = may_name_step(node.label.part) ? unnumbered_step(catalog.strings[node.label.name])
                                                    : call_text(catalog, node.label);
  if (node.label.part == CallPart::process) {
    const std::int64_t rank = catalog.processes[node.group].rank;
    text = rank < 0 ? "rank ?" : fmt::format("rank {}", rank);
  }
  std::replace(text.begin(), text.end(), ';', ':');
  return text.empty() ? "?" : visible_text(text);
}

// The tree with nodes merged by name. Lines are built while writing, so memory does not grow with depth.
class NamedTree {
 public:
  using Id = std::uint32_t;

  // `parent` is 0 for the root.
  Id child(Id parent, std::string_view name) {
    const StringId name_id = names_.intern(name);
    const auto [known, is_new] =
        children_.try_emplace(std::uint64_t{parent} << 32 | name_id, static_cast<Id>(nodes_.size()));
    if (is_new) {
      nodes_.push_back({name_id, nodes_[parent].last_child, 0, 0});
      nodes_[parent].last_child = known->second;
    }
    return known->second;
  }
  void add(Id id, std::int64_t ns) { nodes_[id].ns += ns; }

  // Writes lines sorted by text. A node's line precedes its descendants' lines, but siblings may sort between them: "a", "a b", "a;c".
  void write(ByteSink& out) {
    std::string path;
    if (nodes_[0].ns > 0) write_line(out, path, nodes_[0].ns);
    std::vector<Step> steps;
    push_children(0, 0, steps);
    while (!steps.empty()) {
      const Step step = steps.back();
      steps.pop_back();
      path.resize(step.path_bytes);
      if (step.path_bytes > 0) path += ';';
      path += names_[nodes_[step.id].name];
      step.is_below ? push_children(step.id, path.size(), steps) : write_line(out, path, nodes_[step.id].ns);
    }
  }

 private:
  struct Node {
    StringId name = 0;
    Id before = 0;  // the previous sibling; 0 if none
    Id last_child = 0;
    std::int64_t ns = 0;
  };
  // Pending work: a node's line, or its descendants.
  struct Step {
    Id id;
    bool is_below;
    std::size_t path_bytes;  // length of the parent's path
  };

  static void write_line(ByteSink& out, const std::string& path, std::int64_t ns) {
    out.write(fmt::format("{} {}\n", path, ns));
  }

  // The last element is processed first.
  void push_children(Id parent, std::size_t path_bytes, std::vector<Step>& steps) const {
    const auto first = static_cast<std::ptrdiff_t>(steps.size());
    for (Id id = nodes_[parent].last_child; id != 0; id = nodes_[id].before) {
      if (nodes_[id].last_child != 0) steps.push_back({id, true, path_bytes});
      if (nodes_[id].ns > 0) steps.push_back({id, false, path_bytes});
    }
    std::sort(steps.begin() + first, steps.end(), [&](const Step& a, const Step& b) { return is_before(b, a); });
  }
  // Compares the last name of both, followed by ';' for descendants.
  bool is_before(const Step& a, const Step& b) const {
    const std::string_view one = names_[nodes_[a.id].name], other = names_[nodes_[b.id].name];
    const std::size_t both = std::min(one.size(), other.size());
    if (const int order = one.substr(0, both).compare(other.substr(0, both)); order != 0) return order < 0;
    const auto next = [&](const Step& step, std::string_view name) {
      return name.size() > both ? static_cast<unsigned char>(name[both]) : step.is_below ? ';' : -1;
    };
    return next(a, one) < next(b, other);
  }

  Strings names_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::unordered_map<std::uint64_t, Id> children_;  // by parent and name
};

}  // namespace

std::int64_t write_folded(const Catalog& catalog, const std::vector<CallPaths::Node>& nodes, FoldedWeight weight,
                          bool several, ByteSink& out) {
  NamedTree tree;
  std::vector<NamedTree::Id> named(nodes.size());  // by NodeId
  std::int64_t sum = 0;
  for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
    const CallPaths::Node& node = nodes[id];
    if (several || node.label.part != CallPart::process)
      named[id] = tree.child(named[node.parent], folded_name(catalog, node));
    const std::int64_t ns = weight == FoldedWeight::gpu ? node.gpu_ns : node.host_ns;
    if (ns <= 0) continue;
    tree.add(named[id], ns);
    sum += ns;
  }
  tree.write(out);
  return sum;
}

}  // namespace cli
