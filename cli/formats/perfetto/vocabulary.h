// Names and categories of events, numbered by first use, so that common ones have short numbers.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/perfetto/sequence.h"
#include "cli/trace/catalog.h"
#include "cli/trace/short_name.h"

namespace cli::perfetto {

// Maps texts to small numbers from 1, the same for the whole file, so that data with these numbers can be encoded once.
// The number of texts is limited; further texts are not interned, so memory stays bounded.

class TextIds {
 public:
  TextIds(std::size_t most_texts, std::size_t most_bytes) : most_texts_(most_texts), most_bytes_(most_bytes) {}

  // Returns 0 if the text is unknown and there is no space.
  std::uint32_t id(std::string_view text);
  // Valid as long as this.
  std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0 if free
  };
  void grow();

  std::size_t most_texts_, most_bytes_, bytes_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two, at most half full
  std::deque<std::string> texts_;
};

class Vocabulary {
 public:
  Vocabulary(const Catalog& catalog, EventPackets& packets)
      : catalog_(catalog), packets_(packets), short_names_(catalog.strings) {}

  // Return the number of the event's shown name, or of its category. If the sequence has not defined it, it is defined
  // in the current packet.
  std::uint32_t name(const Event& event, Sequence& sequence);
  std::uint32_t category(const Event& event, Sequence& sequence);
  // Returns the full name if another name is shown, otherwise "".
  std::string_view full_name(const Event& event);
  std::string_view shown_name(const Event& event);

 private:
  static std::uint32_t number(std::vector<std::uint32_t>& ids, std::size_t of, std::uint32_t& last);

  const Catalog& catalog_;
  EventPackets& packets_;
  ShortNames short_names_;
  std::vector<std::uint32_t> names_, categories_, kinds_;  // by StringId, StringId, Kind; 0 if not seen
  std::uint32_t last_name_ = 0, last_category_ = 0;
  std::string valid_;
};

}  // namespace cli::perfetto
