#include "cli/answers/derived/lost_slices.h"

#include <algorithm>
#include <optional>

#include "cli/trace/losses.h"

namespace cli {
namespace {

// Slices before the first event are at most 1/kShown of the process's length
constexpr std::int64_t kShown = 20;
constexpr std::int64_t kVisible_ns = 1'000'000;  // used if there is no length
constexpr std::int64_t kShortest_ns = 1000;

struct Span {
  std::int64_t start_ns, end_ns;
};

bool has_events(const Process& p) { return p.first_ns != 0 || p.last_ns != 0; }

std::optional<Span> trace_span(const Catalog& catalog) {
  std::optional<Span> span;
  for (const Process& p : catalog.processes) {
    if (!has_events(p)) continue;
    if (!span) span = Span{p.first_ns, p.last_ns};
    span->start_ns = std::min(span->start_ns, p.first_ns);
    span->end_ns = std::max(span->end_ns, p.last_ns);
  }
  return span;
}

// Returns when the recording began, if that is before its first event.
std::optional<std::int64_t> begin_before_events(const Process& p) {
  if (p.recorder.created_ns <= 0 || p.recorder.created_ns >= p.first_ns) return std::nullopt;
  return p.recorder.created_ns;
}

// Returns the begin of the slice for losses before the first event.
std::int64_t drawn_begin(const Process& p) {
  const std::int64_t shown = std::max((p.last_ns - p.first_ns) / kShown, kShortest_ns);
  return std::max(begin_before_events(p).value_or(p.first_ns - shown), p.first_ns - shown);
}

DerivedFacts loss(Loss what, std::optional<std::int64_t> begin_ns, std::int64_t end_ns) {
  DerivedFacts facts;
  facts.loss = what;
  if (begin_ns) facts.length_ns = end_ns - *begin_ns;
  return facts;
}

class Losses {
 public:
  Losses(ProcessId id, const Process& process, std::vector<Derived>& out) : id_(id), p_(process), out_(out) {}

  void beside_events() {
    const auto begin = begin_before_events(p_);
    const bool overwritten = overwrote(p_);
    if (overwritten) add(drawn_begin(p_), p_.first_ns, loss(Loss::overwritten, begin, p_.first_ns));
    if (left_unrecorded(p_)) {
      const std::int64_t from = begin || overwritten ? drawn_begin(p_) : p_.first_ns;
      add(from, p_.last_ns, loss(Loss::unrecorded, begin, p_.last_ns));
    }
    gaps();
  }

  void instead_of_events(std::optional<Span> trace) {
    const std::int64_t begin = p_.recorder.created_ns;
    Span span{begin, std::max(p_.recorder.heartbeat_ns, begin + kVisible_ns)};
    if (trace) {
      const Span inside{std::max(span.start_ns, trace->start_ns), std::min(span.end_ns, trace->end_ns)};
      span = inside.start_ns < inside.end_ns ? inside : *trace;
    }
    add(span.start_ns, span.end_ns, loss(Loss::everything, {}, 0));
  }

 private:
  void add(std::int64_t start_ns, std::int64_t end_ns, const DerivedFacts& facts) {
    out_.push_back({id_, DerivedTrack::lost, -1, start_ns, std::max(end_ns - start_ns, kShortest_ns), 0, facts});
  }

  // Gaps arrive by start. If two overlap, the second is written from the end of the first.
  void gaps() {
    std::int64_t free_ns = p_.first_ns;
    for (const Notice& notice : p_.notices) {
      if (notice.code != trace::NoticeCode::gap) continue;
      const std::int64_t end = notice.end_ns == 0 ? p_.last_ns : std::min(notice.end_ns, p_.last_ns);
      const std::int64_t start = std::max(notice.start_ns, free_ns);
      if (start + kShortest_ns > end) continue;
      DerivedFacts facts = loss(Loss::gap, {}, 0);
      facts.gap = &notice;
      facts.gap_seen_ns = end - notice.start_ns;
      if (notice.end_ns != 0) facts.length_ns = std::max<std::int64_t>(notice.end_ns - notice.start_ns, 0);
      add(start, end, facts);
      free_ns = end;
    }
  }

  ProcessId id_;
  const Process& p_;
  std::vector<Derived>& out_;
};

}  // namespace

std::vector<Derived> lost_slices(const Catalog& catalog) {
  std::vector<Derived> slices;
  const auto trace = trace_span(catalog);
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    Losses losses(id, process, slices);
    if (has_events(process)) {
      losses.beside_events();
    } else if (lost_everything(process)) {
      losses.instead_of_events(trace);
    }
  }
  std::ranges::stable_sort(slices, {}, [](const Derived& each) { return std::pair(each.start_ns, -each.duration_ns); });
  return slices;
}

std::int64_t picture_start(const Catalog& catalog) {
  const auto trace = trace_span(catalog);
  const std::vector<Derived> lost = lost_slices(catalog);
  if (lost.empty()) return trace ? trace->start_ns : 0;
  return trace ? std::min(trace->start_ns, lost.front().start_ns) : lost.front().start_ns;
}

}  // namespace cli
