#include "cli/timeline/merge/catalogs.h"

#include <algorithm>
#include <iterator>

#include "cli/base/threads.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/timeline/merge/ranks.h"

namespace cli {

ttrace::IdMap join_catalog(Catalog& from, Catalog& to) {
  ttrace::IdMap ids;
  ids.strings.reserve(from.strings.size());
  for (StringId id = 0; id < from.strings.size(); ++id) ids.strings.push_back(to.strings.intern(from.strings, id));
  for_each_interned([&]<typename T>(const T*) {
    for (T value : from.interned<T>().all()) {
      (void)ids.translate_fields(value);  // all ids are known, because earlier tables were joined before
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

namespace {

class Count : public EventSink {
 public:
  explicit Count(Progress& progress) : progress_(progress) {}
  void event(const Event&, const Facts&) override { progress_.step(); }

 private:
  ProgressPart progress_;
};

}  // namespace

void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog,
                  MergedFacts& facts) {
  const std::size_t first = catalog.processes.size();
  if (ttrace::is_merged_file(input.path)) {
    ttrace::MergedReader reader(input.path);
    reader.read_lists(catalog);
    facts.fits.insert(facts.fits.end(), reader.fits().begin(), reader.fits().end());
    facts.steps.insert(facts.steps.end(), reader.own_steps().begin(), reader.own_steps().end());
  } else {
    Count count(progress);
    open_trace(input.path, {threads})->read(catalog, count);
  }
  set_rank(catalog, first, input.path, input.rank);
}

Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress, MergedFacts& facts) {
  Catalog all;
  std::vector<Catalog> own(inputs.size());
  std::vector<MergedFacts> facts_of(inputs.size());
  std::vector<std::string> paths;
  for (const TraceInput& input : inputs) paths.push_back(input.path);
  const auto named = rank_names(paths);
  OrderedWork work(inputs.size(), usable_cores());
  const std::size_t threads = usable_cores() / work.threads();
  work.run({[&](std::size_t i) {
              read_catalog(inputs[i], threads, progress, own[i], facts_of[i]);
              if (!ttrace::is_merged_file(inputs[i].path)) give_named_rank(own[i], 0, named[i]);
            },
            [&](std::size_t i) {
              const std::size_t first = all.processes.size();
              join_catalog(own[i], all);
              continue_device_ranks(all, first);
              own[i] = {};
              facts.fits.insert(facts.fits.end(), facts_of[i].fits.begin(), facts_of[i].fits.end());
              facts.steps.insert(facts.steps.end(), facts_of[i].steps.begin(), facts_of[i].steps.end());
            }});
  return all;
}

}  // namespace cli
