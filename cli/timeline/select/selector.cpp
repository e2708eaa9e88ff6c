#include "cli/timeline/select/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/trace/event_times.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/names.h"
#include "cli/trace/ranks.h"
#include "common/hash.h"

namespace cli {

std::size_t LaunchTable::Hash::operator()(const Key& key) const {
  std::uint64_t hash = trace::spread(key.high ^ std::uint64_t{key.process} << 40);
  return static_cast<std::size_t>(hash ^ hash >> 29);
}

void LaunchTable::note(ProcessId process, std::uint64_t correlation, bool in_step, bool kept) {
  Bits& bits = runs_[{correlation / 64, process}];
  const std::uint64_t bit = std::uint64_t{1} << correlation % 64;
  bits.known |= bit;
  if (in_step) bits.in_step |= bit;
  if (kept) bits.kept |= bit;
}

LaunchTable::Launch LaunchTable::find(ProcessId process, std::uint64_t correlation) const {
  const auto run = runs_.find({correlation / 64, process});
  if (run == runs_.end()) return {};
  const auto has = [&](std::uint64_t bits) { return (bits >> correlation % 64 & 1) != 0; };
  return {has(run->second.known), has(run->second.in_step), has(run->second.kept)};
}

namespace {

std::string all_words() {
  std::string words;
  for (const KindInfo& info : kKinds) words += fmt::format("{}{}", words.empty() ? "" : ", ", info.name);
  return words;
}

}  // namespace

KindSet kinds_option(std::string_view option, std::string_view text) {
  KindSet kinds;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto info = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindInfo& r) { return r.name == word; });
    if (info == kKinds.end()) {
      throw Error(Exit::usage, fmt::format("{}: no kind \"{}\"; kinds: {}", option, word, all_words()));
    }
    kinds.set(static_cast<std::size_t>(info - kKinds.begin()));
    if (word.size() == rest.size()) return kinds;
    rest.remove_prefix(word.size() + 1);
  }
}

namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

std::int64_t end_of(const Event& event) { return slice_end(event, kForever); }

std::int64_t later(std::int64_t from_ns, std::int64_t by_ns) {
  return by_ns > kForever - std::max<std::int64_t>(from_ns, 0) ? kForever : from_ns + by_ns;
}

// These functions throw an Error if the trace lacks the choice. The first two require everything chosen by number; for
// steps it is enough that one of the chosen processes has them.
void check_ranks_exist(const NumberRanges& wanted, const Catalog& catalog) {
  std::set<std::int64_t> ranks;
  for (const Process& process : catalog.processes) ranks.insert(process.rank);
  ranks.erase(-1);
  const auto missing = wanted.first_missing(ranks);
  if (!missing) return;
  const std::string all = rank_list({ranks.begin(), ranks.end()});
  throw Error(Exit::usage, fmt::format("--ranks {}: there is no rank {}; there {} {}", wanted.text(), *missing,
                                       ranks.size() == 1 ? "is" : "are", all.empty() ? "none" : all));
}

void check_steps_exist(const NumberRanges& wanted, const Steps& steps, const std::vector<bool>& processes) {
  std::set<std::int64_t> numbers;
  for (std::size_t id = 0; id < steps.size(); ++id) {
    if (!processes[id]) continue;
    for (const Step& step : steps[id]) numbers.insert(step.number);
  }
  if (numbers.empty()) {
    throw Error(
        Exit::usage,
        fmt::format("--steps {}: no range of this trace is named like a training step "
                    "(ProfilerStep#3, \"step 3\", ...: docs/export.md), and its kernels have no period; use --time",
                    wanted.text()));
  }
  const auto missing = wanted.first_missing(numbers);
  if (!missing) return;
  throw Error(Exit::usage, fmt::format("--steps {}: there is no step {}; there are {}", wanted.text(), *missing,
                                       number_list({numbers.begin(), numbers.end()})));
}

[[noreturn]] void refuse_time(const TimeRange& wanted, std::int64_t span_ns) {
  throw Error(Exit::usage, fmt::format("--time: starts {} after the start of the trace, but the trace lasts {}",
                                       duration_text(wanted.from_ns), duration_text(span_ns)));
}

}  // namespace

