#include "cli/timeline/select/step_period.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/hash.h"

namespace cli {

namespace {

constexpr std::size_t kGram = 6, kShortest = 5, kCandidates = 16;
constexpr std::array<std::size_t, 5> kHeads{6, 12, 24, 48, 96};

std::vector<std::uint32_t> ids_of(std::span<const LaunchedWork> work, bool by_names) {
  std::vector<std::uint32_t> ids;
  ids.reserve(work.size());
  for (const LaunchedWork& each : work) ids.push_back(each.id(by_names));
  return ids;
}

// The distances with most votes.
std::vector<std::size_t> candidates_of(const std::vector<std::uint32_t>& ids) {
  struct Gram {
    std::uint32_t count = 0, last = 0;
  };
  const auto gram_at = [&](std::size_t i) {
    std::uint64_t hash = 0;
    for (std::size_t j = i; j < i + kGram; ++j) hash = trace::spread(hash ^ ids[j]) + (hash >> 29);
    return hash;
  };
  const std::size_t grams = ids.size() - kGram + 1;
  std::unordered_map<std::uint64_t, Gram> seen;
  for (std::size_t i = 0; i < grams; ++i) ++seen[gram_at(i)].count;
  std::unordered_map<std::size_t, double> votes;
  for (std::size_t i = 0; i < grams; ++i) {
    Gram& gram = seen[gram_at(i)];
    const std::size_t distance = i + 1 - gram.last;
    if (gram.last != 0 && distance >= kShortest && distance <= ids.size() / 2) votes[distance] += 1.0 / gram.count;
    gram.last = static_cast<std::uint32_t>(i + 1);
  }
  std::vector<std::pair<double, std::size_t>> sorted;
  for (const auto& [distance, weight] : votes) sorted.push_back({-weight, distance});
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < std::min(sorted.size(), kCandidates); ++i) best.push_back(sorted[i].second);
  return best;
}

bool is_better(const KernelPeriod& a, const KernelPeriod& b) {
  if (a.compared == 0 || b.compared == 0) return b.compared == 0 && a.compared != 0;
  const std::uint64_t of_a = a.matched * b.compared, of_b = b.matched * a.compared;
  return of_a != of_b ? of_a > of_b : a.kernels < b.kernels;
}

// The work of one graph launch also repeats within it, like layers; that is no step.
KernelPeriod best_period(std::span<const LaunchedWork> work, bool by_names) {
  const std::vector<std::uint32_t> ids = ids_of(work, by_names);
  KernelPeriod best;
  for (const std::size_t distance : candidates_of(ids)) {
    KernelPeriod period{distance, 0, ids.size() - distance, by_names};
    for (std::size_t i = distance; i < ids.size(); ++i) {
      period.matched += ids[i] == ids[i - distance] && work[i].order != work[i - distance].order ? 1 : 0;
    }
    if (is_better(period, best)) best = period;
  }
  return best;
}

// Returns the longest part in which each kernel equals the one a period before, including that first period: begin and
// end.
std::pair<std::size_t, std::size_t> steadiest(const std::vector<std::uint32_t>& ids, std::size_t period) {
  std::size_t from = period, to = period, begun = period;
  for (std::size_t i = period; i <= ids.size(); ++i) {
    if (i < ids.size() && ids[i] == ids[i - period]) continue;
    if (i - begun > to - from) from = begun, to = i;
    begun = i + 1;
  }
  return {from - period, std::max(to, from)};
}

std::int64_t gap_before(std::span<const LaunchedWork> work, std::size_t at) {
  const LaunchedWork& before = work[at - 1];
  return work[at].launched_ns -
         (before.returned_ns != LaunchedWork::kNotReturned ? before.returned_ns : before.launched_ns);
}

// Returns the position of the largest gap in a period that begins at `from`.
std::size_t place_of_gap(std::span<const LaunchedWork> work, std::size_t from, std::size_t to, std::size_t period) {
  std::size_t best = 0;
  std::int64_t largest_ns = INT64_MIN;
  std::vector<std::int64_t> gaps;
  for (std::size_t place = 0; place < period; ++place) {
    gaps.clear();
    for (std::size_t at = from + place; at < to; at += period) {
      if (at > from) gaps.push_back(gap_before(work, at));
    }
    if (gaps.empty()) continue;
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    if (*middle > largest_ns) largest_ns = *middle, best = place;
  }
  return best;
}

// Returns `count` ids of a ring buffer, beginning at `at`.
std::vector<std::uint32_t> part_of(std::span<const std::uint32_t> ring, std::size_t at, std::size_t count) {
  std::vector<std::uint32_t> part;
  for (std::size_t i = 0; i < count; ++i) part.push_back(ring[(at + i) % ring.size()]);
  return part;
}

// Returns the shortest sequence that identifies the beginning of a step.
std::vector<std::uint32_t> head_of(std::span<const std::uint32_t> ring, std::size_t at) {
  std::vector<std::uint32_t> head;
  for (const std::size_t length : kHeads) {
    if (length > ring.size() && !head.empty()) break;
    head = part_of(ring, at, std::min(length, ring.size()));
    std::size_t found = 0;
    for (std::size_t i = 0; i < ring.size() && found < 2; ++i) {
      std::size_t same = 0;
      while (same < head.size() && ring[(i + same) % ring.size()] == head[same]) ++same;
      found += same == head.size() ? 1 : 0;
    }
    if (found == 1) break;
  }
  return head;
}

}  // namespace

