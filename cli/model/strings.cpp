#include "cli/model/strings.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace cli {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

std::uint32_t hash_of_text(std::string_view text) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text)); }

}  // namespace

Strings::Strings(const Strings& from) : slots_(from.slots_) {
  texts_.reserve(from.texts_.size());
  for (const std::string_view text : from.texts_) texts_.push_back(keep(text));
}

StringId Strings::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) grow();
  const std::uint32_t hash = hash_of_text(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.next_id != 0) return slot.next_id - 1;
  texts_.push_back(keep(text));
  slot = {hash, static_cast<StringId>(texts_.size())};
  return slot.next_id - 1;
}

StringId Strings::find(std::string_view text) const {
  const Slot& slot = slots_[slot_of(text, hash_of_text(text))];
  return slot.next_id == 0 ? 0 : slot.next_id - 1;
}

std::size_t Strings::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].next_id != 0 && (slots_[at].hash != hash || texts_[slots_[at].next_id - 1] != text)) at = (at + 1) & mask;
  return at;
}

std::string_view Strings::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > chunk_left_) {
    chunk_left_ = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique<char[]>(chunk_left_));
    chunk_end_ = chunks_.back().get() + chunk_left_;
  }
  char* kept = chunk_end_ - chunk_left_;
  std::memcpy(kept, text.data(), text.size());
  chunk_left_ -= text.size();
  return {kept, text.size()};
}

void Strings::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.next_id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].next_id != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace cli
