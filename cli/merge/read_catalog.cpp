#include "cli/merge/read_catalog.h"

#include <algorithm>

#include "cli/merge/ranks.h"
#include "cli/read/merged_reader.h"
#include "cli/read/reader.h"

namespace cli {
namespace {

class Count : public EventSink {
 public:
  explicit Count(Progress& progress) : progress_(progress) {}
  void event(const Event& event, std::string_view) override {
    progress_.step();
    newest_gpu_end_ns_ = std::max(newest_gpu_end_ns_, gpu_end_ns(event));
  }
  std::int64_t newest_gpu_end_ns() const { return newest_gpu_end_ns_; }

 private:
  Progress& progress_;
  std::int64_t newest_gpu_end_ns_ = 0;
};

}  // namespace

void read_catalog(const TraceInput& input, Progress& progress, Catalog& catalog) {
  progress.say("reading " + input.path);
  const std::size_t first = catalog.processes.size();
  if (is_merged_file(input.path)) {
    MergedReader(input.path).read_lists(catalog);
  } else {
    Count count(progress);
    open_trace(input.path)->read(catalog, count);
    for (std::size_t i = first; i < catalog.processes.size(); ++i)
      catalog.processes[i].recorder.newest_gpu_end_ns = count.newest_gpu_end_ns();
  }
  set_rank(catalog, first, input.path, input.rank);
}

}  // namespace cli
