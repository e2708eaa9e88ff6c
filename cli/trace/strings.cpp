#include "cli/trace/strings.h"

#include <functional>

namespace cli {
namespace {

std::uint32_t hash_of_text(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

}  // namespace

Strings::Strings(const Strings& from) : hashes_(from.hashes_), ids_(from.ids_) {
  texts_.reserve(from.texts_.size());
  for (const std::string_view text : from.texts_)
    texts_.emplace_back(chunks_.keep(text.data(), text.size()), text.size());
}

StringId Strings::intern(std::string_view text) { return intern(text, hash_of_text(text)); }

StringId Strings::intern(std::string_view text, std::uint32_t hash) {
  const auto next = static_cast<StringId>(texts_.size());
  const StringId id = ids_.intern(hash, next, [&](StringId known) { return texts_[known] == text; });
  if (id == next) {
    texts_.emplace_back(chunks_.keep(text.data(), text.size()), text.size());
    hashes_.push_back(hash);
  }
  return id;
}

StringId Strings::find(std::string_view text) const {
  return ids_.find(hash_of_text(text), [&](StringId known) { return texts_[known] == text; });
}

}  // namespace cli
