// Events in memory with their facts, in order of arrival. Payloads are stored contiguously, each with the size of its
// struct and followed by the integers of its shape.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli::ttrace {

// Shapes, indexed by their numbers in encoded events.
using ShapeTable = std::vector<const Shape*>;

class EventBatch {
 public:
  void add(const Event& event, const Facts& facts) {
    events_.push_back(event);
    place(facts);
  }
  // Adds only the facts of the next event; its Event is added later through events().
  void place(const Facts& facts) {
    Place place{{texts_.size()},
                words_.size(),
                static_cast<std::uint32_t>(facts.args.size()),
                facts.tag(),
                facts.shape != nullptr};
    if (facts.shape != nullptr) place.shape = facts.shape;
    places_.push_back(place);
    texts_.append(facts.args);
    const std::size_t payload = payload_words(facts.tag()),
                      integers = facts.shape != nullptr ? facts.shape->holes.size() : 0;
    if (payload + integers == 0) return;
    words_.resize(words_.size() + payload + integers);
    std::uint64_t* const to = words_.data() + place.payload;
    if (payload != 0) std::memcpy(to, facts.data(), kPayloadBytes[facts.tag()]);
    std::copy_n(facts.integers, integers, to + payload);
  }
  // Adds an empty payload for the next event and returns it to be filled in.
  template <typename P>
  P& place() {
    places_.push_back({{texts_.size()}, words_.size(), 0, payload_tag<P>(), false});
    words_.resize(words_.size() + (sizeof(P) + 7) / 8);
    return *new (words_.data() + places_.back().payload) P;
  }
  // Sets the foreign arguments of the event whose facts were added last.
  void give_args(std::string_view args) {
    places_.back().args = texts_.size();
    places_.back().args_bytes = static_cast<std::uint32_t>(args.size());
    texts_.append(args);
  }
  // Sets the same foreign arguments as those of the earlier event `index`.
  void repeat_args(std::size_t index) {
    places_.back().args = places_[index].args;
    places_.back().args_bytes = places_[index].args_bytes;
  }
  // Sets the shape of the event whose facts were added last. Returns where its integers have to be written.
  std::uint64_t* give_shape(const Shape& shape) {
    places_.back().shape = &shape;
    places_.back().is_shaped = true;
    words_.resize(words_.size() + shape.holes.size());
    return words_.data() + words_.size() - shape.holes.size();
  }
  // Returns the shape of the event; null if it has none.
  const Shape* shape(std::size_t index) const { return places_[index].is_shaped ? places_[index].shape : nullptr; }
  // Replaces the shape with another one that has the same number of holes.
  void set_shape(std::size_t index, const Shape& shape) { places_[index].shape = &shape; }
  void reserve(std::size_t events) {
    events_.reserve(events);
    places_.reserve(events);
  }
  // The sizes to reserve for the content of another batch.
  struct Room {
    std::size_t events = 0, text_bytes = 0, words = 0;
  };
  Room used() const { return {events_.size(), texts_.size(), words_.size()}; }
  void reserve(const Room& room) {
    reserve(room.events);
    texts_.reserve(room.text_bytes);
    words_.reserve(room.words);
  }
  void shrink_to_fit() {
    events_.shrink_to_fit();
    places_.shrink_to_fit();
    texts_.shrink_to_fit();
    words_.shrink_to_fit();
  }
  void clear() {
    events_.clear();
    places_.clear();
    texts_.clear();
    words_.clear();
  }

  std::size_t size() const { return events_.size(); }
  std::size_t args_bytes() const { return texts_.size(); }
  std::size_t bytes() const { return size() * (sizeof(Event) + sizeof(Place)) + texts_.size() + words_.size() * 8; }
  // Returns the allocated bytes, including reserved capacity.
  std::size_t held_bytes() const {
    return events_.capacity() * sizeof(Event) + places_.capacity() * sizeof(Place) + texts_.capacity() +
           words_.capacity() * 8;
  }

  // Prefetch what is needed soon: the event and the position of its facts; then its payload.
  void prefetch(std::size_t index) const {
    __builtin_prefetch(&events_[index]);
    __builtin_prefetch(&events_[index].track);
    __builtin_prefetch(&places_[index]);
  }
  void prefetch_payload(std::size_t index) const { __builtin_prefetch(words_.data() + places_[index].payload); }

