#include "cli/formats/kineto/form_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cli/formats/json/json_values.h"
#include "common/hash.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cli::kineto {
namespace {

constexpr std::size_t kPadding = 16;

constexpr char kFirstHole = FormTree::kTimeHole, kLastHole = FormTree::kAnyNumberHole;
constexpr bool is_hole(char c) { return c >= kFirstHole && c <= kLastHole; }

// Returns the hole with which `text`, which is not empty, begins.
constexpr std::size_t hole_bytes(std::string_view text) { return is_hole(text[0]) ? 1 : 0; }

#if defined(__SSE2__)
// Returns the equal bytes of 16: bit i for byte i.
unsigned equal_bytes(const char* a, const char* b) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)));
}

// Returns true if the bytes are equal. May read up to 16 bytes after both.
inline bool same(const char* a, const char* b, std::size_t size) {
  for (; size > 16; a += 16, b += 16, size -= 16) {
    if (equal_bytes(a, b) != 0xffff) return false;
  }
  return (~equal_bytes(a, b) & ((1u << size) - 1)) == 0;
}
#else
bool same(const char* a, const char* b, std::size_t size) { return std::memcmp(a, b, size) == 0; }
#endif

// Returns the text's size if it has none.
std::size_t next_hole(std::string_view text) {
  std::size_t at = 0;
#if defined(__SSE2__)
  for (const __m128i last = _mm_set1_epi8(kLastHole); at + 16 <= text.size(); at += 16) {
    const __m128i piece = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const int holes = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(piece, last), piece));
    if (holes != 0) return at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(holes)));
  }
#endif
  while (at < text.size() && !is_hole(text[at])) ++at;
  return at;
}

// Returns the number of equal bytes at the beginning of both.
std::size_t common_bytes(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
#if defined(__SSE2__)
  for (; at + 16 <= size; at += 16) {
    const unsigned equal = equal_bytes(a.data() + at, b.data() + at);
    if (equal != 0xffff) return at + static_cast<std::size_t>(std::countr_one(equal));
  }
#endif
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

[[gnu::always_inline]] inline bool take_number_in(char hole, const char*& at, std::int64_t& value) {
  if (hole == FormTree::kTimeHole) return take_plain_time(at, value);
  if (hole == FormTree::kIntegerHole) return take_plain_integer(at, value);
  value = 0;
  return pass_json_number(at);
}

}  // namespace

bool FormTree::take_hole(char hole, const char*& at, std::int64_t& value) { return take_number_in(hole, at, value); }

FormTree::FormTree() { append({}); }

inline FormTree::Node FormTree::at(NodeId id) const {
  Node node;
  std::memcpy(&node, nodes_.data() + id, sizeof node);
  return node;
}

void FormTree::put(NodeId id, const Node& node) { std::memcpy(nodes_.data() + id, &node, sizeof node); }

FormTree::NodeId FormTree::append(const Node& node) {
  const std::size_t id = nodes_.empty() ? 0 : nodes_.size() - kPadding;
  nodes_.resize(id + sizeof node + node.length + kPadding);
  put(static_cast<NodeId>(id), node);
  return static_cast<NodeId>(id);
}

FormTree::Match FormTree::match(const char* begin, const char* end, std::int64_t* const numbers) const {
  const char* place = begin;
  std::int64_t* number = numbers;
  const auto take_number = [&](char hole, const char*& from) {
    const char* behind = from;
    if (number == numbers + kMostNumbers) return false;
    if (!take_number_in(hole, behind, *number)) return false;
    from = behind;
    ++number;
    return true;
  };
  Node from = at(0);
  for (NodeId parent = 0;;) {
    NodeId next = from.next;
    const bool is_first = is_hole(from.child_first) ? take_number(from.child_first, place) : from.child_first == *place;
    if (!is_first) {
      // A damaged text may contain the byte of a hole.
      next = from.has_more && !is_hole(*place) ? more_[slot_of(parent, *place)] : 0;
      if (next == 0) return {};
    }
    from = at(next);
    if (from.length > end - place || !same(place, nodes_.data() + next + sizeof(Node), from.length)) return {};
    place += from.length;
    if (from.is_end)
      return {static_cast<std::size_t>(place - begin), from.next, static_cast<std::size_t>(number - numbers)};
    parent = next;
  }
}

