#include "cli/timeline/clocks/fit_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "cli/timeline/clocks/line_fit.h"
#include "cli/trace/event_times.h"
#include "common/hash.h"

namespace cli {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kHostClockError_ns = 1000;            // of GPU times on the clock of their host
constexpr double kOffsetErrors = 2, kDriftErrors = 3;  // standard errors above which they are applied
constexpr double kSmallMessage = 1 << 20;  // bytes; ends of larger messages differ by their own transfer times
constexpr double kLeastWeight = 0.05;
constexpr std::size_t kMostPoints = 1 << 14;  // per pair of domains; more do not improve the result
constexpr std::size_t kFewestPoints = 3;
constexpr double kLeastSpread_ns = 2000;       // few points may be on a line by chance
constexpr std::size_t kMostSamples = 1 << 20;  // over all domains
constexpr std::size_t kRounds = 12;
constexpr double kSameMoment_ns = 100e6;
// Ends are delayed, never early. Therefore early ends, within a collective and of a clock, are the most exact ones, if
// there are enough to identify them. In synthesized jobs (exponential delays) this reduces the p99 error from 4.8 to
// 3.3 us (8 x 4 ranks, 30 % lost), and from 4.7 to 3.0 us (128 x 8, 10 % lost).
constexpr std::size_t kManyEnds = 4;      // clocks in a collective
constexpr std::size_t kManySamples = 40;  // of a clock, and collectives in total
constexpr double kWeightOfLate = 0.15;

// Combines two independent errors.
double combined_error(double a, double b) { return std::sqrt(a * a + b * b); }

// A part of a domain's time in which its clock runs evenly; most domains have one. Below, spans represent clocks: each
// has its own line. The first span of each domain has the domain's number.
using SpanId = std::uint32_t;
struct ClockSpan {
  std::uint32_t domain;
  double from = -kInfinite;    // on the domain's clock, since the start of the trace there
  double before = -kInfinite;  // the last time seen in the previous span
  double set_back = 0;         // amount by which the clock was set back: times before and after overlap
};

// The times of a clock in one collective.
struct DomainPart {
  SpanId domain;
  std::vector<double> ends;  // ascending, since the start of the trace on the domain's clock
  double last_start = -kInfinite;
  double first_end() const { return ends.front(); }
  std::size_t started = 0;
};

// Returns the mean of the earliest end over all choices of `count` ends.
double earliest_of(const std::vector<double>& ends, std::size_t count) {
  double share = static_cast<double>(count) / static_cast<double>(ends.size()), left = 1, sum = 0;
  for (std::size_t i = 0; i + count <= ends.size(); ++i) {
    // Probability that the i-th end is the earliest chosen one: it is chosen and no earlier one is.
    share = static_cast<double>(count) / static_cast<double>(ends.size() - i);
    sum += left * share * ends[i];
    left *= 1 - share;
  }
  return sum;
}

// A clock in a collective that several clocks share: its end there, as the mean earliest end of as many ranks as all
// clocks have.
struct Sample {
  std::uint32_t collective;
  SpanId domain;
  double end, weight;
};

// A break in the difference of two domains' clocks, between these times of each.
struct EdgeBreak {
  std::array<double, 2> before, after;  // on the clock of each
  double jump = 0;                      // of the second clock's offset relative to the first
  bool is_explained = false;
};
struct BrokenEdge {
  std::array<std::uint32_t, 2> domains;
  std::size_t points = 0;
  std::vector<EdgeBreak> breaks;
};

// The difference of the clocks of domains a < b: it is added to b's times to convert them to a's.
struct Edge {
  std::vector<LinePoint> points;
  std::size_t seen = 0;
};

class ClockFitter {
 public:
  ClockFitter(const CollectiveCalls& calls, const MatchedCollectives& matched, std::span<const std::uint32_t> domain_of,
              std::vector<ClockFit>& fits)
      : calls_(calls), matched_(matched), domain_of_(domain_of), fits_(fits) {}

