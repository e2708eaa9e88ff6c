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

void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog, std::vector<ClockFit>& fits) {
  const std::size_t first = catalog.processes.size();
  if (is_merged_file(input.path)) {
    MergedReader reader(input.path);
    reader.read_lists(catalog);
    fits.insert(fits.end(), reader.fits().begin(), reader.fits().end());
  } else {
    Count count(progress);
    open_trace(input.path, threads)->read(catalog, count);
  }
  set_rank(catalog, first, input.path, input.rank);
}

Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress, std::vector<ClockFit>& fits) {
  Catalog all;
  std::vector<Catalog> own(inputs.size());
  std::vector<std::vector<ClockFit>> fits_of(inputs.size());
  OrderedWork work(inputs.size(), usable_cores());
  const std::size_t threads = usable_cores() / work.threads();
  work.run({[&](std::size_t i) { read_catalog(inputs[i], threads, progress, own[i], fits_of[i]); },
            [&](std::size_t i) {
              join_catalog(own[i], all);
              own[i] = {};
              fits.insert(fits.end(), fits_of[i].begin(), fits_of[i].end());
            }});
  return all;
}

}  // namespace cli
