// What the ids of a file's lists, or of one catalogue, are in another catalogue.
#pragma once
#include <cstdint>
#include <tuple>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"
#include "cli/formats/reading/merged_batch.h"

namespace cli {

class IdMap {
 public:
  std::vector<StringId> strings;
  std::vector<TrackId> tracks;
  ShapeTable shapes;  // of the other catalogue, whose place stays

  // Of one of AllInterned.
  template <typename T>
  std::vector<InternedId<T>>& of() {
    return std::get<std::vector<InternedId<T>>>(interned_);
  }
  template <typename T>
  const std::vector<InternedId<T>>& of() const {
    return std::get<std::vector<InternedId<T>>>(interned_);
  }

  // All return false where an id is in none of the lists; ids are then of no use.
  template <typename Fields>  // a payload, or what is interned
  [[nodiscard]] bool translate_fields(Fields& fields) const {
    Translate translate{*this};
    payload_fields(translate, fields);
    return translate.good;
  }
  [[nodiscard]] bool translate(Event& event) const {
    if (event.track >= tracks.size() || event.name >= strings.size() || event.category >= strings.size()) return false;
    event.track = tracks[event.track];
    event.name = strings[event.name];
    event.category = strings[event.category];
    return true;
  }
  // The event and its payload; not its shape.
  [[nodiscard]] bool translate(EventBatch& batch, std::size_t index) const {
    bool good = translate(batch.events()[index]);
    visit_payload(batch.tag(index), batch.payload(index), [&](auto& payload) { good = translate_fields(payload) && good; });
    return good;
  }
  // All of a batch, whose ids are known to be in the lists.
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

}  // namespace cli
