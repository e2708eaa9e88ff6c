// Texts with holes for numbers, stored as a radix tree with common prefixes, so that a text is compared with all of
// them at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "cli/trace/shapes.h"

namespace cli::kineto {

class FormTree {
 public:
  // Types of holes. These bytes do not occur in JSON text.
  static constexpr char kTimeHole = '\1', kIntegerHole = '\2', kAnyNumberHole = '\3';
  // Numbers in one event: two times, an id, a process and a thread, those of a shape, and one of any type.
  static constexpr std::size_t kMostNumbers = kMostHoles + 6;

  FormTree();

  // Parses the number at `at` and advances past it. Returns false if it does not fit the hole; `at` and the value are
  // then undefined.
  static bool take_hole(char hole, const char*& at, std::int64_t& value);

  struct Match {
    std::size_t size = 0;     // of the text; 0 if no form matches
    std::uint32_t form = 0;   // as passed to add()
    std::size_t numbers = 0;  // count
  };
  // Finds the form of the text that begins at `begin` and ends before `end`. Writes at most kMostNumbers numbers: times
  // in ns, integers as they are, 0 for other numbers. The 16 bytes after `end` have to be readable.
  Match match(const char* begin, const char* end, std::int64_t* numbers) const;

  // Adds a form. `text` contains its holes and no zero byte, and is no prefix of another form.
  void add(std::string_view text, std::uint32_t form);

  std::size_t text_bytes() const { return text_bytes_; }
  std::size_t held_bytes() const { return nodes_.size() + more_.size() * sizeof(more_[0]); }

 private:
  using NodeId = std::uint32_t;  // offset in nodes_; 0 is the root, or means none

  // The text of a node follows it in memory, so that both are loaded at once.
  struct Node {
    std::uint32_t length = 0;  // of its text, without a leading hole
    NodeId parent = 0;
    std::uint32_t next = 0;  // if is_end, the form; otherwise the first child (the only one, for holes)
    char first = 0;          // first byte of the text, or the hole
    char child_first = 0;    // first byte of that child
    bool is_end = false;     // a form ends here
    bool has_more = false;   // further children, in more_
  };

  Node at(NodeId id) const;
  void put(NodeId id, const Node& node);
  std::string_view text_of(NodeId id) const { return {nodes_.data() + id + sizeof(Node), at(id).length}; }
  void put_text(NodeId id, std::string_view text) {
    std::memmove(nodes_.data() + id + sizeof(Node), text.data(), text.size());
  }
  NodeId append(const Node& node);  // reserves space for its text

  NodeId child_of(NodeId parent, char first) const;
  NodeId add_child(NodeId parent, std::string_view text);
  NodeId split(NodeId node, std::uint32_t at_byte);
  NodeId node_of(std::string_view text);
  std::size_t slot_of(NodeId parent, char first) const;
  void put_more(NodeId node);

  std::vector<char> nodes_;  // with padding at the end
  // All children except the first of each parent: open addressing, a power of two, at most half full
  std::vector<NodeId> more_;
  std::size_t more_count_ = 0, text_bytes_ = 0;
};

}  // namespace cli::kineto
