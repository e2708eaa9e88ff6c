// Walks the outer shape of a trace file in one forward pass and a bounded window: the members of the top-level object
// and the elements of its event array, each handed out whole, with its offset. What is inside an element is the
// parser's to check; everything between them is checked here.
//
// A damaged event is lost alone where line breaks stand between events, and mostly where they do not: the walk goes on at
// the next line or the next object that begins as events do (json_damage.h). damage() tells of it. Only a text that is no
// JSON from its first byte on is refused.
//
//   JsonStream stream(open_byte_source(path), path, JsonStream::kWindow);
//   if (stream.open() == '{') while (stream.next_member(key)) ... value() or enter_array() + next_element() ...
//   stream.finish();
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_damage.h"

namespace cli {

struct JsonValue {
  enum class Form : unsigned char { good, damaged, large };
  Form form;
  std::string_view text;  // damaged: what there is of it, perhaps with something else behind; large: ""
};

// Elements that are known by their bytes.
class KnownElements {
 public:
  virtual ~KnownElements() = default;
  // The size of the element at `begin`, which is '{', where it is known and ends before `end`; else
  // 0. The bytes behind `end` are those of Window. Offsets only grow.
  virtual std::size_t match(const char* begin, const char* end) = 0;
};

class JsonStream {
 public:
  static constexpr std::size_t kWindow = 1 << 20;
  static constexpr std::size_t kMaxEvent = 16 << 20;  // bytes; what goes on beyond is damaged
  static constexpr std::size_t kMaxMember = 4 << 20;  // beyond, a member is passed over unread

  JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window);

  // Takes the first bracket and returns it: '{' or '['. Throws Error (bad_content) when there is none.
  char open();
  bool next_member(std::string& key);               // in the top-level object; false: it is closed, or cut
  JsonValue value() { return value_before(",}"); }  // of the member
  bool enter_array();                               // the value; false: it is no array of events, which damage() says
  bool at_object() { return peek() == '{'; }        // what comes next
  bool next_element(std::string_view& text);  // an object, whole but unchecked; false: the array is closed, or cut
  // The same; `known`: `elements` matched it.
  bool next_element(std::string_view& text, KnownElements* elements, bool& known);
  void refuse(std::size_t at, std::string_view expected);        // the element handed out last is damaged at this index
  void refuse_whole(std::size_t at, std::string_view expected);  // the same, but it is sound JSON: passed by its size
  // Instead of these: mends what is handed out, or what stands before the next line break between events (json_damage.h). False:
  // nothing changed.
  bool mend(std::string_view& text);
  void finish();                                                 // nothing but white space should follow

  // A view lives until the next call. Its offset, as all offsets, counts uncompressed bytes.
  std::uint64_t text_offset() const { return text_offset_; }
  std::uint64_t bytes_read() const { return window_.offset() + window_.size(); }
  const JsonDamage& damage() const { return damage_; }
  JsonDamage& damage() { return damage_; }

 private:
  // What becomes of what was handed out, when the walk goes on.
  enum class Pending : unsigned char { none, pass, pass_to_element, pass_to_member, pass_large, pass_lost, find_member, find_event };

  char peek();
  bool ended() const { return window_.size() == 0; }
  void settle();
  void cut(std::string_view expected);
  std::optional<JsonFault> judge_begun(std::size_t size) const;

  bool reach_member();
  JsonValue value_before(std::string_view follows);
  void lose_member(std::uint64_t at, std::string_view expected);
  bool has_next(std::size_t size) const;
  JsonValue ended_value(std::size_t size, std::string_view follows);
  JsonValue unfinished_value();
  JsonValue damaged_value(const JsonFault& fault, std::optional<std::size_t> extent);
  void pass_large();

  bool take_known(std::string_view& text, KnownElements& elements);
  bool is_gap_behind(std::size_t size) const;
  bool holds_gap() const;
  bool reach_element();
  bool closes_array();
  bool ends_without_bracket();
  bool is_blank_end(std::string_view& text);
  bool take_element(std::string_view& text);
  bool is_followed_well(std::size_t size);
  bool give_up(const JsonFault& fault);
  void go_on_at_event();
  void lose_whole();
  void learn_gap(std::uint64_t from);

  Window window_;
  std::string path_;
  JsonDamage damage_;
  std::uint64_t text_offset_ = 0;
  std::size_t text_size_ = 0;  // of what is handed out, from the window's begin
  Pending pending_ = Pending::none;
  bool comma_seen_ = true;       // no other is needed before the next member or element
  bool events_seen_ = false;     // an array of them has begun
  bool bare_array_ = false;      // the text is an array of events: its ']' is optional
  bool after_damage_ = false;  // the last element was broken: so may be the next
  bool lost_member_ = false;   // the same of members
  bool behind_lost_ = false;   // the last element was lost up to where it seemed to end
  std::size_t max_event_ = kMaxEvent;
  std::string key_, gap_;
  std::string mended_;  // the element handed out, and Window::kPadding behind it
  bool plain_gap_ = false;  // gap_ is white space and one comma
  std::size_t refused_at_ = 0;
  std::string refusal_;
};

}  // namespace cli
