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

// Counts what an exporter writes, and gives it on until it is more than a limit: then what is below is dropped (a file
// leaves nothing behind) and the rest is only counted.
class LimitedSink : public ByteSink {
 public:
  // 0: no limit. `below` is not null.
  LimitedSink(std::unique_ptr<ByteSink> below, std::uint64_t limit_bytes)
      : below_(std::move(below)), limit_bytes_(limit_bytes) {}

  void write(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (exceeded()) below_.reset();
    if (below_ != nullptr) below_->write(bytes);
  }
  // Not after the limit was exceeded.
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

  // Above `limit_bytes` (0: none) the output is dropped and only counted. Without an event it may be dropped, too.
  Piece(const ExportJob& job, std::unique_ptr<ByteSink> sink, std::uint64_t limit_bytes = 0,
        WhenEmpty when_empty = WhenEmpty::written);

  // Valid until finish().
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

// Several outputs that are written in one walk: one for each process, or one after the other in time. Of many, a walk
// writes some, so that buffers and open files stay few.
inline constexpr std::size_t kPiecesAtOnce = 32;  // an exporter holds 2 to 4 MiB

// Which output an event belongs to: by process, else by time; with neither there is one.
struct Layout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> piece_of = {};  // by ProcessId; kNone: it is in no output
  std::vector<std::int64_t> borders = {};  // ascending; output i holds what starts before borders[i]
};

// Those that are written now: with the numbers from `first` on.
struct Pieces {
  Layout layout;
  std::size_t first = 0;
  std::vector<std::unique_ptr<Piece>> alive = {};

  Piece* at(std::size_t number) const { return number - first < alive.size() ? alive[number - first].get() : nullptr; }
};

class CutPlan;

// Walks the trace for the pieces, as often as their format needs it, and finishes them. `plan`, of the only piece:
// notes how large it becomes. Throws Error.
LeftOutSummary write_pieces(const ExportJob& job, Pieces& pieces, CutPlan* plan = nullptr);

// One output per chosen process, some at a time.
struct ProcessOutputs {
  std::function<std::unique_ptr<ByteSink>(ProcessId)> open;
  // After the piece was finished, also where it was dropped because it has no event.
  std::function<void(ProcessId, const Piece&)> done;
};

// Walks the trace once for each kPiecesAtOnce processes. `report`: summary, left_out and notes are set.
void write_processes(const ExportJob& job, const ProcessOutputs& outputs, ExportReport& report);

}  // namespace cli
