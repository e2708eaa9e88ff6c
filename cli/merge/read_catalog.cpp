#include "cli/merge/read_catalog.h"

#include "cli/io/ordered_work.h"
#include "cli/merge/join_catalog.h"
#include "cli/merge/ranks.h"
#include "cli/read/merged_reader.h"
#include "cli/read/reader.h"

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

void read_catalog(const TraceInput& input, Progress& progress, Catalog& catalog) {
  const std::size_t first = catalog.processes.size();
  if (is_merged_file(input.path)) {
    MergedReader(input.path).read_lists(catalog);
  } else {
    Count count(progress);
    open_trace(input.path)->read(catalog, count);
  }
  set_rank(catalog, first, input.path, input.rank);
}

Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress) {
  Catalog all;
  std::vector<Catalog> own(inputs.size());
  OrderedWork(inputs.size(), usable_cores()).run({[&](std::size_t i) { read_catalog(inputs[i], progress, own[i]); },
                                                  [&](std::size_t i) {
                                                    join_catalog(own[i], all);
                                                    own[i] = {};
                                                  }});
  return all;
}

}  // namespace cli
