#include "cli/formats/json/json_damage.h"

#include <fmt/format.h>

namespace cli {
namespace {

// Only texts that are kept are made: a file may have millions of faults.
template <typename MakeText>
void name(std::vector<std::string>& named, MakeText make_text) {
  if (named.size() < JsonDamage::kNamed) named.push_back(make_text());
}

std::string text(const Damage& damage) { return fmt::format("byte {}: {}", damage.byte, damage.what); }

// "(the first 5 are named)"; "" when all are.
std::string unnamed(std::uint64_t count) {
  return count > JsonDamage::kNamed ? fmt::format(" (the first {} are listed)", JsonDamage::kNamed) : "";
}

}  // namespace

void JsonDamage::lose_event(std::uint64_t at, std::string_view expected, std::uint64_t from, std::uint64_t until) {
  ++lost_events_;
  lost_bytes_ += until - from;
  name(events_, [&] {
    const Damage damage{at, fmt::format("expected {}; an event is skipped, bytes {} to {}", expected, from, until)};
    if (!first_event_) first_event_ = damage;
    return text(damage);
  });
}

void JsonDamage::repair(std::uint64_t at, std::string_view fault) {
  ++repaired_;
  name(repairs_, [&] {
    const Damage damage{at, fmt::format("{}; the event is kept", fault)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::mend(std::uint64_t at, std::string_view expected) {
  ++mended_;
  name(commas_, [&] {
    const Damage damage{at, fmt::format("expected {}; no event is lost", expected)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::lose_member(std::string_view key, std::uint64_t at, std::string_view expected) {
  ++lost_members_;
  name(other_, [&] {
    const Damage damage{at, key.empty() ? fmt::format("expected {}; the data there is not an event and is skipped", expected)
                                        : fmt::format("expected {}; the member \"{}\" is skipped", expected, key)};
    if (!first_other_) first_other_ = damage;
    return text(damage);
  });
}

void JsonDamage::cut(std::uint64_t at, std::string_view expected, std::string_view why) {
  if (is_cut()) return;
  cut_ = fmt::format("byte {}: the JSON text ends here, expected {}; the rest is missing",
                     at, expected);
  if (!why.empty()) cut_ += fmt::format(" ({})", why);
}

std::vector<std::string> JsonDamage::notes() const {
  std::vector<std::string> notes = events_;
  if (lost_events_ > 0) {
    notes.push_back(fmt::format("at least {} {} of the file could not be read and {} skipped{}", lost_events_,
                                lost_events_ == 1 ? "event" : "events", lost_events_ == 1 ? "is" : "are",
                                unnamed(lost_events_)));
  }
  notes.insert(notes.end(), repairs_.begin(), repairs_.end());
  if (repaired_ > 0) {
    notes.push_back(fmt::format("{} {} invalid JSON and {} repaired as {} meant{}", repaired_, repaired_ == 1 ? "event was" : "events were",
                                repaired_ == 1 ? "is" : "are", repaired_ == 1 ? "it was" : "they were", unnamed(repaired_)));
  }
  notes.insert(notes.end(), commas_.begin(), commas_.end());
  if (mended_ > kNamed) notes.push_back(fmt::format("{} commas are missing or extra{}", mended_, unnamed(mended_)));
  notes.insert(notes.end(), other_.begin(), other_.end());
  if (lost_members_ > kNamed) {
    notes.push_back(fmt::format("{} places outside the events are skipped{}", lost_members_, unnamed(lost_members_)));
  }
  if (!cut_.empty()) notes.push_back(cut_);
  if (!doubt_.empty()) notes.push_back(doubt_);
  return notes;
}

}  // namespace cli
