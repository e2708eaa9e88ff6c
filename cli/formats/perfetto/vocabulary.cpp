#include "cli/formats/perfetto/vocabulary.h"

#include <algorithm>

#include "cli/base/json_text.h"
#include "cli/trace/kinds.h"

namespace cli::perfetto {

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
