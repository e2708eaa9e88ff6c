// One output: an exporter and the sink that it writes to.
#pragma once
#include <cstdint>
#include <memory>

#include "cli/export/parts/export_job.h"
#include "cli/export/parts/limited_sink.h"

namespace cli {

class Piece {
 public:
  enum class WhenEmpty : std::uint8_t { written, dropped };

  // Above `limit_bytes` (0: none) the output is dropped and only counted. Without an event it may be dropped, too.
  Piece(const ExportJob& job, std::unique_ptr<ByteSink> sink, std::uint64_t limit_bytes = 0,
        WhenEmpty when_empty = WhenEmpty::written);

  Exporter& exporter() { return *exporter_; }
  void event(const Event& event, const Facts& facts) {
    if (events_++ == 0) first_ns_ = event.start_ns;
    exporter_->event(event, facts);
  }
  // Ends the output and, unless it is dropped, puts it in place. A second call does nothing.
  void finish();

  std::uint64_t events() const { return events_; }
  std::int64_t first_ns() const { return first_ns_; }  // of the first event
  // So far, before any compression; after finish() with that of the format itself.
  std::uint64_t bytes() const { return sink_.bytes() + (finished_ ? 0 : exporter_->pending_bytes()); }
  bool dropped() const { return sink_.exceeded() || (events_ == 0 && when_empty_ == WhenEmpty::dropped); }
  const ExportSummary& summary() const { return summary_; }  // after finish()

 private:
  LimitedSink sink_;
  std::unique_ptr<Exporter> exporter_;
  WhenEmpty when_empty_;
  ExportSummary summary_;
  std::uint64_t events_ = 0;
  std::int64_t first_ns_ = 0;
  bool finished_ = false;
};

}  // namespace cli
