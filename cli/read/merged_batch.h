// Events in memory with their arguments, in the order in which they came.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/event.h"

namespace cli {

class EventBatch {
 public:
  void add(const Event& event, std::string_view args) {
    events_.push_back(event);
    place(args);
  }
  // Only the arguments of the next event; its Event is given later, by events().
  void place(std::string_view args) {
    places_.push_back({texts_.size(), static_cast<std::uint32_t>(args.size())});
    texts_.append(args);
  }
  // As the event before it that has the same arguments.
  void repeat(std::size_t index) { places_.push_back(places_[index]); }
  void clear() { events_.clear(), places_.clear(), texts_.clear(); }

  std::size_t size() const { return events_.size(); }
  std::size_t args_bytes() const { return texts_.size(); }
  std::size_t bytes() const { return size() * (sizeof(Event) + sizeof(Place)) + texts_.size(); }

  std::vector<Event>& events() { return events_; }
  const Event& event(std::size_t index) const { return events_[index]; }
  std::string_view args(std::size_t index) const {
    return std::string_view(texts_).substr(places_[index].offset, places_[index].bytes);
  }

 private:
  struct Place {
    std::uint64_t offset;
    std::uint32_t bytes;
  };

  std::vector<Event> events_;
  std::vector<Place> places_;
  std::string texts_;
};

}  // namespace cli
