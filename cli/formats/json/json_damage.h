// Damage in JSON that is read nevertheless: how it is counted, and where reading continues.
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

// What stands around a place in JSON text of which quotes and brackets cannot be trusted.
inline constexpr std::size_t kLookBehind = 128;  // bytes kept before a place, for what separates it

// The first index from `at` on that is no space; the text's size.
std::size_t after_space(std::string_view text, std::size_t at);

// The last character before `at` that is no space, within kLookBehind; '\0' when there is none.
char before(std::string_view text, std::size_t at);

// The '{' at `at` is the value of a member or the first of an array.
bool is_inside(std::string_view text, std::size_t at);

// `"key" :` at `at`: the key; "" for anything else, and for a key with escapes or of more than 64 bytes.
std::string_view key_at(std::string_view text, std::size_t at);

bool is_event_key(std::string_view key);     // of those that trace events have
bool is_known_member(std::string_view key);  // by which traces are known, of the top-level object

// Where to go on after damage. Quotes and brackets cannot be trusted there (one quote too many turns every string inside
// out), so the next event is what looks like `{"key":`
//
//   - after exactly the bytes that separate this file's events, if a line break is among them: a string cannot hold one;
//   - or after a comma, with a key of those that events have.

// Moves `window` from the broken element at its begin to what follows its first byte: the '{' of an event, the ']' of the
// array, or the end. `gap`: the bytes that stood between the last two sound events; "" when there were none.
void resume_events(Window& window, std::string_view gap);

// Moves `window` from within the top-level object, its first byte left out, to the quote of the next key that
// is known of traces ("traceEvents", "baseTimeNanoseconds", ...). False: there is none, the window is at the end.
bool resume_members(Window& window);

// The index of that quote in `text`; npos.
std::size_t find_known_member(std::string_view text);

// What was wrong in a JSON file that was read all the same: how many events it cost, and where.

// Offsets count uncompressed bytes.
class JsonDamage {
 public:
  static constexpr std::size_t kNamed = 5;  // events lost, and other defects, that are named one by one

  // One event is left out: the bytes from `from` to `until`. At `at` something else was expected.
  void lose_event(std::uint64_t at, std::string_view expected, std::uint64_t from, std::uint64_t until);
  // These bytes belong to the event that was lost last.
  void lose_rest(std::uint64_t from, std::uint64_t until) { lost_bytes_ += until - from; }
  // The text of an event was mended at this byte: no event is lost.
  void repair(std::uint64_t at, std::string_view fault);
  // A comma is missing or too many: no event is lost.
  void mend(std::uint64_t at, std::string_view expected);
  // A member of the top-level object, or what stands between two, is left out.
  void lose_member(std::string_view key, std::uint64_t at, std::string_view expected);
  // The text ends too early; `why` is of the compressed file ("": plain). Only the first call counts.
  void cut(std::uint64_t at, std::string_view expected, std::string_view why);
  // The text is whole, but the compressed file around it is not.
  void doubt(std::string why) { doubt_ = std::move(why); }

  std::uint64_t lost_events() const { return lost_events_; }
  std::uint64_t lost_bytes() const { return lost_bytes_; }  // of the text: what the lost events stood in
  bool is_cut() const { return !cut_.empty(); }
  const std::string& cut_text() const { return cut_; }  // "" where it is not
  bool none() const { return lost_events_ == 0 && mended_ == 0 && repaired_ == 0 && other_.empty() && cut_.empty() && doubt_.empty(); }
  const std::string& first_loss() const { return events_.front(); }  // lost_events() > 0
  // But for where the text ends: of an event, where one was lost.
  const std::optional<Damage>& first() const { return first_event_ ? first_event_ : first_other_; }

  // For Process::notes; each begins with "byte " or a number.
  std::vector<std::string> notes() const;

 private:
  std::uint64_t lost_events_ = 0, lost_bytes_ = 0, mended_ = 0, repaired_ = 0, lost_members_ = 0;
  std::vector<std::string> events_, repairs_, commas_, other_;
  std::optional<Damage> first_event_, first_other_;
  std::string cut_, doubt_;
};

// Faults that writers of traces are known for, and the text that they meant. The event is kept; that it was mended is counted.
//
//   inf, -nan(ind), 0x262ca50    numbers as printf writes them      become strings
//   N/A, ncclFloat32             unquoted words in args            become strings
//   "C:\Users\x"                 backslashes that are not escaped   all of a string with an invalid escape stand for themselves
//   raw control characters, and bytes that are not UTF-8            become escapes, and characters of Latin-1
//   "say "x" (3)"                quotes that are not escaped        a quote ends a string only before what follows a string
//
// Nothing else is guessed, not even what a hole of zeros was: the mended text must be one sound JSON value.
struct MendedJson {
  std::string text;
  std::size_t at = 0;      // of the first fault in the original
  std::string_view fault;  // "a quote in a string is not escaped"
};

// `event`: the text of one event that find_json_fault() refuses. nullopt: it has other faults.
std::optional<MendedJson> mend_event(std::string_view event);

}  // namespace cli
