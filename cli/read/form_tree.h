// Texts with holes for numbers, of which those that begin alike share that begin (a radix tree), so that a text is compared
// with all of them at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/shapes.h"

namespace cli {

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
  void add(std::string_view text, std::uint32_t form) { nodes_[node_of(text)].form = form + 1; }

  std::size_t text_bytes() const { return text_.size(); }
  std::size_t held_bytes() const { return text_.size() + nodes_.size() * sizeof(Node) + more_.size() * sizeof(more_[0]); }

 private:
  struct Node {
    std::uint32_t text = 0, length = 0;  // in text_: what stands here, behind the hole where it begins with one
    std::uint32_t parent = 0;
    std::uint32_t child = 0;             // the first, of holes the only; 0: none
    std::uint32_t form = 0;              // index + 1, where a form ends here
    char first = 0;                      // of the text, or the hole
    char child_first = 0;                // of `child`
    bool has_more = false;               // children, which are in more_
  };

  // A child that is not its parent's first.
  struct More {
    std::uint64_t key = 0;   // more_key()
    std::uint32_t node = 0;  // 0: a free slot
  };
  static std::uint64_t more_key(std::uint32_t parent, char first) {
    return std::uint64_t{parent} << 8 | static_cast<unsigned char>(first);
  }

  std::uint32_t child_of(std::uint32_t parent, char first) const;
  std::uint32_t add_child(std::uint32_t parent, std::string_view text);
  std::uint32_t split(std::uint32_t node, std::uint32_t at);
  std::uint32_t node_of(std::string_view text);
  std::size_t slot_of(std::uint64_t key) const;
  void put_more(std::uint32_t node);

  std::vector<Node> nodes_;  // the first is the root
  std::vector<More> more_;   // open addressing, a power of two, at most half full
  std::size_t more_count_ = 0;
  std::string text_;  // with padding behind
};

}  // namespace cli