KernelPeriod find_period(std::span<const LaunchedWork> work) {
  if (work.size() < 2 * kGram) return {};
  const KernelPeriod exact = best_period(work, false);
  if (exact.is_accepted()) return exact;
  const KernelPeriod by_names = best_period(work, true);
  return by_names.is_accepted() || is_better(by_names, exact) ? by_names : exact;
}

StepCutter::StepCutter(std::span<const LaunchedWork> work, const KernelPeriod& period) : period_(period) {
  const std::vector<std::uint32_t> ids = ids_of(work, period.by_names);
  const auto [from, to] = steadiest(ids, period.kernels);
  const std::size_t begin = std::min(from, ids.size() - period.kernels);
  const std::size_t place = place_of_gap(work, begin, std::max(to, begin + period.kernels), period.kernels);
  const std::span<const std::uint32_t> ring(ids.data() + begin, period.kernels);
  for (const LaunchedWork& each : work.subspan(begin, period.kernels)) repeated_names_.insert(each.name);
  head_ = head_of(ring, place);
  tail_ = part_of(ring, place + ring.size() - head_.size(), head_.size());
  last_.resize(head_.size() + 1);
}

bool StepCutter::ends_with(const std::vector<std::uint32_t>& ids) const {
  if (count_ < ids.size()) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (back(ids.size() - 1 - i).id != ids[i]) return false;
  }
  return true;
}

void StepCutter::close(std::uint64_t at, std::int64_t end_ns, std::int64_t gpu_end_ns) {
  if (end_ns > open_->start_ns) {
    found_.push_back({open_->at,
                      {0, open_->start_ns, end_ns, open_->gpu_start_ns, std::max(open_->gpu_start_ns, gpu_end_ns),
                       static_cast<std::int64_t>(at - open_->at)},
                      open_->is_launched});
  }
  open_.reset();
}

void StepCutter::add(const LaunchedWork& next) {
  const std::int64_t ended_ns = count_ > 0 ? std::max(back(0).ended_ns, next.end_ns) : next.end_ns;
  last_[count_ % last_.size()] = {next.id(period_.by_names), next.launched_ns, next.returned_ns, ended_ns};
  if (!repeated_names_.contains(next.name) && (others_.size() < kMostOthers || others_.contains(next.name))) {
    others_.try_emplace(next.name, count_, count_).first->second.second = count_;
  }
  if (!first_launched_ && next.returned_ns != LaunchedWork::kNotReturned) first_launched_ = count_;
  ++count_;
  if (open_ && count_ - open_->at == period_.kernels && ends_with(tail_)) {
    close(count_, next.returned_ns != LaunchedWork::kNotReturned ? next.returned_ns : next.launched_ns, ended_ns);
  }
  if (!ends_with(head_)) return;
  const std::uint64_t at = count_ - head_.size();
  if (open_ && at < open_->at + period_.kernels / 2) return;
  const bool is_known = at > 0 && back(head_.size()).returned_ns != LaunchedWork::kNotReturned;
  std::int64_t start_ns = is_known ? back(head_.size()).returned_ns : back(head_.size() - 1).launched_ns;
  const std::int64_t gpu_start_ns = at > 0 ? back(head_.size()).ended_ns : start_ns;
  if (open_) close(at, start_ns, gpu_start_ns);
  if (!found_.empty()) start_ns = std::max(start_ns, found_.back().step.end_ns);
  open_ = Open{at, start_ns, gpu_start_ns, back(head_.size() - 1).returned_ns != LaunchedWork::kNotReturned};
}