  void fit(std::optional<std::uint32_t> fixed) {
    find_origins();
    for (std::uint32_t domain = 0; domain < fits_.size(); ++domain) {
      spans_.push_back({domain});
      spans_of_.push_back({domain});
    }
    estimates_.assign(spans_.size(), {});
    walk();
    if (find_spans(fixed)) {
      edges_.clear();
      samples_.clear();
      sampled_ = 0;
      sample_step_ = 1;
      estimates_.assign(spans_.size(), {});
      walk();
    }
    estimate(fixed);
    // A second round, because the bounds depend on drifts and are too many to store.
    is_bounding_ = true;
    walk();
    bound();
    put();
  }

 private:
  struct Estimate {
    bool known = false, is_reference = false;
    std::uint32_t reference = 0;  // of the domains that share collectives with it: the one with offset 0
    Line line;                    // added to the domain's times to convert them to the reference's
    std::size_t samples = 0;
  };

  void walk() {
    for (const MatchedCollective& each : matched_.collectives) {
      if (each.state != CollectiveState::mismatch) take(each);
    }
  }

  // Times of each domain are relative to its own first one, so that doubles represent them to the nanosecond.
  void find_origins() {
    origins_.assign(fits_.size(), kNoTime);
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      std::int64_t& origin = origins_[domain_of_[id]];
      for (const CollectiveLane& lane : calls_.processes[id].lanes) {
        for (const CollectiveCall& call : lane.calls) {
          if (call.gpu_start_ns != kNoTime && (origin == kNoTime || call.gpu_start_ns < origin))
            origin = call.gpu_start_ns;
        }
      }
    }
    for (std::int64_t& origin : origins_) origin = origin == kNoTime ? 0 : origin;
  }

  std::vector<DomainPart> parts_of(const MatchedCollective& collective) const {
    std::map<std::uint32_t, DomainPart> parts;
    for (const MatchedCall& each : matched_.calls_of(collective)) {
      const CollectiveCall& call = call_of(calls_, each);
      const auto span = span_of(each);
      if (!span) continue;
      DomainPart& part = parts.try_emplace(*span, DomainPart{*span, {}}).first->second;
      const auto since = [&](std::int64_t ns) { return static_cast<double>(ns - origin(*span)); };
      if (call.gpu_start_ns != kNoTime) {
        part.last_start = std::max(part.last_start, since(call.gpu_start_ns));
        ++part.started;
      }
      if (call.gpu_end_ns != kNoTime) part.ends.push_back(since(call.gpu_end_ns));
    }
    std::vector<DomainPart> all;
    for (auto& [domain, part] : parts) {
      std::sort(part.ends.begin(), part.ends.end());
      if (!part.ends.empty()) all.push_back(std::move(part));
    }
    return all;
  }

