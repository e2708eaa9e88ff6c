// Walks over the outer structure of a trace file in one forward pass with a bounded window: returns the members of the
// top-level object and the elements of its event array, each complete and with its offset. The text between elements is
// checked here; the parser checks the content of an element.
//
// A damaged event affects no other event if events are separated by line breaks, and usually not otherwise: the walk
// continues at the next line or the next object that begins like an event (json_damage.h). damage() reports it. Only
// text that is no JSON from the first byte on is refused.
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
  std::string_view text;  // damaged: its remains, possibly followed by other text; large: ""
};

// Recognizes elements by their bytes.
class KnownElements {
 public:
  virtual ~KnownElements() = default;
  // Returns the size of the element at `begin`, which is '{', if it is known and ends
  // before `end`; otherwise 0. Bytes after `end` are those of Window. Offsets only increase.
  virtual std::size_t match(const char* begin, const char* end) = 0;
};

class JsonStream {
 public:
  static constexpr std::size_t kWindow = 1 << 20;
  static constexpr std::size_t kMaxEvent = 16 << 20;  // bytes; longer events are damaged
  static constexpr std::size_t kMaxMember = 4 << 20;  // longer members are skipped without reading

  JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window);

  // Reads the first bracket and returns it: '{' or '['. Throws Error (bad_content) if there is none.
  char open();
  bool next_member(std::string& key);               // in the top-level object; returns false at its end or if cut
  JsonValue value() { return value_before(",}"); }  // of the member
  bool enter_array();  // the value; returns false if it is no array of events, which damage() contains
  bool at_object() { return peek() == '{'; }  // next value
  // A complete unchecked object; returns false at the end of the array or if cut
  bool next_element(std::string_view& text);
  // Same; sets `known` if `elements` matched it.
  bool next_element(std::string_view& text, KnownElements* elements, bool& known);
  void refuse(std::size_t at, std::string_view expected);  // reports damage at this index of the last element
  // Same, but the element is valid JSON, which is skipped by its size
  void refuse_whole(std::size_t at, std::string_view expected);
  // Alternative to these: repairs the last element, or the text before the next line break between events
  // (json_damage.h). Returns false if nothing changed.
  bool mend(std::string_view& text);
  void finish();  // nothing but white space should follow

  // A view is valid until the next call. Its offset, like all offsets, counts uncompressed bytes.
  std::uint64_t text_offset() const { return text_offset_; }
  std::uint64_t bytes_read() const { return window_.offset() + window_.size(); }
  const JsonDamage& damage() const { return damage_; }
  JsonDamage& damage() { return damage_; }

 private:
  // What happens to the last result when the walk continues.
  enum class Pending : unsigned char {
    none,
    pass,
    pass_to_element,
    pass_to_member,
    pass_large,
    pass_lost,
    find_member,
    find_event
  };

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
  std::size_t text_size_ = 0;  // size of the last result, from the window's begin
  Pending pending_ = Pending::none;
  bool comma_seen_ = true;     // no comma is needed before the next member or element
  bool events_seen_ = false;   // an array of events has begun
  bool bare_array_ = false;    // the text is an array of events, whose ']' is optional
  bool after_damage_ = false;  // the last element was broken, so the next one may be
  bool lost_member_ = false;   // the last member was broken, so the next one may be
  bool behind_lost_ = false;   // the last element was lost up to its apparent end
  std::size_t max_event_ = kMaxEvent;
  std::string key_, gap_;
  std::string mended_;      // the last element, followed by Window::kPadding bytes
  bool plain_gap_ = false;  // gap_ is white space and one comma
  std::size_t refused_at_ = 0;
  std::string refusal_;
};

}  // namespace cli