// Including the partial steps at the beginning and end of the trace.
std::int64_t StepCutter::repeated(std::span<const Found> kept, std::uint64_t first) const {
  if (kept.empty()) return 0;
  std::int64_t kernels = 0;
  for (const Found& each : kept) kernels += each.step.kernels;
  const std::uint64_t end = kept.back().at + static_cast<std::uint64_t>(kept.back().step.kernels);
  return kernels +
         static_cast<std::int64_t>(std::min(kept.front().at - std::min(first, kept.front().at), period_.kernels) +
                                   std::min(count_ - end, period_.kernels));
}

// Returns true if kernels before and after these positions of the sequence occur nowhere else.
bool StepCutter::is_within_one(std::uint64_t begin, std::uint64_t end) const {
  const auto is_before = [&](const auto& other) { return other.second.second < begin; };
  const auto is_after = [&](const auto& other) { return other.second.first >= end; };
  return std::any_of(others_.begin(), others_.end(), is_before) &&
         std::any_of(others_.begin(), others_.end(), is_after);
}

// If no calls were recorded at all, steps have the times of the GPU work.
void StepCutter::finish(ProcessSteps& of) const {
  const bool has_calls = std::any_of(found_.begin(), found_.end(), [](const Found& each) { return each.is_launched; });
  std::vector<Found> kept;
  std::copy_if(found_.begin(), found_.end(), std::back_inserter(kept),
               [&](const Found& each) { return each.is_launched || !has_calls; });
  const std::uint64_t first = has_calls ? *first_launched_ : 0;
  of.launched = static_cast<std::int64_t>(count_ - first);
  of.repeated = repeated(kept, first);
  if (of.repeated * 5 < of.launched * 4) return;
  const std::uint64_t end = kept.empty() ? 0 : kept.back().at + static_cast<std::uint64_t>(kept.back().step.kernels);
  if (kept.size() <= kMostLayers && !kept.empty() && is_within_one(kept.front().at, end)) {
    of.repeats = static_cast<std::int64_t>(kept.size());
    of.repeats_within = kWholeTrace;
    return;
  }
  for (const Found& each : kept) {
    of.steps.push_back(each.step);
    of.steps.back().number = static_cast<std::int64_t>(of.steps.size()) - 1;
  }
  if (!of.steps.empty()) of.found_by = kPeriodOfKernels;
}

namespace {

bool is_before(const LaunchedWork& a, const LaunchedWork& b) {
  return std::tie(a.order, a.node, a.arrival) < std::tie(b.order, b.node, b.arrival);
}

// They are usually sorted.
void put_in_order(std::vector<LaunchedWork>& work) {
  if (!std::is_sorted(work.begin(), work.end(), is_before)) std::sort(work.begin(), work.end(), is_before);
}

}  // namespace

// The numbers have 32 bits and wrap around in a long run; larger ones come from another tool and are not changed.
std::int64_t WorkSequence::continued(std::int64_t number) {
  if (number > UINT32_MAX || last_order_ > INT64_MAX / 2) return number;
  const auto ahead =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(last_order_));
  return arrivals_ == 0 ? number : last_order_ + ahead;
}

void WorkSequence::add(LaunchedWork work) {
  if (decided_ && !cutter_) return;
  work.order = last_order_ = continued(work.order);
  if (arrivals_ == 0) held_.reserve(std::min(most_, expected_));
  work.arrival = arrivals_++;
  held_.push_back(work);
  if (!decided_) {
    if (held_.size() == most_) decide(most_ - most_ / 16);
    return;
  }
  if (held_.size() <= most_ / 8) return;
  put_in_order(held_);
  const auto sure = held_.end() - static_cast<std::ptrdiff_t>(most_ / 16);
  std::for_each(held_.begin(), sure, [this](const LaunchedWork& each) { cutter_->add(each); });
  held_.erase(held_.begin(), sure);
}

// Number of held kernels whose order is final.
void WorkSequence::decide(std::size_t sure) {
  decided_ = true;
  put_in_order(held_);
  const std::span<const LaunchedWork> known(held_.data(), sure);
  period_ = find_period(known);
  if (period_.is_accepted()) {
    cutter_.emplace(known, period_);
    for (const LaunchedWork& work : known) cutter_->add(work);
  }
  std::vector<LaunchedWork> rest;
  if (cutter_) rest.assign(held_.begin() + static_cast<std::ptrdiff_t>(sure), held_.end());
  held_ = std::move(rest);
}

void WorkSequence::finish(ProcessSteps& of) {
  if (!decided_) decide(held_.size());
  of.period = period_;
  if (!cutter_) return;
  put_in_order(held_);
  for (const LaunchedWork& work : held_) cutter_->add(work);
  cutter_->finish(of);
}

}  // namespace cli