Selector::Selector(const Selection& selection, const Catalog& catalog, const TraceFacts& facts)
    : selection_(selection),
      catalog_(catalog),
      first_ns_(facts.first_ns),
      last_ns_(facts.last_ns),
      chosen_(catalog.processes.size(), true),
      windows_(catalog.processes.size(), {std::numeric_limits<std::int64_t>::min(), kForever}),
      times_(windows_),
      open_(catalog.tracks.size()) {
  if (selection_.ranks) choose_ranks();
  if (selection_.without_beside) leave_out_beside();
  if (selection_.steps) {
    choose_steps(facts.steps);
    find_launch_flows();
  }
  if (selection_.time) choose_time(facts.clocks);
  if (selection_.kinds && selection_.kinds->test(static_cast<std::size_t>(Kind::nccl))) find_collectives();
}

void Selector::find_collectives() {
  collectives_.resize(catalog_.strings.size());
  for (std::size_t id = 0; id < collectives_.size(); ++id) {
    collectives_[id] = is_comm_name(catalog_.strings[static_cast<StringId>(id)]);
  }
}

void Selector::find_launch_flows() {
  launch_flows_.resize(catalog_.strings.size());
  for (std::size_t id = 0; id < launch_flows_.size(); ++id) {
    launch_flows_[id] = is_launch_flow_name(catalog_.strings[static_cast<StringId>(id)]);
  }
}

void Selector::choose_ranks() {
  check_ranks_exist(*selection_.ranks, catalog_);
  for (std::size_t id = 0; id < chosen_.size(); ++id) {
    const std::int64_t rank = catalog_.processes[id].rank;
    chosen_[id] = rank >= 0 && selection_.ranks->holds(rank);
  }
}

void Selector::leave_out_beside() {
  const std::vector<bool> beside = beside_ranks(catalog_);
  for (std::size_t id = 0; id < chosen_.size(); ++id) chosen_[id] = chosen_[id] && !beside[id];
}

void Selector::choose_steps(const Steps& steps) {
  check_steps_exist(*selection_.steps, steps, chosen_);
  steps_.resize(chosen_.size());
  read_.resize(chosen_.size());
  for (std::size_t id = 0; id < chosen_.size(); ++id) {
    Intervals& intervals = steps_[id];
    for (const Step& step : steps[id]) {
      if (!chosen_[id] || !selection_.steps->holds(step.number)) continue;
      if (intervals.empty() || step.start_ns > intervals.back().second)
        intervals.push_back({step.start_ns, step.end_ns});
      intervals.back().second = std::max(intervals.back().second, step.end_ns);
      read_[id].push_back({std::min(step.start_ns, step.from_ns()), std::max(step.end_ns, step.to_ns())});
    }
    join_intervals(read_[id]);
    windows_[id] = intervals.empty() ? TimeWindow{} : TimeWindow{intervals.front().first, intervals.back().second};
  }
}

void Selector::choose_time(const ProcessClocks& clocks) {
  if (selection_.time->from_ns > last_ns_ - first_ns_) refuse_time(*selection_.time, last_ns_ - first_ns_);
  const std::int64_t from_ns = later(first_ns_, selection_.time->from_ns),
                     to_ns = later(first_ns_, selection_.time->to_ns);
  for (std::size_t id = 0; id < windows_.size(); ++id) {
    times_[id] = {clocks.first_at(id, from_ns), clocks.first_at(id, to_ns)};
    windows_[id] = {std::max(windows_[id].from_ns, times_[id].from_ns), std::min(windows_[id].to_ns, times_[id].to_ns)};
  }
}

Steps Selector::chosen(const Steps& steps) const {
  Steps chosen = steps;
  for (std::size_t id = 0; id < chosen.size(); ++id) {
    std::erase_if(chosen[id], [&](const Step& step) {
      const bool in_time = !selection_.time || (step.from_ns() < times_[id].to_ns && step.to_ns() > times_[id].from_ns);
      return !chosen_[id] || !in_time || (selection_.steps && !selection_.steps->holds(step.number));
    });
  }
  return chosen;
}

Wanted Selector::wanted() const {
  Wanted wanted;
  if (std::ranges::find(chosen_, false) != chosen_.end()) wanted.processes = chosen_;
  if (selection_.steps) {
    wanted.times = read_;
  } else if (selection_.time) {
    for (const TimeWindow& time : times_) wanted.times.push_back({{time.from_ns, time.to_ns}});
  }
  if (!selection_.kinds) return wanted;
  wanted.kinds = *selection_.kinds;
  // Flows are kept by every filter; a flow that loses an endpoint is counted.
  for (const Kind kind :
       {Kind::flow, Kind::runtime, Kind::driver, Kind::kernel, Kind::memcpy, Kind::memset, Kind::graph}) {
    wanted.kinds->set(static_cast<std::size_t>(kind));
  }
  return wanted;
}

