#include "cli/timeline/merge/join_catalog.h"

#include <algorithm>
#include <iterator>

namespace cli {

IdMap join_catalog(Catalog& from, Catalog& to) {
  IdMap ids;
  ids.strings.reserve(from.strings.size());
  for (StringId id = 0; id < from.strings.size(); ++id) ids.strings.push_back(to.strings.intern(from.strings, id));
  for_each_interned([&]<typename T>(const T*) {
    for (T value : from.interned<T>().all()) {
      (void)ids.translate_fields(value);  // all are known: those before it were joined
      ids.of<T>().push_back(to.interned<T>().intern(value));
    }
  });
  ids.shapes.reserve(from.shapes.size());
  for (ShapeId id = 0; id < from.shapes.size(); ++id) ids.shapes.push_back(&to.shapes.intern(from.shapes, id));
  const auto first = static_cast<ProcessId>(to.processes.size());
  std::move(from.processes.begin(), from.processes.end(), std::back_inserter(to.processes));
  for (const Track& track : from.tracks) {
    const TrackId id = to.track(first + track.process, track.kind, track.group, track.id, track.group_name);
    to.tracks[id].name = track.name;
    to.tracks[id].priority = track.priority;
    to.tracks[id].kineto_ids = track.kineto_ids;
    to.tracks[id].launcher = track.launcher;
    ids.tracks.push_back(id);
  }
  return ids;
}

}  // namespace cli
