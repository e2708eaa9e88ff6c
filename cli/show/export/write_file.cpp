#include "cli/show/export/write_file.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "cli/base/text.h"
#include "cli/show/export/pieces.h"
#include "cli/show/export/write_directory.h"

namespace cli {

void CutPlan::note(std::int64_t start_ns, std::uint64_t bytes) {
  noted_bytes_ = bytes;
  if (seen_ == Seen::nothing) {
    while (step_ < step_starts_.size() && step_starts_[step_] <= start_ns) ++step_;
    last_ns_ = start_ns;
    seen_ = Seen::one_event;
    return;
  }
  if (seen_ == Seen::one_event) {
    head_bytes_ = bytes;
    seen_ = Seen::more;
  }
  if (start_ns == last_ns_) return;
  last_ns_ = start_ns;
  if (step_ < step_starts_.size() && step_starts_[step_] <= start_ns) {
    while (step_ + 1 < step_starts_.size() && step_starts_[step_ + 1] <= start_ns) ++step_;
    candidates_.push_back({step_starts_[step_++], bytes, true});
  } else if (bytes - (candidates_.empty() ? 0 : candidates_.back().bytes) >= limit_bytes_ / 256) {
    candidates_.push_back({start_ns, bytes, false});
  }
}

// Returns the best of the candidates from index `from` on, for a segment that begins at `begin_bytes`.
const CutPlan::Candidate& CutPlan::choose(std::size_t from, std::uint64_t begin_bytes, std::uint64_t most_bytes) const {
  const Candidate* best = &candidates_[from];
  const Candidate* step = nullptr;
  for (std::size_t i = from; i < candidates_.size() && candidates_[i].bytes - begin_bytes <= most_bytes; ++i) {
    best = &candidates_[i];
    if (best->at_step && best->bytes - begin_bytes >= most_bytes / 2) step = best;
  }
  return step != nullptr ? *step : *best;
}

std::vector<CutPlan::Cut> CutPlan::cuts(std::uint64_t total_bytes) const {
  const std::uint64_t end = std::max(total_bytes, noted_bytes_);
  const double growth = static_cast<double>(end) / static_cast<double>(std::max<std::uint64_t>(total_bytes, 1));
  const auto limit = static_cast<std::uint64_t>(static_cast<double>(limit_bytes_) * growth);
  // Room for what a segment has in addition: repeated names, tracks and counters that begin again, and its end.
  const std::uint64_t room = limit - limit / 16;
  const std::uint64_t most = room > 2 * head_bytes_ ? room - head_bytes_ : std::max<std::uint64_t>(room / 2, 1);
  std::vector<Cut> cuts;
  std::uint64_t begin = head_bytes_;
  for (std::size_t from = 0; from < candidates_.size() && end - begin > most;) {
    const Candidate& candidate = choose(from, begin, most);
    cuts.push_back({candidate.at_ns, candidate.at_step});
    begin = candidate.bytes;
    from = static_cast<std::size_t>(&candidate - candidates_.data()) + 1;
  }
  return cuts;
}

namespace {

// Steps of different ranks begin at nearly the same time, so the first rank with steps represents all.
std::vector<std::int64_t> step_starts(const ExportJob& job) {
  std::vector<std::int64_t> starts;
  for (ProcessId id = 0; id < job.steps->size() && starts.empty(); ++id) {
    if (!job.selector->has(id)) continue;
    for (const Step& step : (*job.steps)[id]) starts.push_back(step.start_ns);
  }
  return starts;
}

WrittenFile written(const std::string& path, const Piece& piece) { return {path, piece.bytes(), piece.events(), -1}; }

void count_split(const ExportSummary& whole, ExportReport& report) {
  const auto fewer = [](std::uint64_t now, std::uint64_t before) { return before - std::min(before, now); };
  report.split_flows = fewer(report.summary.flows_out, whole.flows_out);
  report.split_flow_ends = fewer(whole.one_ended_flows, report.summary.one_ended_flows);
  report.split_works = fewer(whole.works_without_launch, report.summary.works_without_launch);
}

void write_parts(const ExportJob& job, const std::string& output, const std::vector<CutPlan::Cut>& cuts,
                 ExportReport& report) {
  Layout layout;
  for (const CutPlan::Cut& cut : cuts) {
    layout.borders.push_back(cut.at_ns);
    report.cuts_at_steps += cut.at_step;
  }
  const std::size_t count = layout.borders.size() + 1;
  for (std::size_t i = 0; i < count; ++i) job.check_output(part_name(output, i + 1, count));
  const ExportSummary whole = std::exchange(report.summary, {});
  Placement together;  // an incomplete set would look like a complete one
  for (std::size_t first = 0; first < count; first += kPiecesAtOnce) {
    Pieces pieces{layout, first};
    const std::size_t end = std::min(first + kPiecesAtOnce, count);
    for (std::size_t i = first; i < end; ++i)
      pieces.alive.push_back(
          std::make_unique<Piece>(job, open_output(part_name(output, i + 1, count), &together, job.gzip)));
    write_pieces(job, pieces);
    for (std::size_t i = first; i < end; ++i) {
      report.summary += pieces.alive[i - first]->summary();
      report.files.push_back(written(part_name(output, i + 1, count), *pieces.alive[i - first]));
    }
  }
  put_in_place(together);
  count_split(whole, report);
}

// Each segment repeats names, and the size of the repetition is known only after writing.
void note_large(std::uint64_t limit_bytes, ExportReport& report) {
  std::uint64_t largest = 0;
  for (const WrittenFile& file : report.files) largest = std::max(largest, file.bytes);
  if (largest <= limit_bytes) return;
  report.notes.push_back(
      fmt::format("the largest segment has {} bytes, more than --max-size {}", largest, limit_bytes));
}

// A user who opens all files with this name pattern would also open those of an earlier export.
void note_older(const std::string& output, ExportReport& report) {
  namespace fs = std::filesystem;
  std::unordered_set<std::string> ours;
  for (const WrittenFile& file : report.files) ours.insert(fs::path(file.path).filename().string());
  const fs::path directory = fs::path(output).parent_path();
  const std::string whole = fs::path(output).filename().string();
  std::vector<std::string> older;
  std::error_code error;
  for (fs::directory_iterator at(directory.empty() ? "." : directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if ((name == whole || is_part_name(name, output)) && ours.count(name) == 0)
      older.push_back((directory / name).string());
  }
  if (older.empty()) return;
  std::ranges::sort(older);
  const std::string more = older.size() == 1 ? "" : fmt::format(" and {} more of its name", older.size() - 1);
  report.notes.push_back(fmt::format(
      "{}{} from an earlier export remain and are not part of this one; delete the files that you do not need",
      older[0], more));
}

}  // namespace

ExportReport write_file(const ExportJob& job, const std::string& output, std::uint64_t limit_bytes) {
  const std::uint64_t most = output == "-" ? 0 : limit_bytes;
  Pieces whole;
  whole.alive.push_back(std::make_unique<Piece>(job, open_output(output, nullptr, job.gzip), most));
  CutPlan plan(most, step_starts(job));
  ExportReport report;
  report.left_out = write_pieces(job, whole, most == 0 ? nullptr : &plan);
  const Piece& piece = *whole.alive[0];
  report.summary = piece.summary();
  report.whole_bytes = piece.bytes();
  if (piece.dropped()) {
    whole.alive.clear();
    write_parts(job, output, plan.cuts(report.whole_bytes), report);
    note_large(most, report);
  } else {
    report.files.push_back(written(output, piece));
  }
  if (output != "-") note_older(output, report);
  if (output == "-" && limit_bytes != 0 && report.whole_bytes > limit_bytes)
    report.notes.push_back(fmt::format("stdout is never split: it gets {} bytes, more than --max-size {}",
                                       report.whole_bytes, limit_bytes));
  return report;
}

}  // namespace cli
