#include "cli/export/parts/write_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/export/parts/cut_plan.h"
#include "cli/export/parts/file_names.h"
#include "cli/export/parts/old_parts.h"
#include "cli/export/parts/pieces.h"
#include "cli/io/gzip_sink.h"
#include "cli/io/output_file.h"

namespace cli {
namespace {

std::unique_ptr<ByteSink> open_sink(const ExportJob& job, const std::string& path, Placement* later = nullptr) {
  std::unique_ptr<ByteSink> sink = open_output(path, later);
  const bool named = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  return job.gzip && !named ? std::make_unique<GzipSink>(std::move(sink)) : std::move(sink);
}

// Steps of different ranks begin at nearly the same time: those of the first rank that has some stand for all.
std::vector<std::int64_t> step_starts(const ExportJob& job) {
  std::vector<std::int64_t> starts;
  for (ProcessId id = 0; id < job.steps->size() && starts.empty(); ++id) {
    if (!job.selector->has(id)) continue;
    for (const Step& step : (*job.steps)[id]) starts.push_back(step.start_ns);
  }
  return starts;
}

WrittenFile written(const std::string& path, const Piece& piece) { return {path, piece.bytes(), piece.events(), -1}; }

class Parts {
 public:
  Parts(const ExportJob& job, const std::string& output, const std::vector<CutPlan::Cut>& cuts, ExportReport& report)
      : job_(job), output_(output), report_(report) {
    for (const CutPlan::Cut& cut : cuts) layout_.borders.push_back(cut.at_ns);
  }

  // Returns the size of the largest; none is in place yet.
  std::uint64_t write() {
    report_.summary = {};
    report_.files.clear();
    for (std::size_t i = 0; i < count(); ++i) job_.check_output(name(i));
    for (std::size_t first = 0; first < count(); first += kPiecesAtOnce) write_some(first);
    std::uint64_t largest = 0;
    for (const WrittenFile& file : report_.files) largest = std::max(largest, file.bytes);
    return largest;
  }
  void place() { together_.place(); }

 private:
  std::size_t count() const { return layout_.borders.size() + 1; }
  std::string name(std::size_t number) const { return part_name(output_, number + 1, count()); }
  void write_some(std::size_t first) {
    Pieces pieces{layout_, first};
    for (std::size_t i = first; i < std::min(first + kPiecesAtOnce, count()); ++i) {
      pieces.alive.push_back(std::make_unique<Piece>(job_, open_sink(job_, name(i), &together_)));
    }
    write_pieces(job_, pieces);
    for (std::size_t i = 0; i < pieces.alive.size(); ++i) {
      report_.summary += pieces.alive[i]->summary();
      report_.files.push_back(written(name(first + i), *pieces.alive[i]));
    }
  }

  const ExportJob& job_;
  const std::string& output_;
  Layout layout_;
  ExportReport& report_;
  Placement together_;  // a set that is not whole would look as if it were
};

void count_parted(const ExportSummary& whole, ExportReport& report) {
  const auto fewer = [](std::uint64_t now, std::uint64_t before) { return before - std::min(before, now); };
  report.parted_arrows = fewer(report.summary.arrows_out, whole.arrows_out);
  report.parted_flow_ends = fewer(whole.one_ended_flows, report.summary.one_ended_flows);
  report.parted_works = fewer(whole.works_without_launch, report.summary.works_without_launch);
}

// Parts name again what the whole names once, and how much that is shows only when they are written: where one is above
// the limit, all are made again, smaller.
constexpr int kTries = 4;

void write_parts(const ExportJob& job, const std::string& output, const CutPlan& plan, std::uint64_t limit_bytes,
                 ExportReport& report) {
  const ExportSummary whole = report.summary;
  double share = 1;
  for (int tries = 1;; ++tries) {
    const std::vector<CutPlan::Cut> cuts = plan.cuts(report.whole_bytes, share);
    Parts parts(job, output, cuts, report);
    const std::uint64_t largest = parts.write();
    report.cuts_at_steps =
        static_cast<std::size_t>(std::count_if(cuts.begin(), cuts.end(), [](auto& cut) { return cut.at_step; }));
    count_parted(whole, report);
    if (largest <= limit_bytes) return parts.place();
    if (tries == kTries) {
      report.notes.push_back(fmt::format("the largest segment is of {} bytes: no smaller ones were found", largest));
      return parts.place();
    }
    share *= 0.95 * static_cast<double>(limit_bytes) / static_cast<double>(largest);
  }
}

void note_old_parts(const std::string& output, ExportReport& report) {
  std::vector<std::string> written;
  for (const WrittenFile& file : report.files) written.push_back(file.path);
  if (std::string note = old_parts_note(output, written); !note.empty()) report.notes.push_back(std::move(note));
}

}  // namespace

ExportReport write_file(const ExportJob& job, const std::string& output, std::uint64_t limit_bytes) {
  const std::uint64_t most = output == "-" ? 0 : limit_bytes;
  Pieces whole;
  whole.alive.push_back(std::make_unique<Piece>(job, open_sink(job, output), most));
  CutPlan plan(most, step_starts(job));
  ExportReport report;
  report.left_out = write_pieces(job, whole, most == 0 ? nullptr : &plan);
  const Piece& piece = *whole.alive[0];
  report.summary = piece.summary();
  report.whole_bytes = piece.bytes();
  if (piece.dropped()) {
    whole.alive.clear();
    write_parts(job, output, plan, most, report);
  } else {
    report.files.push_back(written(output, piece));
  }
  if (output != "-") note_old_parts(output, report);
  if (output == "-" && limit_bytes != 0 && report.whole_bytes > limit_bytes) {
    report.notes.push_back(fmt::format("stdout is never split: these are {} bytes, more than --max-size {}",
                                       report.whole_bytes, limit_bytes));
  }
  return report;
}

}  // namespace cli
