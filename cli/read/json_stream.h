// Walks the outer shape of a trace file in one forward pass and a bounded window: the members of the top-level object
// and the elements of its event array, each handed out whole, with its offset. What is inside an element is the
// parser's to check; everything between them is checked here.
//
//   JsonStream stream(open_byte_source(path), path, JsonStream::kWindow);
//   if (stream.open() == '{') while (stream.next_member(key)) ... value() or enter_array() + next_element() ...
//   stream.finish();
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/read/byte_source.h"
#include "cli/read/window.h"

namespace cli {

class JsonStream {
 public:
  static constexpr std::size_t kWindow = 1 << 20;
  static constexpr std::size_t kMaxItem = 64 << 20;  // bytes of one event or member; beyond, the file is refused

  JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window);

  // All that follow throw Error (bad_content) where the text is not what it must be.

  char open();                                // takes the first bracket and returns it: '{' or '['
  bool next_member(std::string& key);         // in the top-level object; false: it is closed
  char peek();                                // the first character of what is next; '\0' at the end
  void enter_array();                         // the next value must be an array
  bool next_element(std::string_view& text);  // an object, whole but unchecked; false: the array is closed
  std::string_view value();                   // any value, whole and checked
  void skip_value();                          // the same, but a long string (ftrace text) needs no memory
  bool next_is_long_string(std::size_t most_bytes);  // the next value is a string that does not end within these
  void finish();                              // nothing but white space may follow

  // A view lives until the next call. Its offset, as all offsets, counts uncompressed bytes.
  std::uint64_t text_offset() const { return text_offset_; }

  // "PATH: byte N: expected ...; what to do".
  [[noreturn]] void fail(std::uint64_t offset, const std::string& expected) const;
  // The same for a text of this stream that a parser refused, where find_json_fault says; `otherwise` when it accepts.
  [[noreturn]] void fail_in(std::string_view text, const std::string& otherwise) const;

 private:
  bool next_item(char close, bool& first);
  void take(char c, const char* expected);
  void skip_string();
  template <typename Find>
  std::string_view whole(Find find);
  void judge_unfinished(bool at_end) const;

  Window window_;
  std::string path_;
  std::uint64_t text_offset_ = 0;
  bool first_member_ = true, first_element_ = true;
};

}  // namespace cli
