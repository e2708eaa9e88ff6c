#include "cli/show/export/piece.h"

namespace cli {

Piece::Piece(const ExportJob& job, std::unique_ptr<ByteSink> sink, std::uint64_t limit_bytes, WhenEmpty when_empty)
    : sink_(std::move(sink), limit_bytes), exporter_(job.format->make(job.format_options)), when_empty_(when_empty) {
  if (job.origin_ns) exporter_->origin(*job.origin_ns);
  exporter_->begin(*job.catalog, sink_);
  if (job.collectives != nullptr) exporter_->collectives(*job.collectives);
  exporter_->clocks(job.trace->fits());
}

void Piece::finish() {
  if (finished_) return;
  finished_ = true;
  summary_ = exporter_->finish();
  exporter_.reset();  // frees memory for the other pieces of this walk
  if (!dropped()) sink_.finish();
}

}  // namespace cli
