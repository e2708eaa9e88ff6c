#include "cli/read/form_tree.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/read/plain_number.h"

namespace cli {
namespace {

constexpr std::size_t kPadding = 16;

constexpr bool is_hole(char c) { return c == FormTree::kTimeHole || c == FormTree::kIntegerHole; }

std::uint64_t word_at(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Are they the same? May read up to 15 bytes behind both.
bool same(const char* a, const char* b, std::size_t size) {
  static_assert(std::endian::native == std::endian::little);
  std::size_t at = 0;
  for (; at + 16 <= size; at += 16) {
    if (((word_at(a + at) ^ word_at(b + at)) | (word_at(a + at + 8) ^ word_at(b + at + 8))) != 0) return false;
  }
  std::uint64_t first = word_at(a + at) ^ word_at(b + at);
  const std::size_t rest = size - at;
  if (rest < 8) return rest == 0 || first << (64 - 8 * rest) == 0;
  const std::uint64_t second = word_at(a + at + 8) ^ word_at(b + at + 8);
  return first == 0 && (rest == 8 || second << (64 - 8 * (rest - 8)) == 0);
}

}  // namespace

FormTree::FormTree() : nodes_(1), text_(kPadding, '\0') {}

FormTree::Match FormTree::match(const char* begin, const char* end, std::int64_t* const numbers) const {
  const char* at = begin;
  std::int64_t* number = numbers;
  const auto take_number = [&](char hole, const char*& from) {
    const char* behind = from;
    if (number == numbers + kMostNumbers) return false;
    if (!(hole == kTimeHole ? take_plain_time(behind, *number) : take_plain_integer(behind, *number))) return false;
    from = behind;
    ++number;
    return true;
  };
  for (std::uint32_t parent = 0;;) {
    const Node& from = nodes_[parent];
    std::uint32_t next = from.child;
    if (from.child_first != *at && !(is_hole(from.child_first) && take_number(from.child_first, at))) {
      next = from.has_more ? more_[slot_of(parent, *at)] : 0;
    }
    const Node& node = nodes_[next];
    if (next == 0 || node.length > end - at || !same(at, text_.data() + node.text, node.length)) return {};
    at += node.length;
    if (node.form != 0) return {static_cast<std::size_t>(at - begin), node.form - 1, static_cast<std::size_t>(number - numbers)};
    parent = next;
  }
}

// 0: there is none.
std::uint32_t FormTree::child_of(std::uint32_t parent, char first) const {
  const Node& node = nodes_[parent];
  if (node.child != 0 && node.child_first == first) return node.child;
  return node.has_more ? more_[slot_of(parent, first)] : 0;
}

// Its own, or the free one for it.
std::size_t FormTree::slot_of(std::uint32_t parent, char first) const {
  const std::size_t mask = more_.size() - 1;
  std::size_t at = ((parent << 8 | static_cast<unsigned char>(first)) * std::uint64_t{0x9e3779b97f4a7c15u} >> 32) & mask;
  while (more_[at] != 0 && (nodes_[more_[at]].parent != parent || nodes_[more_[at]].first != first)) at = (at + 1) & mask;
  return at;
}

void FormTree::put_more(std::uint32_t node) {
  if (more_count_ * 2 >= more_.size()) {
    std::vector<std::uint32_t> old(std::max<std::size_t>(64, more_.size() * 2));
    old.swap(more_);
    for (const std::uint32_t known : old) {
      if (known != 0) more_[slot_of(nodes_[known].parent, nodes_[known].first)] = known;
    }
  }
  std::uint32_t& slot = more_[slot_of(nodes_[node].parent, nodes_[node].first)];
  more_count_ += slot == 0;
  slot = node;
}

// The node at which `text` ends, which is made where there is none.
std::uint32_t FormTree::node_of(std::string_view text) {
  std::uint32_t node = 0;
  while (!text.empty()) {
    const std::uint32_t child = child_of(node, text[0]);
    if (child == 0) {
      node = add_child(node, text);
      text.remove_prefix(is_hole(text[0]) ? 1 : nodes_[node].length);
      continue;
    }
    node = child;
    if (is_hole(text[0])) {
      text.remove_prefix(1);
      continue;
    }
    const std::string_view known(text_.data() + nodes_[node].text, nodes_[node].length);
    const auto differs = std::mismatch(known.begin(), known.end(), text.begin(), text.end());
    const auto common = static_cast<std::uint32_t>(differs.first - known.begin());
    if (common < known.size()) node = split(node, common);
    text.remove_prefix(common);
  }
  return node;
}

// A hole, or the text up to the next. A hole is the first child: a number that it does not take may be part of a text.
std::uint32_t FormTree::add_child(std::uint32_t parent, std::string_view text) {
  Node node;
  node.parent = parent;
  node.first = text[0];
  const auto literal_end = std::find_if(text.begin(), text.end(), is_hole);
  const std::string_view literal(text.begin(), literal_end);
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

// The text of `node` up to `at` becomes that of a new node above it, which is returned.
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
    more_[slot_of(upper.parent, upper.first)] = added;
  Node& lower = nodes_[node];
  lower.parent = added;
  lower.text += at;
  lower.length -= at;
  lower.first = upper.child_first;
  return added;
}

}  // namespace cli
