// Events in memory with their facts, in the order in which they came. Payloads lie one behind the other, each as large
// as its struct.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/payload.h"

namespace cli {

class EventBatch {
 public:
  void add(const Event& event, const Facts& facts) {
    events_.push_back(event);
    place(facts);
  }
  // Only the facts of the next event; its Event is given later, by events().
  void place(const Facts& facts) {
    places_.push_back({texts_.size(), static_cast<std::uint32_t>(facts.args.size()), facts.tag(), words_.size()});
    texts_.append(facts.args);
    if (facts.tag() == 0) return;
    const std::size_t bytes = kPayloadBytes[facts.tag()];
    words_.resize(words_.size() + (bytes + 7) / 8);
    std::memcpy(words_.data() + places_.back().payload, facts.data(), bytes);
  }
  // The foreign arguments of the event whose facts were placed last.
  void give_args(std::string_view args) {
    places_.back().args = texts_.size();
    places_.back().args_bytes = static_cast<std::uint32_t>(args.size());
    texts_.append(args);
  }
  // ... are those of the event before it with this index.
  void repeat_args(std::size_t index) {
    places_.back().args = places_[index].args;
    places_.back().args_bytes = places_[index].args_bytes;
  }
  void clear() { events_.clear(), places_.clear(), texts_.clear(), words_.clear(); }

  std::size_t size() const { return events_.size(); }
  std::size_t args_bytes() const { return texts_.size(); }
  std::size_t bytes() const { return size() * (sizeof(Event) + sizeof(Place)) + texts_.size() + words_.size() * 8; }

  std::vector<Event>& events() { return events_; }
  const Event& event(std::size_t index) const { return events_[index]; }
  std::string_view args(std::size_t index) const {
    return std::string_view(texts_).substr(places_[index].args, places_[index].args_bytes);
  }
  std::uint8_t tag(std::size_t index) const { return places_[index].tag; }
  void* payload(std::size_t index) { return words_.data() + places_[index].payload; }
  const void* payload(std::size_t index) const { return words_.data() + places_[index].payload; }
  Facts facts(std::size_t index) const { return {tag(index), payload(index), args(index)}; }

 private:
  struct Place {
    std::uint64_t args;
    std::uint32_t args_bytes;
    std::uint8_t tag;
    std::uint64_t payload;  // in words_
  };

  std::vector<Event> events_;
  std::vector<Place> places_;
  std::string texts_;
  std::vector<std::uint64_t> words_;
};

}  // namespace cli