bool Selector::runs_in_time(const Event& event) const {
  const TimeWindow& time = times_[process(event)];
  if (event.start_ns >= time.to_ns) return false;
  return event.start_ns >= time.from_ns || end_of(event) > time.from_ns;
}

bool Selector::starts_in_step(const Event& event) const {
  const Intervals& intervals = steps_[process(event)];
  const auto behind = std::upper_bound(intervals.begin(), intervals.end(), event.start_ns,
                                       [](std::int64_t ns, const auto& interval) { return ns < interval.first; });
  return behind != intervals.begin() && event.start_ns < (behind - 1)->second;
}

// The end of a flow from a launch also has the correlation of the launch.
bool Selector::is_launched(const Event& event) const {
  if (event.correlation == 0 || is_api_call(event.kind)) return false;
  if (event.kind != Kind::flow) return catalog_.tracks[event.track].kind == TrackKind::stream;
  return event.phase != 's' && launch_flows_[event.category != 0 ? event.category : event.name];
}

bool Selector::belongs_to_step(const Event& event) const {
  if (is_launched(event)) {
    const LaunchTable::Launch launch = launches_.find(process(event), event.correlation);
    if (launch.known) return launch.in_step;
  }
  const bool is_unlaunched = is_gpu_work(event.kind) && records_calls(catalog_.processes[process(event)]);
  return !is_unlaunched && starts_in_step(event);
}

bool Selector::is_of_kinds(const Event& event) const {
  return selection_.kinds->test(static_cast<std::size_t>(event.kind)) ||
         (event.kind == Kind::kernel && !collectives_.empty() && collectives_[event.name]);
}

LeftOut Selector::judge_alone(const Event& event, bool in_step) const {
  if (!chosen_[process(event)]) return LeftOut::ranks;
  if (selection_.steps && !in_step) return LeftOut::steps;
  if (selection_.time && !runs_in_time(event)) return LeftOut::time;
  if (event.kind == Kind::flow) return LeftOut::kept;
  if (selection_.kinds && !is_of_kinds(event)) return LeftOut::kinds;
  const bool is_short = event.phase == 'X' && event.duration_ns >= 0 && event.duration_ns < selection_.min_dur_ns;
  return is_short ? LeftOut::min_dur : LeftOut::kept;
}

LeftOut Selector::judge(const Event& event) {
  if (!selection_.steps) return judge_alone(event, true);
  const bool in_step = event.kind == Kind::gpu_annotation ? annotations_[annotation_++] : belongs_to_step(event);
  return judge_alone(event, in_step);
}

void Selector::survey(const Event& event) {
  if (is_api_call(event.kind) && event.correlation != 0) {
    const bool in_step = !selection_.steps || starts_in_step(event);
    launches_.note(process(event), event.correlation, in_step, judge_alone(event, in_step) == LeftOut::kept);
  }
  if (!selection_.steps) return;
  if (event.kind == Kind::gpu_annotation) survey_annotation(event);
  if (is_gpu_work(event.kind) && belongs_to_step(event)) survey_work(event);
}

void Selector::end_annotations(TrackId track, std::int64_t now_ns) {
  std::vector<Open>& open = open_[track];
  open.erase(std::remove_if(open.begin(), open.end(), [&](const Open& o) { return o.end_ns <= now_ns; }), open.end());
}

void Selector::survey_annotation(const Event& event) {
  end_annotations(event.track, event.start_ns);
  open_[event.track].push_back({annotations_.size(), end_of(event)});
  annotations_.push_back(false);
}

void Selector::survey_work(const Event& event) {
  TimeWindow& window = windows_[process(event)];
  const std::int64_t end_ns = slice_end(event, last_ns_);
  window.to_ns = std::max(window.to_ns, selection_.time ? std::min(end_ns, times_[process(event)].to_ns) : end_ns);
  end_annotations(event.track, event.start_ns);
  for (const Open& annotation : open_[event.track]) annotations_[annotation.index] = true;
}

bool Selector::loses_flow(const Event& work, bool kept) const {
  if (work.correlation == 0 || !is_gpu_work(work.kind)) return false;
  const LaunchTable::Launch launch = launches_.find(process(work), work.correlation);
  return launch.known && launch.kept != kept;
}

}  // namespace cli
