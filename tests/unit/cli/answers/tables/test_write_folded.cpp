#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cli/answers/tables/write_folded.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct FoldedText : ByteSink {
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  std::string text;
};

class FoldedTree {
 public:
  CallPaths::NodeId add(CallPaths::NodeId parent, const char* name, std::int64_t ns,
                        CallPart part = CallPart::operation) {
    CallPaths::Node node;
    node.parent = parent;
    node.label.part = part;
    node.label.name = catalog_.strings.intern(name);
    node.host_ns = ns;
    nodes_.push_back(node);
    return static_cast<CallPaths::NodeId>(nodes_.size() - 1);
  }
  std::string text() const {
    FoldedText out;
    write_folded(catalog_, nodes_, FoldedWeight::cpu, false, out);
    return out.text;
  }
  std::size_t size() const { return nodes_.size(); }

 private:
  Catalog catalog_;
  std::vector<CallPaths::Node> nodes_{1};
};

}  // namespace

TEST_CASE("folded: lines are sorted by their text, and nodes of one path are one line") {
  FoldedTree tree;
  const auto a = tree.add(0, "a", 1), again = tree.add(0, "a", 2);
  tree.add(a, "c", 4);
  tree.add(again, "c", 8);
  tree.add(0, "a b", 16);
  tree.add(0, "ab", 32);
  tree.add(tree.add(0, "nothing", 0), "x;y", 64);
  CHECK(tree.text() == "a 3\na b 16\na;c 12\nab 32\nnothing;x:y 64\n");
}

TEST_CASE("folded: as a map of all lines has them") {
  std::mt19937 random(7);
  const char* const names[] = {"a", "a ", "a!", "aa", "a:", "b", "\xc3\xa9", "a<b", "layer 1"};
  FoldedTree tree;
  std::vector<std::string> paths{""};
  std::map<std::string, std::int64_t> lines;
  for (int i = 0; i < 2000; ++i) {
    const auto parent = static_cast<CallPaths::NodeId>(random() % tree.size());
    const std::string name = names[random() % std::size(names)];
    const std::int64_t ns = random() % 3;
    tree.add(parent, name.c_str(), ns);
    paths.push_back(paths[parent] + (paths[parent].empty() ? "" : ";") + name);
    if (ns > 0) lines[paths.back()] += ns;
  }
  std::string expected;
  for (const auto& [path, ns] : lines) expected += fmt::format("{} {}\n", path, ns);
  CHECK(tree.text() == expected);
}

TEST_CASE("folded: a deep tree takes no more than its nodes and its longest line") {
  FoldedTree tree;
  CallPaths::NodeId at = 0;
  for (int i = 0; i < 100'000; ++i) at = tree.add(at, "x", i == 99'999 ? 5 : 0);
  CHECK(tree.text().size() == 200'000 + 2);
}

TEST_CASE("folded: ranges that name a training step have N for its number") {
  CHECK(unnumbered_step("ProfilerStep#12") == "ProfilerStep#N");
  CHECK(unnumbered_step("Train step 3/2315") == "Train step N");
  CHECK(unnumbered_step("step:7") == "step:N");
  CHECK(unnumbered_step("eval step 3") == "eval step 3");
  CHECK(unnumbered_step("layer 3") == "layer 3");
  FoldedTree tree;
  tree.add(0, "ProfilerStep#1", 1, CallPart::range);
  tree.add(0, "ProfilerStep#2", 2, CallPart::range);
  CHECK(tree.text() == "ProfilerStep#N 3\n");
}
