// Names and categories of events, numbered in the order of their first use, so that the common ones are short.
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

// Texts to small numbers from 1, the same for the whole file, so that what refers to them can be made once. It takes a
// limited number of them: what comes later is not interned, and memory stays flat whatever a trace holds.

class TextIds {
 public:
  TextIds(std::size_t most_texts, std::size_t most_bytes) : most_texts_(most_texts), most_bytes_(most_bytes) {}

  // 0: not known, and no room is left.
  std::uint32_t id(std::string_view text);
  // Good as long as this.
  std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0: free
  };
  void grow();

  std::size_t most_texts_, most_bytes_, bytes_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two, at most half full
  std::deque<std::string> texts_;
};

}  // namespace cli::perfetto

namespace cli::perfetto {

class Vocabulary {
 public:
  Vocabulary(const Catalog& catalog, EventPackets& packets)
      : catalog_(catalog), packets_(packets), short_names_(catalog.strings) {}

  // The number of the event's name as it is shown, of its category; each defined in the packet that is being made
  // where the sequence does not know it.
  std::uint32_t name(const Event& event, Sequence& sequence);
  std::uint32_t category(const Event& event, Sequence& sequence);
  // The whole name where another one is shown, else "".
  std::string_view full_name(const Event& event);
  std::string_view shown_name(const Event& event);

 private:
  static std::uint32_t number(std::vector<std::uint32_t>& ids, std::size_t of, std::uint32_t& last);

  const Catalog& catalog_;
  EventPackets& packets_;
  ShortNames short_names_;
  std::vector<std::uint32_t> names_, categories_, kinds_;  // by StringId, StringId, Kind; 0: not seen
  std::uint32_t last_name_ = 0, last_category_ = 0;
  std::string valid_;
};

}  // namespace cli::perfetto
