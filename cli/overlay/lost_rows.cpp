#include "cli/overlay/lost_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/io/json_text.h"
#include "cli/io/units.h"
#include "cli/model/losses.h"

namespace cli {
namespace {

constexpr std::int64_t kShown = 20;              // at most this part of a process's length is drawn before it
constexpr std::int64_t kVisible_ns = 1'000'000;  // where there is no length to take a part of
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

// When the recording began, if that is before its first event.
std::optional<std::int64_t> begin_before_events(const Process& p) {
  if (p.recorder.created_ns <= 0 || p.recorder.created_ns >= p.first_ns) return std::nullopt;
  return p.recorder.created_ns;
}

// Where the drawing begins of what happened before the first event.
std::int64_t drawn_begin(const Process& p) {
  const std::int64_t shown = std::max((p.last_ns - p.first_ns) / kShown, kShortest_ns);
  return std::max(begin_before_events(p).value_or(p.first_ns - shown), p.first_ns - shown);
}

std::string with_span(const std::string& args, std::optional<std::int64_t> begin_ns, std::int64_t end_ns) {
  return args.substr(1) + (begin_ns ? fmt::format(",\"span_ns\":{}", end_ns - *begin_ns) : "");
}

std::string gap_args(const Notice& notice) {
  const std::int64_t end = std::max(notice.start_ns, notice.end_ns);
  const std::string length =
      notice.end_ns == 0 ? "\"ended\":false" : fmt::format("\"span_ns\":{}", end - notice.start_ns);
  return notice.text.empty() ? length : length + ",\"text\":" + json_quoted(notice.text);
}

class Losses {
 public:
  Losses(ProcessId id, const Process& process, std::vector<LostSlice>& out) : id_(id), p_(process), out_(out) {}

  void beside_events() {
    const auto begin = begin_before_events(p_);
    const std::string overwritten = overwritten_text(p_), unrecorded = unrecorded_text(p_);
    if (!overwritten.empty()) {
      add(drawn_begin(p_), p_.first_ns, overwritten, with_span(overwritten_json(p_), begin, p_.first_ns));
    }
    if (!unrecorded.empty()) {
      const std::int64_t from = begin || !overwritten.empty() ? drawn_begin(p_) : p_.first_ns;
      add(from, p_.last_ns, unrecorded, with_span(unrecorded_json(p_), begin, p_.last_ns));
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
    add(span.start_ns, span.end_ns, loss_text(p_), loss_json(p_).substr(1));
  }

 private:
  void add(std::int64_t start_ns, std::int64_t end_ns, std::string name, std::string args) {
    out_.push_back({id_, start_ns, std::max(end_ns, start_ns + kShortest_ns), std::move(name), std::move(args)});
  }

  // They come by start; of two that overlap, the second is drawn from the first one's end.
  void gaps() {
    std::int64_t free_ns = p_.first_ns;
    for (const Notice& notice : p_.notices) {
      if (notice.what != "gap") continue;
      const std::int64_t end = notice.end_ns == 0 ? p_.last_ns : std::min(notice.end_ns, p_.last_ns);
      const std::int64_t start = std::max(notice.start_ns, free_ns);
      if (start + kShortest_ns > end) continue;
      add(start, end, "gap of " + duration_text(end - notice.start_ns), gap_args(notice));
      free_ns = end;
    }
  }

  ProcessId id_;
  const Process& p_;
  std::vector<LostSlice>& out_;
};

}  // namespace

std::vector<LostSlice> lost_slices(const Catalog& catalog) {
  std::vector<LostSlice> slices;
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
  std::stable_sort(slices.begin(), slices.end(), [](const LostSlice& a, const LostSlice& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  return slices;
}

std::int64_t picture_start(const Catalog& catalog) {
  const auto trace = trace_span(catalog);
  const std::vector<LostSlice> lost = lost_slices(catalog);
  if (lost.empty()) return trace ? trace->start_ns : 0;
  return trace ? std::min(trace->start_ns, lost.front().start_ns) : lost.front().start_ns;
}

}  // namespace cli
