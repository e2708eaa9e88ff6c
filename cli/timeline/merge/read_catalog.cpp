#include "cli/timeline/merge/read_catalog.h"

#include "cli/base/ordered_work.h"
#include "cli/timeline/merge/join_catalog.h"
#include "cli/timeline/merge/rank_names.h"
#include "cli/timeline/merge/ranks.h"
#include "cli/formats/ttrace/merged_reader.h"
#include "cli/formats/reading/reader.h"

namespace cli {
namespace {

class Count : public EventSink {
 public:
  explicit Count(Progress& progress) : progress_(progress) {}
  void event(const Event&, const Facts&) override { progress_.step(); }

 private:
  ProgressPart progress_;
};

}  // namespace

void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog, MergedFacts& facts) {
  const std::size_t first = catalog.processes.size();
  if (is_merged_file(input.path)) {
    MergedReader reader(input.path);
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
              if (!is_merged_file(inputs[i].path)) give_named_rank(own[i], 0, named[i]);
            },
            [&](std::size_t i) {
              join_catalog(own[i], all);
              own[i] = {};
              facts.fits.insert(facts.fits.end(), facts_of[i].fits.begin(), facts_of[i].fits.end());
              facts.steps.insert(facts.steps.end(), facts_of[i].steps.begin(), facts_of[i].steps.end());
            }});
  return all;
}

}  // namespace cli
