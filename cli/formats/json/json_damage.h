// What was wrong in a JSON file that was read all the same: how many events it cost, and where.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Offsets count uncompressed bytes.
class JsonDamage {
 public:
  static constexpr std::size_t kNamed = 5;  // events lost, and other defects, that are named one by one

  // One event is left out: the bytes from `from` to `until`. At `at` something else was expected.
  void lose_event(std::uint64_t at, std::string_view expected, std::uint64_t from, std::uint64_t until);
  // These bytes belong to the event that was lost last.
  void lose_rest(std::uint64_t from, std::uint64_t until) { lost_bytes_ += until - from; }
  // The text of an event was mended at this byte (json_mend.h): no event is lost.
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

}  // namespace cli
