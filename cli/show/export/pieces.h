// One output: an exporter and the sink that it writes to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/show/export/export_job.h"

namespace cli {

// Counts the bytes of an exporter and passes them on up to a limit. Beyond it, the sink below is discarded (a file
// disappears) and the rest is only counted.
class LimitedSink : public ByteSink {
 public:
  // `limit_bytes` is 0 for no limit. `below` is not null.
  LimitedSink(std::unique_ptr<ByteSink> below, std::uint64_t limit_bytes)
      : below_(std::move(below)), limit_bytes_(limit_bytes) {}

  void write(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (exceeded()) below_.reset();
    if (below_ != nullptr) below_->write(bytes);
  }
  // Must not be called after the limit was exceeded.
  void finish() override { below_->finish(); }

  std::uint64_t bytes() const { return bytes_; }
  bool exceeded() const { return limit_bytes_ != 0 && bytes_ > limit_bytes_; }

 private:
  std::unique_ptr<ByteSink> below_;
  std::uint64_t limit_bytes_;
  std::uint64_t bytes_ = 0;
};

class Piece {
 public:
  enum class WhenEmpty : std::uint8_t { written, dropped };

  // Above `limit_bytes` (0 for no limit) the output is discarded and only counted. An output without events may be
  // discarded too.
  Piece(const ExportJob& job, std::unique_ptr<ByteSink> sink, std::uint64_t limit_bytes = 0,
        WhenEmpty when_empty = WhenEmpty::written);

  // Valid until finish().
  Exporter& exporter() { return *exporter_; }
  void event(const Event& event, const Facts& facts) {
    if (events_++ == 0) first_ns_ = event.start_ns;
    exporter_->event(event, facts);
  }
  // Completes the output and puts it in place unless it was discarded. A second call does nothing.
  void finish();

  std::uint64_t events() const { return events_; }
  std::int64_t first_ns() const { return first_ns_; }  // start of the first event
  // Size so far without compression of the sink; after finish(), with the format's own compression.
  std::uint64_t bytes() const { return sink_.bytes() + (finished_ ? 0 : exporter_->pending_bytes()); }
  bool dropped() const { return sink_.exceeded() || (events_ == 0 && when_empty_ == WhenEmpty::dropped); }
  const ExportSummary& summary() const { return summary_; }  // valid after finish()

 private:
  LimitedSink sink_;
  std::unique_ptr<Exporter> exporter_;
  WhenEmpty when_empty_;
  ExportSummary summary_;
  std::uint64_t events_ = 0;
  std::int64_t first_ns_ = 0;
  bool finished_ = false;
};

// Several outputs written in one walk: one per process, or consecutive in time. If there are many, each walk writes
// some of them, which limits the buffers and open files.
inline constexpr std::size_t kPiecesAtOnce = 32;  // an exporter holds 2 to 4 MiB

// Assigns events to outputs: by process, else by time. With neither there is one output.
struct Layout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> piece_of = {};  // by ProcessId; kNone if the process is in no output
  std::vector<std::int64_t> borders = {};  // sorted; output i contains what starts before borders[i]
};

// The outputs written in this walk: numbers from `first` on.
struct Pieces {
  Layout layout;
  std::size_t first = 0;
  std::vector<std::unique_ptr<Piece>> alive = {};

  Piece* at(std::size_t number) const { return number - first < alive.size() ? alive[number - first].get() : nullptr; }
};

class CutPlan;

// Walks the trace for the outputs, as often as their format needs, and finishes them. `plan` records the size over
// time; it requires a single output. Throws Error.
LeftOutSummary write_pieces(const ExportJob& job, Pieces& pieces, CutPlan* plan = nullptr);

// One output per chosen process, a limited number at a time.
struct ProcessOutputs {
  std::function<std::unique_ptr<ByteSink>(ProcessId)> open;
  // Called after the output was finished or, because it has no events, discarded.
  std::function<void(ProcessId, const Piece&)> done;
};

// Walks the trace once per kPiecesAtOnce processes. Sets summary and left_out and appends notes of `report`.
void write_processes(const ExportJob& job, const ProcessOutputs& outputs, ExportReport& report);

}  // namespace cli
