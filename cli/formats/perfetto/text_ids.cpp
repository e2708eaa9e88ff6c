#include "cli/formats/perfetto/text_ids.h"

#include <cstring>
#include <utility>

namespace cli::perfetto {
namespace {

constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kPrime;
  return hash ^ hash >> 32;
}

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * kPrime, word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    hash = mix(hash, word);
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  return mix(hash, word);
}

std::uint32_t TextIds::id(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].id != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && texts_[slots_[at].id - 1] == text) return slots_[at].id;
  }
  if (texts_.size() >= most_texts_ || bytes_ + text.size() > most_bytes_) return 0;
  bytes_ += text.size();
  texts_.emplace_back(text);
  slots_[at] = {hash, static_cast<std::uint32_t>(texts_.size())};
  if (texts_.size() * 2 > slots_.size()) grow();
  return static_cast<std::uint32_t>(texts_.size());
}

void TextIds::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace cli::perfetto
