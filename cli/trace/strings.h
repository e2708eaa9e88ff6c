// Interned strings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/base/interning.h"
#include "cli/trace/event.h"

namespace cli {

// Interned strings with dense ids from 0 (""). Views stay valid while this object exists; a copy has its own texts.
class Strings {
 public:
  Strings() { intern(""); }
  explicit Strings(const Strings& from);
  Strings(Strings&&) = default;
  Strings& operator=(Strings&&) = default;
  StringId intern(std::string_view text);
  // Interns a string of another table
  StringId intern(const Strings& from, StringId id) { return intern(from.texts_[id], from.hashes_[id]); }
  StringId find(std::string_view text) const;  // 0 if `text` is "" or has not been interned
  std::string_view operator[](StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  StringId intern(std::string_view text, std::uint32_t hash);

  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> hashes_;  // of the texts, by id
  IdTable ids_;
  Arena<char> chunks_;
};

}  // namespace cli
