// The members of a JSON object, one after the other, without making values of them. `text` is the body of a valid
// object (event.h); of anything else it gives members up to the fault and never reads beyond its end.
#pragma once
#include <cstdint>
#include <string_view>

namespace cli::perfetto {

struct Member {
  std::string_view key;      // without quotes, as spelled
  std::string_view value;    // as spelled: a string has its quotes; never empty
  std::string_view spelled;  // from the key's first quote to the end of the value
};

class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool next(Member& member);
  // Passes the next member if it is spelled so; then a comma or the end stands behind it.
  bool next_is(std::string_view spelled);
  // The same where it is `head`, a key with its colon, and a natural number behind it.
  bool next_is(std::string_view head, std::uint64_t& number);

 private:
  bool begins_with(std::string_view text);
  bool pass(const char* end);
  void skip_blank();
  const char* behind_string(const char* at) const;  // `at` is its first quote
  const char* behind_nested(const char* at) const;
  const char* behind_value(const char* at) const;

  const char* at_;
  const char* end_;
};

}  // namespace cli::perfetto
