// Texts with holes for numbers, of which those that begin alike share that begin (a radix tree), so that a text is compared
// with all of them at once.
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
  // Which number stands in a hole: bytes that no JSON text holds.
  static constexpr char kTimeHole = '\1', kIntegerHole = '\2', kAnyNumberHole = '\3';
  // Numbers of one event: two times, an id, a process and a thread, those of a shape, and one of any kind.
  static constexpr std::size_t kMostNumbers = kMostHoles + 6;

  FormTree();

  // Moves `at` behind the number there. False: it is none that this hole holds; `at` and the value are then undefined.
  static bool take_hole(char hole, const char*& at, std::int64_t& value);

  struct Match {
    std::size_t size = 0;     // of the text; 0: none has its bytes
    std::uint32_t form = 0;   // as it was added
    std::size_t numbers = 0;  // how many
  };
  // The form of the text that begins at `begin` and ends before `end`. Writes its numbers, at most kMostNumbers: times in ns,
  // integers as they are, 0 for any other. The 16 bytes behind `end` must be readable.
  Match match(const char* begin, const char* end, std::int64_t* numbers) const;

  // `text` has its holes in it, no zero byte, and is not what another begins with.
  void add(std::string_view text, std::uint32_t form);

  std::size_t text_bytes() const { return text_bytes_; }
  std::size_t held_bytes() const { return nodes_.size() + more_.size() * sizeof(more_[0]); }

 private:
  using NodeId = std::uint32_t;  // where it begins in nodes_; 0 is the root, or says that there is none

  // Its text stands behind it, so that both are read from memory at once.
  struct Node {
    std::uint32_t length = 0;  // of its text, behind the hole where it begins with one
    NodeId parent = 0;
    std::uint32_t next = 0;    // where a form ends here: which; else the first child, of holes the only
    char first = 0;            // of the text, or the hole
    char child_first = 0;      // of that child
    bool is_end = false;       // a form ends here
    bool has_more = false;     // children, which are in more_
  };

  Node at(NodeId id) const;
  void put(NodeId id, const Node& node);
  std::string_view text_of(NodeId id) const { return {nodes_.data() + id + sizeof(Node), at(id).length}; }
  void put_text(NodeId id, std::string_view text) { std::memmove(nodes_.data() + id + sizeof(Node), text.data(), text.size()); }
  NodeId append(const Node& node);  // with room for its text

  NodeId child_of(NodeId parent, char first) const;
  NodeId add_child(NodeId parent, std::string_view text);
  NodeId split(NodeId node, std::uint32_t at_byte);
  NodeId node_of(std::string_view text);
  std::size_t slot_of(NodeId parent, char first) const;
  void put_more(NodeId node);

  std::vector<char> nodes_;   // with padding behind
  std::vector<NodeId> more_;  // children that are not their parent's first: open addressing, a power of two, at most half full
  std::size_t more_count_ = 0, text_bytes_ = 0;
};

}  // namespace cli::kineto