void FormTree::add(std::string_view text, std::uint32_t form) {
  const NodeId id = node_of(text);
  Node node = at(id);
  node.next = form;
  node.is_end = true;
  put(id, node);
}

// Returns 0 if there is none.
FormTree::NodeId FormTree::child_of(NodeId parent, char first) const {
  const Node node = at(parent);
  if (node.next != 0 && node.child_first == first) return node.next;
  return node.has_more ? more_[slot_of(parent, first)] : 0;
}

// Returns its slot, or the free one for it.
inline std::size_t FormTree::slot_of(NodeId parent, char first) const {
  const std::size_t mask = more_.size() - 1;
  const std::uint64_t key = std::uint64_t{parent} << 8 | static_cast<unsigned char>(first);
  for (std::size_t slot = (trace::spread(key) >> 32) & mask;; slot = (slot + 1) & mask) {
    if (more_[slot] == 0) return slot;
    const Node node = at(more_[slot]);
    if (node.parent == parent && node.first == first) return slot;
  }
}

void FormTree::put_more(NodeId id) {
  if (more_count_ * 2 >= more_.size()) {
    std::vector<NodeId> old(std::max<std::size_t>(64, more_.size() * 2));
    old.swap(more_);
    for (const NodeId known : old) {
      if (known != 0) more_[slot_of(at(known).parent, at(known).first)] = known;
    }
  }
  NodeId& slot = more_[slot_of(at(id).parent, at(id).first)];
  more_count_ += slot == 0;
  slot = id;
}

// Returns the node at which `text` ends, creating it if necessary.
FormTree::NodeId FormTree::node_of(std::string_view text) {
  NodeId node = 0;
  while (!text.empty()) {
    const NodeId child = child_of(node, text[0]);
    if (child == 0) {
      node = add_child(node, text);
      text.remove_prefix(hole_bytes(text) + at(node).length);
      continue;
    }
    node = child;
    text.remove_prefix(hole_bytes(text));
    const std::string_view known = text_of(node);
    const std::size_t common = common_bytes(known, text);
    if (common < known.size()) node = split(node, static_cast<std::uint32_t>(common));
    text.remove_prefix(common);
  }
  return node;
}

// Returns the child for `text` up to the next hole. A child with a hole is first; a number that it does not accept may
// be part of a text.
FormTree::NodeId FormTree::add_child(NodeId parent, std::string_view text) {
  const std::string_view behind = text.substr(hole_bytes(text)), literal = behind.substr(0, next_hole(behind));
  Node node;
  node.parent = parent;
  node.first = text[0];
  node.length = static_cast<std::uint32_t>(literal.size());
  text_bytes_ += literal.size();
  const NodeId added = append(node);
  put_text(added, literal);
  Node above = at(parent);
  NodeId more = added;
  if (above.next == 0 || is_hole(node.first)) {
    more = std::exchange(above.next, added);
    above.child_first = node.first;
  }
  above.has_more |= more != 0;
  put(parent, above);
  if (more != 0) put_more(more);
  return added;
}

// Moves the text of `node` up to `at_byte`, with its leading hole, to a new parent of it, which is returned.
FormTree::NodeId FormTree::split(NodeId node, std::uint32_t at_byte) {
  Node lower = at(node), upper = lower;
  upper.length = at_byte;
  upper.next = node;
  upper.child_first = text_of(node)[at_byte];
  upper.is_end = upper.has_more = false;
  Node above = at(upper.parent);
  const bool is_first = above.next == node;
  const std::size_t slot = is_first ? 0 : slot_of(upper.parent, upper.first);
  const NodeId added = append(upper);
  put_text(added, text_of(node).substr(0, at_byte));
  if (is_first) {
    above.next = added;
    put(upper.parent, above);
  } else {
    more_[slot] = added;
  }
  put_text(node, text_of(node).substr(at_byte));
  lower.parent = added;
  lower.length -= at_byte;
  lower.first = upper.child_first;
  put(node, lower);
  return added;
}

}  // namespace cli::kineto