  std::vector<Event>& events() { return events_; }
  const Event& event(std::size_t index) const { return events_[index]; }
  // Returns the foreign arguments as text; "" for arguments with a shape.
  std::string_view args(std::size_t index) const {
    const Place& place = places_[index];
    return place.is_shaped ? std::string_view() : std::string_view(texts_).substr(place.args, place.args_bytes);
  }
  std::uint8_t tag(std::size_t index) const { return places_[index].tag; }
  void* payload(std::size_t index) { return words_.data() + places_[index].payload; }
  const void* payload(std::size_t index) const { return words_.data() + places_[index].payload; }
  Facts facts(std::size_t index) const {
    Facts facts(tag(index), payload(index), args(index));
    if (!places_[index].is_shaped) return facts;
    facts.shape = places_[index].shape;
    facts.integers =
        reinterpret_cast<const std::int64_t*>(words_.data() + places_[index].payload + payload_words(tag(index)));
    return facts;
  }

 private:
  struct Place {
    union {
      std::uint64_t args;  // in texts_
      const Shape* shape;
    };
    std::uint64_t payload;  // in words_; followed by the integers of the shape
    std::uint32_t args_bytes;
    std::uint8_t tag;
    bool is_shaped;
  };
  static_assert(sizeof(Place) == 24);
  static std::size_t payload_words(std::uint8_t tag) { return (kPayloadBytes[tag] + 7) / 8; }

  std::vector<Event> events_;
  std::vector<Place> places_;
  std::string texts_;
  std::vector<std::uint64_t> words_;
};

// Translates the ids of a file's lists, or of one catalogue, to another catalogue.
class IdMap {
 public:
  std::vector<StringId> strings;
  std::vector<TrackId> tracks;
  ShapeTable shapes;  // of the other catalogue; their addresses do not change

  // Returns the ids of one type of AllInterned.
  template <typename T>
  std::vector<InternedId<T>>& of() {
    return std::get<std::vector<InternedId<T>>>(interned_);
  }
  template <typename T>
  const std::vector<InternedId<T>>& of() const {
    return std::get<std::vector<InternedId<T>>>(interned_);
  }

  // These functions return false if an id is in none of the lists; the ids are then undefined.
  template <typename Fields>  // a payload or an interned type
  [[nodiscard]] bool translate_fields(Fields& fields) const {
    Translate translate{*this};
    visit_fields(translate, fields);
    return translate.good;
  }
  [[nodiscard]] bool translate(Event& event) const {
    if (event.track >= tracks.size() || event.name >= strings.size() || event.category >= strings.size()) return false;
    event.track = tracks[event.track];
    event.name = strings[event.name];
    event.category = strings[event.category];
    return true;
  }
  // Translates the event and its payload, except the shape.
  [[nodiscard]] bool translate(EventBatch& batch, std::size_t index) const {
    bool good = translate(batch.events()[index]);
    visit_payload(batch.tag(index), batch.payload(index),
                  [&](auto& payload) { good = translate_fields(payload) && good; });
    return good;
  }
  // Translates a batch whose ids are known to be in the lists.
  void translate_all(EventBatch& batch) const {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      (void)translate(batch, i);
      if (const Shape* shape = batch.shape(i)) batch.set_shape(i, *shapes[shape->id]);
    }
  }

 private:
  // A visitor of fields.
  struct Translate {
    template <typename T>
    void number(const char*, T&, bool = true) {}
    template <typename T>
    void delta(const char*, T&, bool = true) {}
    template <typename T>
    void hex(const char*, T&, bool = true) {}
    void string(const char*, StringId& id, bool = true) { look_up(map.strings, id); }
    template <typename T>
    void id(const char*, InternedId<T>& id, bool = true) {
      if (id != 0) look_up(map.of<T>(), id);
    }
    template <typename Id>
    void look_up(const std::vector<Id>& ids, Id& id) {
      good = good && id < ids.size();
      if (good) id = ids[id];
    }

    const IdMap& map;
    bool good = true;
  };
  template <typename>
  struct Lists;
  template <typename... T>
  struct Lists<std::tuple<T...>> {
    using type = std::tuple<std::vector<InternedId<T>>...>;
  };

  Lists<AllInterned>::type interned_;
};

}  // namespace cli::ttrace