  void take(const MatchedCollective& collective) {
    const Operation operation = calls_.whats[collective.what].operation;
    // Calls of kernels of unknown operations are matched because their times satisfy the model used here.
    const bool binds =
        all_depend_on_all(operation) ||
        (collective.counted && (operation == Operation::unknown || operation == Operation::send_receive));
    if (!binds) return take_one_sided(collective, operation);
    const std::vector<DomainPart> parts = parts_of(collective);
    if (parts.size() < 2) return;
    const auto size = size_of(matched_, calls_, collective);
    const double weight = size ? std::max(kLeastWeight, 1 / (1 + static_cast<double>(*size) / kSmallMessage)) : 0.5;
    std::size_t fewest = parts[0].ends.size();
    for (const DomainPart& part : parts) fewest = std::min(fewest, part.ends.size());
    const DomainPart& hub = parts[0];
    if (!is_bounding_) add_samples(parts, fewest, weight);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const DomainPart& part = parts[i];
      const double end = earliest_of(part.ends, fewest);
      add_point(hub.domain, part.domain, {end, earliest_of(hub.ends, fewest) - end, weight});
      constrain(hub.domain, hub.last_start, part.domain, part.first_end());
      constrain(part.domain, part.last_start, hub.domain, hub.first_end());
    }
  }

  void take_one_sided(const MatchedCollective& collective, Operation operation) {
    const std::int64_t root = calls_.whats[collective.what].root;
    const bool pair = collective.point_to_point;
    if (!pair && (root < 0 || (operation != Operation::broadcast && operation != Operation::reduce))) return;
    const auto some = matched_.calls_of(collective);
    const auto is_root = [&](const MatchedCall& each) {
      return calls_.processes[each.process].lanes[each.lane].own_rank == root;
    };
    const auto is_sender = [&](const MatchedCall& each) {
      return calls_.whats[call_of(calls_, each).what].operation == Operation::send;
    };
    for (const MatchedCall& one : some) {
      if (pair ? !is_sender(one) : !is_root(one)) continue;
      for (const MatchedCall& other : some) {
        if (one.process == other.process) continue;
        const bool is_back = !pair && operation == Operation::reduce;
        const MatchedCall &from = is_back ? other : one, &to = is_back ? one : other;
        const CollectiveCall &first = call_of(calls_, from), &second = call_of(calls_, to);
        if (first.gpu_start_ns == kNoTime || second.gpu_end_ns == kNoTime) continue;
        const auto a = span_of(from), b = span_of(to);
        if (!a || !b || *a == *b) continue;
        const auto start = static_cast<double>(first.gpu_start_ns - origin(*a)),
                   end = static_cast<double>(second.gpu_end_ns - origin(*b));
        constrain(*a, start, *b, end);
      }
    }
  }

  void add_samples(const std::vector<DomainPart>& parts, std::size_t fewest, double weight) {
    // If there are too many, every second one is removed, repeatedly.
    if (sampled_++ % sample_step_ != 0) return;
    for (const DomainPart& part : parts)
      samples_.push_back({static_cast<std::uint32_t>(sampled_), part.domain, earliest_of(part.ends, fewest), weight});
    if (samples_.size() < kMostSamples) return;
    sample_step_ *= 2;
    std::erase_if(samples_, [&](const Sample& sample) { return (sample.collective - 1) % sample_step_ != 0; });
  }

  void add_point(std::uint32_t a, std::uint32_t b, LinePoint point) {
    if (is_bounding_) return;
    Edge& edge = edges_[{a, b}];
    ++edge.seen;
    if (edge.points.size() < kMostPoints) {
      edge.points.push_back(point);
    } else if (const std::size_t at = (trace::spread(edge.seen) >> 20) % edge.seen; at < kMostPoints) {
      edge.points[at] = point;
    }
  }

  // Work that ended on b required work that began on a: offset(b) - offset(a) >= start - end. Drift since the middle of
  // each domain's samples, known or unknown, weakens the bound.
  void constrain(std::uint32_t a, double start, std::uint32_t b, double end) {
    if (!is_bounding_ || !estimates_[a].known || !estimates_[b].known || !std::isfinite(start)) return;
    const double value =
        start - end + moved(a, start) - moved(b, end) - unsure(a, start) - unsure(b, end) - kHostClockError_ns;
    const auto [known, is_new] = least_.try_emplace({a, b}, value);
    if (!is_new) known->second = std::max(known->second, value);
  }

  static double lower_quartile(std::vector<LinePoint> ends) {
    const auto quarter = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 4);
    std::nth_element(ends.begin(), quarter, ends.end(),
                     [](const LinePoint& a, const LinePoint& b) { return a.value < b.value; });
    return quarter->value;
  }

  // Refines all domains together: the end of each collective is estimated from the domains' lines, and these from the
  // ends, alternately. The references do not change.
  void refine() {
    std::size_t collectives = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      collectives += i == 0 || samples_[i].collective != samples_[i - 1].collective;
    for (std::size_t round = 0; round < kRounds; ++round) {
      std::vector<std::vector<LinePoint>> points(spans_.size());
      std::vector<std::size_t> of_many(spans_.size());
      for (std::size_t first = 0, next = 0; first < samples_.size(); first = next) {
        std::vector<LinePoint> ends;
        for (next = first; next < samples_.size() && samples_[next].collective == samples_[first].collective; ++next) {
          const Sample& sample = samples_[next];
          const Estimate& e = estimates_[sample.domain];
          if (e.known) ends.push_back({0, sample.end + e.line.value(sample.end)});
        }
        if (ends.size() < 2) continue;
        const bool many = collectives >= kManySamples && ends.size() >= kManyEnds;
        const double end = many ? lower_quartile(std::move(ends)) : weighted_median(std::move(ends));
        for (std::size_t i = first; i < next; ++i) {
          points[samples_[i].domain].push_back({samples_[i].end, end - samples_[i].end, samples_[i].weight});
          of_many[samples_[i].domain] += many;
        }
      }
      for (SpanId domain = 0; domain < spans_.size(); ++domain) estimates_[domain].samples = points[domain].size();
      std::vector<Line> lines;
      for (SpanId domain = 0; domain < spans_.size(); ++domain) {
        const bool many = points[domain].size() >= kManySamples && of_many[domain] * 2 > points[domain].size();
        lines.push_back(fit_line(std::move(points[domain]), many ? kWeightOfLate : 1));
      }
      for (SpanId domain = 0; domain < spans_.size(); ++domain) {
        Estimate& e = estimates_[domain];
        if (!e.known || e.is_reference) continue;
        const Line &line = lines[domain], &zero = lines[e.reference];
        const double at = line.middle + line.offset;
        e.line = line;
        e.line.offset -= zero.value(at);
        e.line.slope -= zero.slope;
        e.line.offset_error =
            combined_error(error_of(line.offset_error, line.mad), error_of(zero.offset_error, zero.mad));
        e.line.slope_error = combined_error(error_of(line.slope_error, line.mad), error_of(zero.slope_error, zero.mad));
      }
    }
  }
  // A deviation smaller than that of ends is due to chance.
  static double error_of(double error, double mad) {
    return error * std::max(1.0, kLeastSpread_ns / std::max(mad, 1.0));
  }

  // Propagates from the reference over the edges with the most exact offsets.
  void estimate(std::optional<std::uint32_t> fixed) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Line> lines;
    for (const auto& [pair, edge] : edges_) {
      if (edge.points.size() < kFewestPoints) continue;
      Line line = fit_line(edge.points);
      line.offset_error = error_of(line.offset_error, line.mad);
      line.slope_error = error_of(line.slope_error, line.mad);
      lines[pair] = line;
    }
    const auto begin = [&](std::uint32_t domain) {
      Estimate& reference = estimates_[domain];
      reference.known = reference.is_reference = true;
      reference.reference = domain;
      while (extend(lines)) {
      }
    };
    if (fixed) begin(*fixed);
    for (const auto& [pair, line] : lines) {
      if (!estimates_[pair.first].known) begin(pair.first);
    }
    refine();
  }

  // Adds the domain whose offset is known most exactly next. Returns false if no other domain shares collectives with
  // the known ones.
  bool extend(const std::map<std::pair<std::uint32_t, std::uint32_t>, Line>& lines) {
    std::optional<std::pair<std::uint32_t, Estimate>> best;
    for (const auto& [pair, line] : lines) {
      const auto [a, b] = pair;
      if (estimates_[a].known == estimates_[b].known) continue;
      Estimate next = estimates_[a].known ? through(estimates_[a], line, 1) : through(estimates_[b], line, -1);
      if (!best || next.line.offset_error < best->second.line.offset_error) best = {estimates_[a].known ? b : a, next};
    }
    if (best) estimates_[best->first] = best->second;
    return best.has_value();
  }

  // Returns the estimate of the next domain. Drifts are so small that their products can be ignored.
  static Estimate through(const Estimate& known, const Line& line, int direction) {
    Estimate next{.known = true, .reference = known.reference, .line = line};
    if (direction < 0) {
      next.line.offset = -line.offset;
      next.line.slope = -line.slope;
      next.line.middle = line.middle + line.offset;
    }
    next.line.offset += known.line.value(next.line.middle + next.line.offset);
    next.line.slope += known.line.slope;
    next.line.mad = std::max(line.mad, known.line.mad);
    next.line.offset_error = combined_error(line.offset_error, known.line.offset_error);
    next.line.slope_error = combined_error(line.slope_error, known.line.slope_error);
    return next;
  }

  bool drifts(const Estimate& e) const {
    return std::isfinite(e.line.slope_error) && std::abs(e.line.slope) > kDriftErrors * e.line.slope_error;
  }

  // Shortest paths from the reference, for offsets at the middle of each domain's samples.
  void bound() {
    lo_.assign(spans_.size(), -kInfinite);
    hi_.assign(spans_.size(), kInfinite);
    const auto is_free = [&](std::uint32_t domain) { return !estimates_[domain].is_reference; };
    for (SpanId domain = 0; domain < spans_.size(); ++domain) {
      if (!is_free(domain)) lo_[domain] = hi_[domain] = 0;
    }
    for (std::size_t round = 0, changed = 1; changed != 0 && round <= spans_.size(); ++round) {
      changed = 0;
      for (const auto& [pair, value] : least_) {
        const auto [a, b] = pair;
        if (lo_[a] + value > lo_[b] && is_free(b)) {
          lo_[b] = lo_[a] + value;
          ++changed;
        }
        if (hi_[b] - value < hi_[a] && is_free(a)) {
          hi_[a] = hi_[b] - value;
          ++changed;
        }
      }
    }
  }
  double moved(std::uint32_t domain, double at) const {
    const Estimate& e = estimates_[domain];
    return !e.is_reference && drifts(e) ? e.line.slope * (at - e.line.middle) : 0;
  }
  double unsure(std::uint32_t domain, double at) const {
    const Estimate& e = estimates_[domain];
    if (e.is_reference || !std::isfinite(e.line.slope_error)) return 0;
    const double slope = kDriftErrors * e.line.slope_error + (drifts(e) ? 0 : std::abs(e.line.slope));
    return slope * std::abs(at - e.line.middle);
  }

  void put() {
    for (std::uint32_t domain = 0; domain < fits_.size(); ++domain) {
      ClockFit& fit = fits_[domain];
      fit.method = kWallClock;
      const Estimate& e = estimates_[domain];
      if (!e.known) continue;
      fit.method = e.is_reference ? "reference" : "collectives";
      if (!e.is_reference) {
        fit.samples = e.samples;
        fit.mad_ns = std::llround(e.line.mad);
        put_line(domain, fit);
        if (std::abs(e.line.offset + between(domain)) <= kOffsetErrors * e.line.offset_error) fit.offset_ns = 0;
        put_bound(domain, fit.bound_lo_ns, fit.bound_hi_ns);
      }
      for (const SpanId span : spans_of_[domain]) {
        if (span == domain || !estimates_[span].known) continue;
        const std::int64_t before_ns = origins_[domain] + std::llround(spans_[span].before);
        ClockPiece piece;
        piece.from_ns = origins_[domain] + std::llround(spans_[span].from);
        piece.least_ns = fit.on_axis(std::min(before_ns, piece.from_ns - 1));
        put_line(span, piece);
        put_bound(span, piece.bound_lo_ns, piece.bound_hi_ns);
        fit.later.push_back(piece);
      }
    }
  }
  // Offsets up to here are for times since each domain's own first one.
  double between(SpanId span) const { return static_cast<double>(origin(estimates_[span].reference) - origin(span)); }
  void put_line(SpanId span, ClockLine& line) const {
    const Estimate& e = estimates_[span];
    line.reference_ns = origin(span) + std::llround(e.line.middle);
    line.offset_ns = std::llround(e.line.offset + between(span));
    if (drifts(e)) line.drift_ppm = e.line.slope * 1e6;
  }
  void put_bound(SpanId span, std::optional<std::int64_t>& lo_ns, std::optional<std::int64_t>& hi_ns) const {
    if (std::isfinite(lo_[span])) lo_ns = std::llround(lo_[span] + between(span));
    if (std::isfinite(hi_[span])) hi_ns = std::llround(hi_[span] + between(span));
  }

  std::int64_t origin(SpanId span) const { return origins_[spans_[span].domain]; }

  // Returns nullopt if it is, or may be, in two spans.
  std::optional<SpanId> span_of(const MatchedCall& which) const {
    const std::uint32_t domain = domain_of_[which.process];
    if (spans_of_[domain].size() == 1) return domain;
    const CollectiveCall& call = call_of(calls_, which);
    if (call.gpu_start_ns == kNoTime || call.gpu_end_ns < call.gpu_start_ns) return {};
    const auto start = static_cast<double>(call.gpu_start_ns - origins_[domain]),
               end = static_cast<double>(call.gpu_end_ns - origins_[domain]);
    SpanId found = domain;
    for (const SpanId id : spans_of_[domain]) {
      const ClockSpan& span = spans_[id];
      if (id == domain) continue;
      const auto [starts, ends] =
          span.set_back > 0 ? sides_of_set_back(which, span, end) : std::pair(start >= span.from, end >= span.from);
      if (starts != ends) return {};
      if (starts) found = id;
    }
    return found;
  }
  // For a clock that was set back, the order of calls determines whether a time is before or after.
  std::pair<bool, bool> sides_of_set_back(const MatchedCall& which, const ClockSpan& span, double end) const {
    const auto& calls = calls_.processes[which.process].lanes[which.lane].calls;
    const auto key = std::tuple(which.process, which.lane, &span);
    const auto [known, is_new] = set_back_at_.try_emplace(key, calls.size());
    if (is_new) {
      std::int64_t most_ns = 0;
      for (std::size_t i = 1; i < calls.size(); ++i) {
        if (calls[i].gpu_start_ns == kNoTime || calls[i - 1].gpu_start_ns == kNoTime) continue;
        const std::int64_t back_ns = calls[i - 1].gpu_start_ns - calls[i].gpu_start_ns;
        const auto at = static_cast<double>(calls[i - 1].gpu_start_ns - origins_[span.domain]);
        if (back_ns > most_ns && std::abs(at - span.from) <= span.set_back) {
          most_ns = back_ns;
          known->second = i;
        }
      }
    }
    if (known->second == calls.size()) {
      const bool is_after = end >= span.from;
      return {is_after, is_after};
    }
    return {which.call >= known->second, which.call + 1 >= known->second};
  }

  // Returns true if a clock has a break.
  bool find_spans(std::optional<std::uint32_t> fixed) {
    std::vector<BrokenEdge> edges;
    bool any = false;
    for (const auto& [pair, edge] : edges_) {
      if (edge.points.size() < 2 * kLeastPiece) continue;
      edges.push_back({{pair.first, pair.second}, edge.points.size(), breaks_of(edge.points)});
      any = any || !edges.back().breaks.empty();
    }
    if (!any) return false;
    while (explain_one(edges, fixed)) {
    }
    for (std::uint32_t domain = 0; domain < fits_.size(); ++domain) {
      auto& ids = spans_of_[domain];
      std::sort(ids.begin(), ids.end(), [&](SpanId a, SpanId b) { return spans_[a].from < spans_[b].from; });
    }
    return spans_.size() > fits_.size();
  }

  static std::vector<EdgeBreak> breaks_of(const std::vector<LinePoint>& edge) {
    // Sorted by the time of one clock, or by the other if that was set back.
    std::vector<EdgeBreak> best;
    double least_cost = kInfinite;
    for (const bool by_second : {false, true}) {
      std::vector<LinePoint> points = edge;  // at: on the second clock
      const auto time_of = [&](const LinePoint& point) { return by_second ? point.at : point.at + point.value; };
      std::ranges::sort(points, [&](const LinePoint& x, const LinePoint& y) { return time_of(x) < time_of(y); });
      std::vector<LinePoint> series;
      for (const LinePoint& point : points) series.push_back({time_of(point), point.value, point.weight});
      const auto breaks = find_breaks(series);
      if (breaks.empty() && !by_second) return {};
      const double cost = cost_of(series, breaks);
      if (!(cost < 0.9 * least_cost)) continue;
      least_cost = cost;
      best.clear();
      for (std::size_t i = 0; i < breaks.size(); ++i) {
        const auto at = [&](std::size_t index) { return points.begin() + static_cast<std::ptrdiff_t>(index); };
        const Line left = fit_line({at(i == 0 ? 0 : breaks[i - 1]), at(breaks[i])});
        const Line right = fit_line({at(breaks[i]), i + 1 < breaks.size() ? at(breaks[i + 1]) : points.end()});
        const LinePoint &a = points[breaks[i] - 1], &b = points[breaks[i]];
        best.push_back({{a.at + a.value, a.at}, {b.at + b.value, b.at}, right.value(b.at) - left.value(a.at), false});
      }
    }
    return best;
  }

  // The break that explains most others if it is assigned to this clock gets a span. A break of only one edge may be of
  // either clock; it is then not assigned to the first one, with which others are compared.
  bool explain_one(std::vector<BrokenEdge>& edges, std::optional<std::uint32_t> fixed) {
    BrokenEdge* edge = nullptr;
    std::size_t side = 0, at = 0;
    std::int64_t most = 0;
    for (BrokenEdge& each : edges) {
      for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
        for (std::size_t b = 0; b < each.breaks.size() && fixed != each.domains[i]; ++b) {
          if (each.breaks[b].is_explained) continue;
          std::int64_t of_it = 0;
          each_other(edges, each.domains[i], each.breaks[b], i,
                     [&](EdgeBreak* same) { of_it += same != nullptr ? 2 : -1; });
          if (edge == nullptr || of_it > most) {
            edge = &each;
            side = i;
            at = b;
            most = of_it;
          }
        }
      }
    }
    if (edge == nullptr || spans_.size() > 64 * fits_.size()) return false;
    const EdgeBreak found = edge->breaks[at];
    add_span(edge->domains[side], found, side);
    each_other(edges, edge->domains[side], found, side, [](EdgeBreak* same) {
      if (same != nullptr) same->is_explained = true;
    });
    edge->breaks[at].is_explained = true;
    return true;
  }

  // Calls f for each edge of the domain with its break at the same moment, as far as its calls determine it; null if
  // there is none.
  template <typename F>
  static void each_other(std::vector<BrokenEdge>& edges, std::uint32_t domain, const EdgeBreak& one, std::size_t side,
                         F&& f) {
    for (BrokenEdge& edge : edges) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (edge.domains[i] != domain) continue;
        EdgeBreak* same = nullptr;
        for (EdgeBreak& each : edge.breaks) {
          const double apart = std::abs(each.before[i] - one.before[side]);
          const double known_to =
              std::abs(each.after[i] - each.before[i]) + std::abs(one.after[side] - one.before[side]) + kSameMoment_ns;
          if (!each.is_explained && apart <= known_to &&
              (same == nullptr || apart < std::abs(same->before[i] - one.before[side])))
            same = &each;
        }
        f(same);
      }
    }
  }

  void add_span(std::uint32_t domain, const EdgeBreak& found, std::size_t side) {
    const double jump = side == 1 ? found.jump : -found.jump;  // of the value added to its times
    const double before = found.before[side], after = found.after[side];
    const double elapsed = std::max(0.0, after - before + jump);  // between the two, on any other clock
    ClockSpan span{domain};
    span.before = before;
    if (jump < -kLeastSpread_ns * 10) {
      // Set forward: no time is between, except for the time that elapsed.
      span.from = -jump >= elapsed ? before - jump : before + (elapsed - jump) / 2;
    } else if (jump > kLeastSpread_ns * 10) {
      span.from = before + 1;
      span.set_back = jump;
    } else {
      span.from = std::max(before + 1, after);
    }
    spans_of_[domain].push_back(static_cast<SpanId>(spans_.size()));
    spans_.push_back(span);
  }

  const CollectiveCalls& calls_;
  const MatchedCollectives& matched_;
  std::span<const std::uint32_t> domain_of_;
  std::vector<ClockFit>& fits_;
  std::vector<std::int64_t> origins_;  // by domain
  std::vector<ClockSpan> spans_;
  std::vector<std::vector<SpanId>> spans_of_;  // by domain, ordered by time
  // The first call after it
  mutable std::map<std::tuple<ProcessId, std::uint32_t, const ClockSpan*>, std::size_t> set_back_at_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> least_;  // of offset(b) - offset(a), at their middles
  bool is_bounding_ = false;
  std::vector<Estimate> estimates_;
  std::vector<double> lo_, hi_;
  std::vector<Sample> samples_;  // by collective
  std::size_t sampled_ = 0, sample_step_ = 1;
};

}  // namespace

void fit_clocks(const CollectiveCalls& calls, const MatchedCollectives& matched,
                std::span<const std::uint32_t> domain_of, std::optional<std::uint32_t> fixed,
                std::vector<ClockFit>& fits) {
  ClockFitter(calls, matched, domain_of, fits).fit(fixed);
}

}  // namespace cli
