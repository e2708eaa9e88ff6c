#include "cli/read/form_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cli/read/plain_number.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cli {
namespace {

constexpr std::size_t kPadding = 16;

constexpr char kFirstHole = FormTree::kTimeHole, kLastHole = FormTree::kAnyNumberHole;
constexpr bool is_hole(char c) { return c >= kFirstHole && c <= kLastHole; }

// Of the hole that `text`, which is not empty, begins with.
constexpr std::size_t hole_bytes(std::string_view text) { return is_hole(text[0]) ? 1 : 0; }

#if defined(__SSE2__)
// Which of the 16 bytes there are the same: bit i for byte i.
unsigned equal_bytes(const char* a, const char* b) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)), y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)));
}

// Are they the same? May read up to 16 bytes behind both.
inline bool same(const char* a, const char* b, std::size_t size) {
  for (; size > 16; a += 16, b += 16, size -= 16) {
    if (equal_bytes(a, b) != 0xffff) return false;
  }
  return (~equal_bytes(a, b) & ((1u << size) - 1)) == 0;
}
#else
bool same(const char* a, const char* b, std::size_t size) { return std::memcmp(a, b, size) == 0; }
#endif

// The text's size where it has none.
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

// How many bytes are the same at the begin of both.
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

FormTree::FormTree() : nodes_(1), text_(kPadding, '\0') {}

FormTree::Match FormTree::match(const char* begin, const char* end, std::int64_t* const numbers) const {
  const char* at = begin;
  std::int64_t* number = numbers;
  const auto take_number = [&](char hole, const char*& from) {
    const char* behind = from;
    if (number == numbers + kMostNumbers) return false;
    if (!take_number_in(hole, behind, *number)) return false;
    from = behind;
    ++number;
    return true;
  };
  for (std::uint32_t parent = 0;;) {
    const Node& from = nodes_[parent];
    std::uint32_t next = from.child;
    const bool is_first = is_hole(from.child_first) ? take_number(from.child_first, at) : from.child_first == *at;
    if (!is_first) {
      // A damaged text may hold the byte of a hole.
      next = from.has_more && !is_hole(*at) ? more_[slot_of(more_key(parent, *at))].node : 0;
      if (next == 0) return {};
    }
    const Node& node = nodes_[next];
    if (node.length > end - at || !same(at, text_.data() + node.text, node.length)) return {};
    at += node.length;
    if (node.form != 0) return {static_cast<std::size_t>(at - begin), node.form - 1, static_cast<std::size_t>(number - numbers)};
    parent = next;
  }
}

// 0: there is none.
std::uint32_t FormTree::child_of(std::uint32_t parent, char first) const {
  const Node& node = nodes_[parent];
  if (node.child != 0 && node.child_first == first) return node.child;
  return node.has_more ? more_[slot_of(more_key(parent, first))].node : 0;
}

// Its own, or the free one for it.
inline std::size_t FormTree::slot_of(std::uint64_t key) const {
  const std::size_t mask = more_.size() - 1;
  std::size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (more_[at].node != 0 && more_[at].key != key) at = (at + 1) & mask;
  return at;
}

void FormTree::put_more(std::uint32_t node) {
  if (more_count_ * 2 >= more_.size()) {
    std::vector<More> old(std::max<std::size_t>(64, more_.size() * 2));
    old.swap(more_);
    for (const More& known : old) {
      if (known.node != 0) more_[slot_of(known.key)] = known;
    }
  }
  const std::uint64_t key = more_key(nodes_[node].parent, nodes_[node].first);
  More& slot = more_[slot_of(key)];
  more_count_ += slot.node == 0;
  slot = {key, node};
}

// The node at which `text` ends, which is made where there is none.
std::uint32_t FormTree::node_of(std::string_view text) {
  std::uint32_t node = 0;
  while (!text.empty()) {
    const std::uint32_t child = child_of(node, text[0]);
    if (child == 0) {
      node = add_child(node, text);
      text.remove_prefix(hole_bytes(text) + nodes_[node].length);
      continue;
    }
    node = child;
    text.remove_prefix(hole_bytes(text));
    const std::string_view known(text_.data() + nodes_[node].text, nodes_[node].length);
    const std::size_t common = common_bytes(known, text);
    if (common < known.size()) node = split(node, static_cast<std::uint32_t>(common));
    text.remove_prefix(common);
  }
  return node;
}

// Of what `text` begins with up to the next hole. One with a hole is the first child: a number that it does not take may be
// part of a text.
std::uint32_t FormTree::add_child(std::uint32_t parent, std::string_view text) {
  Node node;
  node.parent = parent;
  node.first = text[0];
  const std::string_view behind = text.substr(hole_bytes(text)), literal = behind.substr(0, next_hole(behind));
  text_.resize(text_.size() - kPadding);
  node.text = static_cast<std::uint32_t>(text_.size());
  node.length = static_cast<std::uint32_t>(literal.size());
  text_.append(literal).append(kPadding, '\0');
  const auto added = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  Node& above = nodes_[parent];
  std::uint32_t more = added;
  if (above.child == 0 || is_hole(node.first)) {
    more = std::exchange(above.child, added);
    above.child_first = node.first;
  }
  if (more != 0) {
    above.has_more = true;
    put_more(more);
  }
  return added;
}

// The text of `node` up to `at`, with the hole before it, becomes that of a new node above it, which is returned.
std::uint32_t FormTree::split(std::uint32_t node, std::uint32_t at) {
  const auto added = static_cast<std::uint32_t>(nodes_.size());
  Node upper = nodes_[node];
  upper.length = at;
  upper.child = node;
  upper.child_first = text_[upper.text + at];
  upper.has_more = false;
  upper.form = 0;
  nodes_.push_back(upper);
  Node& above = nodes_[upper.parent];
  if (above.child == node)
    above.child = added;
  else
    more_[slot_of(more_key(upper.parent, upper.first))].node = added;
  Node& lower = nodes_[node];
  lower.parent = added;
  lower.text += at;
  lower.length -= at;
  lower.first = upper.child_first;
  return added;
}

}  // namespace cli
