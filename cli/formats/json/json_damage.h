// Handles damage in JSON files that can still be read: counts it and finds where reading continues.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/json/byte_source.h"
#include "cli/trace/catalog.h"

namespace cli {

// Examines the text around a position in JSON whose quotes and brackets cannot be trusted.
inline constexpr std::size_t kLookBehind = 128;  // bytes kept before a position, to find its separator

// Returns the first index from `at` on that is not white space; the text's size if there is none.
std::size_t after_space(std::string_view text, std::size_t at);

// Returns the last character before `at` that is not white space, within kLookBehind; '\0' if there is none.
char before(std::string_view text, std::size_t at);

// Returns true if the '{' at `at` is the value of a member or the first element of an array.
bool is_inside(std::string_view text, std::size_t at);

// Returns the key of `"key" :` at `at`; "" for anything else, and for a key with escapes or more than 64 bytes.
std::string_view key_at(std::string_view text, std::size_t at);

bool is_event_key(std::string_view key);     // a key of trace events
bool is_known_member(std::string_view key);  // a top-level key that identifies traces

// Continues after damage. Quotes and brackets cannot be trusted there (one additional quote inverts the inside and
// outside of all strings), so the next event is text of the form `{"key":`
//
// - after exactly the bytes that separate this file's events, if they contain a line break, which a string cannot
//   contain;
// - or after a comma, with a key that events have.

// Moves `window` from the beginning of the broken element to the next known position after its first byte: the '{' of
// an event, the ']' of the array, or the end. `gap` contains the bytes between the last two valid events; "" if there
// were none.
void resume_events(Window& window, std::string_view gap);

// Moves `window` from within the top-level object to the quote of the next key that traces have ("traceEvents",
// "baseTimeNanoseconds", ...), ignoring the first byte. Returns false if there is none; the window is then at the end.
bool resume_members(Window& window);

// Returns the index of that quote in `text`, or npos.
std::size_t find_known_member(std::string_view text);

// Counts damage in a JSON file that was read nevertheless: number and position of lost events.

// Offsets count uncompressed bytes.
class JsonDamage {
 public:
  // Number of lost events, and of other defects, that are reported individually
  static constexpr std::size_t kNamed = 5;

  // Counts a lost event: the bytes from `from` to `until`. `expected` is what was expected at `at`.
  void lose_event(std::uint64_t at, std::string_view expected, std::uint64_t from, std::uint64_t until);
  // Adds these bytes to the event lost last.
  void lose_rest(std::uint64_t from, std::uint64_t until) { lost_bytes_ += until - from; }
  // Counts an event whose text was repaired at this byte; no event is lost.
  void repair(std::uint64_t at, std::string_view fault);
  // Counts a missing or additional comma; no event is lost.
  void mend(std::uint64_t at, std::string_view expected);
  // Counts a skipped member of the top-level object, or skipped text between two.
  void lose_member(std::string_view key, std::uint64_t at, std::string_view expected);
  // Records that the text ends too early. `why` describes the compressed file ("" for a plain one). Only the first call
  // counts.
  void cut(std::uint64_t at, std::string_view expected, std::string_view why);
  // Records that the compressed file is damaged although the text is complete.
  void doubt(std::string why) { doubt_ = std::move(why); }

  std::uint64_t lost_events() const { return lost_events_; }
  std::uint64_t lost_bytes() const { return lost_bytes_; }  // in the text, of the lost events
  bool is_cut() const { return !cut_.empty(); }
  const std::string& cut_text() const { return cut_; }  // "" if it is not cut
  bool none() const {
    return lost_events_ == 0 && mended_ == 0 && repaired_ == 0 && other_.empty() && cut_.empty() && doubt_.empty();
  }
  const std::string& first_loss() const { return events_.front(); }  // lost_events() > 0
  // Returns the first damage except the end of the text; that of an event, if one was lost.
  const std::optional<Damage>& first() const { return first_event_ ? first_event_ : first_other_; }

  // Returns the lines for Process::notes; each begins with "byte " or a number.
  std::vector<std::string> notes() const;

 private:
  std::uint64_t lost_events_ = 0, lost_bytes_ = 0, mended_ = 0, repaired_ = 0, lost_members_ = 0;
  std::vector<std::string> events_, repairs_, commas_, other_;
  std::optional<Damage> first_event_, first_other_;
  std::string cut_, doubt_;
};

// Repairs known faults of trace writers, restoring the intended text. The event is kept and the repair is counted.
//
//   inf, -nan(ind), 0x262ca50    numbers as printf writes them      become strings
//   N/A, ncclFloat32             unquoted words in args            become strings
//   "C:\Users\x"                 backslashes that are not escaped   in a string with an invalid escape, all are literal
//   raw control characters, and bytes that are not UTF-8            become escapes, and characters of Latin-1
//   "say "x" (3)"                quotes that are not escaped        a quote ends a string only before a valid follower
//
// Nothing else is guessed, not even the content of a block of zeros. The repaired text has to be one valid JSON value.
struct MendedJson {
  std::string text;
  std::size_t at = 0;      // position of the first fault in the original
  std::string_view fault;  // "a quote in a string is not escaped"
};

// `event` is the text of one event that find_json_fault() refuses. Returns nullopt if it has other faults.
std::optional<MendedJson> mend_event(std::string_view event);

}  // namespace cli
