// The members of a JSON object, one after the other, without making values of them. `text` is the body of a valid
// object (event.h); of anything else it gives members up to the fault and never reads beyond its end.
#pragma once
#include <string_view>

namespace cli::perfetto {

struct Member {
  std::string_view key;    // without quotes, as spelled
  std::string_view value;  // as spelled: a string has its quotes
};

class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool next(Member& member);

 private:
  void skip_blank();
  const char* behind_string(const char* at) const;  // `at` is its first quote
  const char* behind_nested(const char* at) const;
  const char* behind_value(const char* at) const;

  const char* at_;
  const char* end_;
};

}  // namespace cli::perfetto
