#include "cli/formats/perfetto/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/base/json_text.h"
#include "cli/trace/event.h"
#include "common/hash.h"

namespace cli::perfetto {
std::uint32_t TextIds::id(std::string_view text) {
  const std::uint64_t hash = ::trace::hash_bytes(text);
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

std::uint32_t Vocabulary::number(std::vector<std::uint32_t>& ids, std::size_t of, std::uint32_t& last) {
  if (of >= ids.size()) ids.resize(std::max(of + 1, ids.size() * 2));
  if (ids[of] == 0) ids[of] = ++last;
  return ids[of];
}

std::uint32_t Vocabulary::name(const Event& event, Sequence& sequence) {
  const std::uint32_t id = number(names_, event.name, last_name_);
  if (sequence.names.insert(id)) packets_.define(interned::names, id, valid_utf8(shown_name(event), valid_));
  return id;
}

std::uint32_t Vocabulary::category(const Event& event, Sequence& sequence) {
  const bool own = event.category == 0;
  const auto kind = static_cast<std::size_t>(event.kind);
  const std::uint32_t id =
      own ? number(kinds_, kind, last_category_) : number(categories_, event.category, last_category_);
  if (sequence.categories.insert(id)) {
    const std::string_view text = own ? info(event.kind).category : catalog_.strings[event.category];
    packets_.define(interned::categories, id, valid_utf8(text, valid_));
  }
  return id;
}

std::string_view Vocabulary::shown_name(const Event& event) {
  return event.kind == Kind::kernel ? short_names_[event.name].shown : catalog_.strings[event.name];
}

std::string_view Vocabulary::full_name(const Event& event) {
  return event.kind == Kind::kernel ? short_names_[event.name].full : std::string_view();
}

}  // namespace cli::perfetto
