#include "cli/timeline/collectives/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cli/timeline/collectives/align_lanes.h"
#include "cli/timeline/collectives/lane_axis.h"
#include "cli/timeline/collectives/lane_groups.h"
#include "cli/trace/clocks.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

struct LaneRef {
  ProcessId process = 0;
  std::uint32_t lane = 0;
  std::int64_t shift = 0;  // from its positions to those of the family's first lane
};

using Place = std::pair<ProcessId, std::uint32_t>;  // process and number of a lane
Place place_of(const LaneRef& ref) { return {ref.process, ref.lane}; }

// Number of lanes with which a lane is compared as a whole before it is refused, if most of them do not fit.
constexpr std::size_t kMostReferences = 8;
// Limit of comparisons in a run, and the addition for each call: some tenths of a second, and some microseconds.
constexpr std::size_t kPairsAtLeast = std::size_t{1} << 24, kPairsOfCall = 2048;

// Lanes that may belong together.
struct FamilyKey {
  CommunicatorId communicator;
  bool point_to_point, counted, replay;
  std::int32_t source, destination;
  auto operator<=>(const FamilyKey&) const = default;
};

// Returns true if every rank takes part. A rank with several calls, which should not occur, counts once.
bool has_all_ranks(const MatchedCollectives& matched, const MatchedCollective& collective) {
  const std::int64_t expected = ranks_of(matched, collective);
  const auto some = matched.calls_of(collective);
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < some.size(); ++i)
    ranks += collective.point_to_point || i == 0 || some[i].process != some[i - 1].process;
  return expected >= 0 && ranks >= expected;
}

// Relations between the clocks of processes, as far as matched collectives show them.
class RelatedClocks {
 public:
  // Adds the line that converts b's times to a's.
  void relate(ProcessId a, ProcessId b, const AxisLine& line) {
    const Related one = of(a), other = of(b);
    if (one.root == other.root) return;
    // From b's reference via b and a to a's reference.
    const AxisLine between = joined(one.line, joined(line, turned(other.line)));
    processes_.try_emplace(a, one);
    processes_.try_emplace(b, other);
    for (auto& [id, each] : processes_) {
      if (each.root == other.root) each = {one.root, joined(between, each.line)};
    }
  }
  std::optional<AxisLine> between(ProcessId a, ProcessId b) const {
    const Related one = of(a), other = of(b);
    if (a == b || one.root != other.root) return {};
    return joined(turned(one.line), other.line);
  }

 private:
  struct Related {
    ProcessId root;
    AxisLine line;  // to its times
  };
  Related of(ProcessId id) const {
    const auto known = processes_.find(id);
    return known != processes_.end() ? known->second : Related{id, {}};
  }
  std::map<ProcessId, Related> processes_;
};

class Matcher {
 public:
  Matcher(const CollectiveCalls& calls, const Catalog& catalog) : calls_(calls), catalog_(catalog) {
    for (const ProcessCalls& process : calls.processes) {
      for (const CollectiveLane& each : process.lanes) budget_.pairs += kPairsOfCall * each.calls.size();
    }
  }

  MatchedCollectives take() {
    auto all = families();
    for (auto& [key, lanes] : all) {
      if (!key.counted) find_late(lanes);
    }
    // Lanes without a name are last, because named ones relate clocks, and some ranks of a communicator may have no
    // name.
    const auto is_unnamed = [&](const FamilyKey& key) { return info(key.communicator).label.empty() && key.counted; };
    for (const auto& [key, lanes] : all)
      any_unnamed_ = any_unnamed_ || (is_unnamed(key) && !key.point_to_point && !key.replay);
    for (const bool unnamed : {false, true}) {
      for (auto& [key, lanes] : all) {
        if (is_unnamed(key) == unnamed) family(key, std::move(lanes));
      }
    }
    for (const auto& [communicator, each] : waiting_) put_waiting(each);
    find_unnamed();
    for (MatchedGroup& group : out_.groups) finish(group);
    find_ended();
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) out_.collectives[at].state = state_of(at);
    note_open();
    note_left_out();
    return std::move(out_);
  }

 private:
  const CollectiveLane& lane(const LaneRef& ref) const { return calls_.processes[ref.process].lanes[ref.lane]; }
  LanePair pair_of(const LaneRef& a, const LaneRef& b) const {
    return {lane(a), lane(b), calls_.whats, same_clock(a.process, b.process)};
  }
  const CommunicatorInfo& info(CommunicatorId id) const { return calls_.communicators[id]; }
  std::string rank_text(ProcessId id) const {
    const Process& process = catalog_.processes[id];
    return process.rank >= 0 ? fmt::format("rank {}", process.rank) : process.source;
  }
  bool same_clock(ProcessId a, ProcessId b) const {
    if (a == b) return true;
    const std::string name = clock_name(catalog_.processes[a]);
    return !name.empty() && name == clock_name(catalog_.processes[b]);
  }

  std::map<FamilyKey, std::vector<LaneRef>> families() const {
    std::map<FamilyKey, std::vector<LaneRef>> found;
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      const auto& lanes = calls_.processes[id].lanes;
      for (std::uint32_t at = 0; at < lanes.size(); ++at) {
        const CollectiveLane& each = lanes[at];
        found[{each.communicator, each.point_to_point, each.numbering == Numbering::counted, each.replay, each.source,
               each.destination}]
            .push_back({id, at, 0});
      }
    }
    return found;
  }

  void refuse(const LaneRef& ref, std::string why) {
    out_.refusals.push_back(
        {ref.process, lane(ref).communicator, lane(ref).calls.size(), lane(ref).point_to_point, std::move(why)});
  }

  void family(const FamilyKey& key, std::vector<LaneRef> lanes) {
    if (key.point_to_point && (key.source < 0 || key.destination < 0)) {
      for (const LaneRef& each : lanes) refuse(each, "the ranks of sends and receives are unknown");
      return;
    }
    const bool is_named = !info(key.communicator).label.empty();
    if (!key.counted) {
      refuse_unsure(lanes);
      return put(is_named ? group_of(key.communicator) : new_group(key.communicator), key, lanes);
    }
    // A lane that is alone cannot be contradicted.
    const bool alone =
        std::all_of(lanes.begin(), lanes.end(), [&](const LaneRef& each) { return each.process == lanes[0].process; });
    if (alone && is_named && may_have_unnamed(key, lanes)) {
      waiting_[key.communicator] = {key, {lanes[0], {}}};
      return;
    }
    if (alone && (is_named || waiting_.empty() || key.replay)) {
      for (const LaneRef& each : lanes)
        put(is_named ? group_of(key.communicator) : new_group(key.communicator), key, {each});
      return;
    }
    cluster(key, std::move(lanes), is_named);
  }

  void by_length(std::vector<LaneRef>& lanes) const {
    std::ranges::stable_sort(lanes, std::greater(), [&](const LaneRef& each) { return lane(each).calls.size(); });
  }

  // ---- numbered calls ----

  LaneFit as_numbered(const LaneRef& a, const LaneRef& b) const { return fit_at(pair_of(a, b), b.shift - a.shift); }

  // Returns the lane whose numbers agree with most other lanes, and how many do.
  std::pair<LaneRef, std::size_t> most_agreed(std::vector<LaneRef> lanes) const {
    by_length(lanes);
    std::pair<LaneRef, std::size_t> best{lanes[0], 0};
    for (std::size_t i = 0; i < std::min(lanes.size(), kMostReferences); ++i) {
      std::size_t agree = 0;
      for (const LaneRef& each : lanes)
        agree += each.process != lanes[i].process && proves(as_numbered(lanes[i], each));
      if (i == 0 || agree > best.second) best = {lanes[i], agree};
      if (2 * best.second >= lanes.size()) break;
    }
    return best;
  }

  // Finds ranks that were recorded late and may have begun counting then, so that equal numbers are different calls.
  // Numbers are trusted unless the times clearly support another shift, because clocks may be set and ends of large
  // transfers differ.
  void find_late(std::vector<LaneRef>& lanes) {
    if (lanes.size() < 2) return;
    const auto [first, agree] = most_agreed(lanes);
    const bool is_sure = 2 * (agree + 1) > lanes.size();
    std::stable_partition(lanes.begin(), lanes.end(),
                          [&, place = place_of(first)](const LaneRef& each) { return place_of(each) == place; });
    for (LaneRef& each : lanes) {
      if (each.process == first.process) continue;
      const LaneFit told = as_numbered(first, each);
      if (proves(told)) agreed_.insert({first.process, each.process});
      if (told.possible || told.pairs == 0) continue;
      const LaneFit fit = fit_lanes(pair_of(first, each), budget_);
      const CommunicatorId communicator = lane(each).communicator;
      if (!(fit.possible || fit.alike) || fit.shift == 0 ||
          (told.binding > 0 && !is_clearly_better(fit.mad_ns, told.mad_ns))) {
        if (!told.differs && told.width_ns < -kTimestampError_ns) {
          out_.notes.push_back(fmt::format("numbers of {} and {} in {} are used although times differ: {}",
                                           rank_text(first.process), rank_text(each.process), label(communicator),
                                           told.why));
        }
        continue;
      }
      unsure_.insert(each.process);
      if (!is_sure) unsure_.insert(first.process);
      if (fit.alike) continue;
      each.shift = fit.shift;
      out_.notes.push_back(fmt::format(
          "{} counts the collectives of {} from another start than {}; {} is added to its numbers",
          rank_text(each.process), label(communicator), rank_text(first.process), fit.shift / lane(each).ordinal_step));
    }
  }

  // If a rank was found to count from another call, the numbers of ranks without confirmed agreement are trusted only
  // if the times confirm them: compared with the ranks that are sure, or with the first one, with which find_late()
  // compared all; whichever matches more lanes.
  void refuse_unsure(std::vector<LaneRef>& lanes) {
    if (unsure_.empty()) return;
    const auto is_sure = [&](const LaneRef& each) {
      return unsure_.count(each.process) == 0 && agreed_.count(each.process) != 0;
    };
    std::vector<LaneRef> sure;
    std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(sure), is_sure);
    by_length(sure);
    const auto fits = [&](const LaneRef& reference, const LaneRef& each) {
      return each.process == reference.process || (is_sure(reference) && is_sure(each)) ||
             proves(as_numbered(reference, each));
    };
    const auto fitting = [&](const LaneRef& reference) {
      return std::count_if(lanes.begin(), lanes.end(), [&](const LaneRef& each) { return fits(reference, each); });
    };
    const LaneRef first = sure.empty() || fitting(sure[0]) < fitting(lanes[0]) ? lanes[0] : sure[0];
    std::erase_if(lanes, [&](const LaneRef& each) {
      if (fits(first, each)) return false;
      const LaneFit fit = as_numbered(first, each);
      refuse(each,
             fmt::format("ranks count from different calls, and nothing proves that the numbers of {} and {} match: {}",
                         rank_text(each.process), rank_text(first.process), fit.possible ? "too few calls" : fit.why));
      return true;
    });
  }

  std::string label(CommunicatorId id) const {
    return info(id).label.empty() ? "an unknown communicator" : "communicator " + info(id).label;
  }

  // ---- counted calls ----

  using Reasons = std::map<Place, std::string>;  // why a lane is in no group

  void refuse(const LaneRef& ref, const Reasons& why) {
    const auto known = why.find(place_of(ref));
    refuse(ref, known != why.end() ? known->second : "no other rank has similar calls");
  }

  struct Comparison {
    LaneFit fit;
    AxisLine line;             // converts the second lane's times to the first one's
    bool with_losses = false;  // calls may be missing on either side, so there is no shift
  };

  // Compares two lanes once; once more with losses.
  Comparison compare(const LaneRef& a, const LaneRef& b, bool with_losses) {
    const bool is_turned = place_of(b) < place_of(a);
    const LaneRef &one = is_turned ? b : a, &other = is_turned ? a : b;
    Comparison found;
    const auto line = known_line(one, other);
    if (line && !same_clock(one.process, other.process)) {
      found.line = *line;
      found.fit = fit_on_axis(pair_of(one, other), found.line);
      found.line = *line;
      found.with_losses = true;
    }
    if (!found.fit.possible) {
      const auto [known, is_new] = compared_.try_emplace({place_of(one), place_of(other)});
      if (is_new) {
        known->second.fit = fit_lanes(pair_of(one, other), budget_);
        if (known->second.fit.possible) known->second.line = line_of(known->second.fit, lane(one));
      }
      if (with_losses && !line && !known->second.fit.possible && !known->second.with_losses)
        add_losses(one, other, known->second);
      // A shift that contradicts known clocks is rejected.
      const std::int64_t begin_ns = first_time(lane(other));
      const bool agrees = !line || std::abs(known->second.line.on_axis(begin_ns) - line->on_axis(begin_ns)) <=
                                       static_cast<std::int64_t>(kMostSpread_ns);
      if (!line || (known->second.fit.possible && agrees)) found = known->second;
    }
    if (line && !found.fit.possible && same_clock(one.process, other.process)) {
      found.line = *line;
      const LaneFit fit = fit_on_axis(pair_of(one, other), found.line);
      if (fit.possible) found.fit = fit;
      found.line = *line;
      found.with_losses = true;
    }
    if (is_turned) {
      found.fit.shift = -found.fit.shift;
      found.line = turned(found.line);
    }
    return found;
  }

  // Returns the line from b's times to a's, if it is known without these lanes.
  std::optional<AxisLine> known_line(const LaneRef& a, const LaneRef& b) const {
    if (lane(a).whole_beginning && lane(b).whole_beginning) return {};
    return same_clock(a.process, b.process) ? AxisLine{} : clocks_.between(a.process, b.process);
  }

  void add_losses(const LaneRef& a, const LaneRef& b, Comparison& found) {
    found.with_losses = true;
    // Parts of the shorter lane are searched in the longer one.
    const bool is_longer = lane(a).calls.size() >= lane(b).calls.size();
    AxisLine line;
    const LaneFit fit = fit_with_losses(is_longer ? pair_of(a, b) : pair_of(b, a), budget_, line);
    if (!fit.possible) return;
    found.fit = fit;
    found.line = is_longer ? line : turned(line);
  }

  struct Fitting {
    double mad_ns;
    LaneRef ref;    // the shift is to the first lane's positions
    AxisLine line;  // converts to the first lane's times
    bool has_shift = false;
    bool is_only_near = false;  // the clocks are known, but not which calls correspond
  };
  static Fitting fitting_of(const LaneRef& ref, const Comparison& found) {
    return {found.fit.mad_ns, {ref.process, ref.lane, found.fit.shift}, found.line, !found.with_losses};
  }

  // Returns the lanes that may belong to the first one. `why` contains the reasons for the others. `witnesses`: see
  // add_related(). `left` contains the remaining lanes.
  std::vector<Fitting> that_fit_first(const std::vector<LaneRef>& lanes, bool with_losses, Reasons& why,
                                      std::vector<Fitting>& witnesses, std::vector<LaneRef>& left) {
    const LaneRef& first = lanes.front();
    std::vector<Fitting> fitting;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      const LaneRef& each = lanes[i];
      const Comparison found = compare(first, each, with_losses);
      if (found.fit.possible) {
        fitting.push_back(fitting_of(each, found));
        continue;
      }
      left.push_back(each);
      for (const auto& [one, other] : {std::pair(each, first), std::pair(first, each)}) {
        if (one.process == other.process || why.count(place_of(one)) != 0) continue;
        const std::string reason = why_not(pair_of(first, each), found.fit);
        why.emplace(place_of(one), fmt::format("with {}: {}", rank_text(other.process), reason));
      }
    }
    add_related(first, left, fitting, witnesses);
    return fitting;
  }

  // Adds lanes whose clocks are known through a lane that fits. They may be late together with a lane of the first
  // one's group. If the correspondence of their calls is unknown, they are witnesses, using calls that end at the same
  // moment.
  void add_related(const LaneRef& first, std::vector<LaneRef>& others, std::vector<Fitting>& fitting,
                   std::vector<Fitting>& witnesses) {
    const std::size_t known = fitting.size();
    std::erase_if(others, [&](const LaneRef& each) {
      std::optional<AxisLine> line = known_line(first, each);
      const bool is_direct = line.has_value();
      for (std::size_t i = 0; i < known && !line; ++i) {
        line = known_line(fitting[i].ref, each);
        if (line) line = joined(fitting[i].line, *line);
      }
      if (!line) return false;
      AxisLine found = *line;
      const LaneFit fit = is_direct ? LaneFit{} : fit_on_axis(pair_of(first, each), found);
      if (fit.possible) {
        fitting.push_back({fit.mad_ns, each, found, false, false});
      } else {
        witnesses.push_back({0, each, *line, false, true});
      }
      return true;
    });
  }

  // For a communicator with a name: selects one lane of each process, the one that fits clearly better than the others
  // in both directions.
  std::vector<Fitting> of_named(const std::vector<LaneRef>& lanes, Reasons& why) {
    const LaneRef& first = lanes.front();
    std::map<ProcessId, std::vector<Fitting>> found;
    std::vector<LaneRef> left;
    std::vector<Fitting> witnesses;
    for (const Fitting& each : that_fit_first(lanes, true, why, witnesses, left)) {
      if (each.ref.process != first.process) found[each.ref.process].push_back(each);
    }
    std::vector<Fitting> fitting;
    for (auto& [process, some] : found) {
      std::ranges::sort(some, {}, &Fitting::mad_ns);
      const Fitting& best = some[0];
      const bool is_one = some.size() == 1 || is_clearly_better(best.mad_ns, some[1].mad_ns);
      // The reverse direction: no other lane of the first one's process fits it equally well.
      const bool is_mutual = std::none_of(lanes.begin(), lanes.end(), [&](const LaneRef& other) {
        if (other.process != first.process || other.lane == first.lane) return false;
        const LaneFit fit = compare(best.ref, other, true).fit;
        return fit.possible && !is_clearly_better(best.mad_ns, fit.mad_ns);
      });
      if (is_one && is_mutual) {
        fitting.push_back(best);
      } else {
        why.try_emplace(place_of(is_one ? best.ref : first), fmt::format("several streams of {} fit equally well",
                                                                         rank_text(is_one ? first.process : process)));
      }
    }
    return fitting;
  }

  // Returns when the calls of a lane began and ended, in the order of the first lane's calls.
  LaneTimes times_by(const CallSequence& first, const CollectiveLane& first_lane, const Fitting& each,
                     bool has_known_clock) const {
    AxisLane other{&lane(each.ref), each.line};
    LaneTimes times;
    times.process = each.ref.process;
    times.has_known_clock = has_known_clock;
    times.start_ns.assign(first.entries().size(), kMissing);
    times.end_ns = times.start_ns;
    // These calls contradict the known clocks.
    CallSequence::Placed placed;
    if (each.is_only_near) {
      placed.entry = first.nearest(other);
    } else if (!each.has_shift) {
      placed = first.place(other);
    }
    const std::int64_t zero_ns = first_time(first_lane);
    const auto& calls = lane(each.ref).calls;
    times.name = name_of(each.ref);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t entry =
          each.has_shift ? calls[i].position + each.ref.shift - first_lane.calls.front().position : placed.entry[i];
      if (entry < 0 || entry >= std::ssize(first.entries()) || !binds(calls[i], calls_.whats)) continue;
      const auto at = static_cast<std::size_t>(entry);
      if (!first.entries()[at].binds) continue;
      const AxisLine& line = has_known_clock ? each.line : other.line;
      times.start_ns[at] = line.since(calls[i].gpu_start_ns, zero_ns);
      times.end_ns[at] = line.since(calls[i].gpu_end_ns, zero_ns);
    }
    return times;
  }

  // Lanes of about the same length as the first one, whose calls are not known to be different, may have been waited
  // for. They are witnesses at each position where a part of them fits, if it ends like the lanes that waited, within
  // `noise_ns`. Returns false if there are none.
  bool add_parts(const CallSequence& sequence, const LaneRef& first, const std::vector<LaneRef>& left, double noise_ns,
                 std::vector<LaneTimes>& times) {
    const std::size_t before = times.size();
    for (const LaneRef& each : left) {
      const std::size_t own = lane(first).calls.size(), other = lane(each).calls.size();
      if (2 * other < own || 2 * own < other || (lane(first).whole_beginning && lane(each).whole_beginning)) continue;
      const std::vector<PartFit> parts = fit_parts(pair_of(first, each), budget_);
      for (const PartFit& part : parts) {
        if (is_clearly_better(noise_ns, part.fit.mad_ns)) continue;
        // Up to the next parts that fit; a part with a missing call fits nowhere.
        std::size_t from = 0, to = other;
        for (const PartFit& next : parts) {
          if (next.first < part.first) from = std::min(part.first, next.first + next.calls);
          if (next.first > part.first && to == other) to = std::max(part.first + part.calls, next.first);
        }
        LaneTimes some =
            times_by(sequence, lane(first),
                     {0, {each.process, each.lane, part.fit.shift}, line_of(part.fit, lane(first)), true}, false);
        const auto entry_of = [&](std::size_t call) {
          return lane(each).calls[call].position + part.fit.shift - lane(first).calls.front().position;
        };
        for (std::int64_t at = 0; at < std::ssize(some.start_ns); ++at) {
          if (at < entry_of(from) || at > entry_of(to - 1))
            some.start_ns[static_cast<std::size_t>(at)] = some.end_ns[static_cast<std::size_t>(at)] = kMissing;
        }
        some.is_witness = true;
        times.push_back(std::move(some));
      }
    }
    return times.size() > before;
  }

  // For a communicator without a name: finds the lanes proved to be in the first one's group (lane_groups.h).
  // `witnesses` are in no group. If several groupings are possible, `ambiguous` contains the lanes of all of them.
  std::vector<Fitting> view_of_first(const std::vector<LaneRef>& lanes, const std::vector<LaneRef>& witnesses,
                                     bool with_losses, Reasons& why, std::set<Place>& ambiguous) {
    const LaneRef& first = lanes.front();
    std::vector<LaneRef> left;
    std::vector<Fitting> near;
    std::vector<Fitting> fitting = that_fit_first(lanes, with_losses, why, near, left);
    if (fitting.empty()) return {};
    const std::size_t possible = fitting.size();
    std::vector<LaneRef> others;
    for (const LaneRef& each : witnesses) {
      const Comparison found = compare(first, each, with_losses);
      if (found.fit.possible) {
        fitting.push_back(fitting_of(each, found));
      } else {
        others.push_back(each);
      }
    }
    add_related(first, others, fitting, near);
    fitting.insert(fitting.end(), near.begin(), near.end());
    left.insert(left.end(), others.begin(), others.end());
    CallSequence sequence(calls_.whats, first_time(lane(first)));
    AxisLane reference{&lane(first), {}};
    sequence.add(reference);
    std::vector<LaneTimes> times{times_by(sequence, lane(first), {0, {first.process, first.lane, 0}, {}, true}, true)};
    for (std::size_t i = 0; i < fitting.size(); ++i) {
      const ProcessId process = fitting[i].ref.process;
      const bool is_known = same_clock(first.process, process) || clocks_.between(first.process, process).has_value();
      times.push_back(times_by(sequence, lane(first), fitting[i], is_known));
      times.back().is_witness = i >= possible;
    }
    LaneGrouping grouping = group_of_first(times);
    double noise_ns = kTimestampError_ns;
    for (const std::size_t each : grouping.members)
      noise_ns = std::max(noise_ns, each > 0 ? fitting[each - 1].mad_ns : 0);
    if (grouping.members.size() > 1 && add_parts(sequence, first, left, noise_ns, times))
      grouping = group_of_first(times);
    if (grouping.members.size() > 1 && budget_.pairs == 0) {
      why[place_of(first)] = "too many similar shifts to compare it with all others";
      return {};
    }
    const auto ref_of = [&](std::size_t index) -> const LaneRef& {
      return index == 0 ? first : fitting[index - 1].ref;
    };
    if (!grouping.together.empty()) {
      std::vector<std::int64_t> all, one, other;
      for (const std::size_t each : grouping.together) {
        const std::int64_t rank = catalog_.processes[ref_of(each).process].rank;
        all.push_back(rank);
        (std::binary_search(grouping.apart.begin(), grouping.apart.end(), each) ? one : other).push_back(rank);
      }
      const std::string text = fmt::format("{} may be one communicator, or {} one and {} another; the times allow both",
                                           rank_list(all), rank_list(one), rank_list(other));
      for (const std::size_t each : grouping.together) {
        why[place_of(ref_of(each))] = text;
        ambiguous.insert(place_of(ref_of(each)));
      }
      return {};
    }
    std::vector<Fitting> members;
    for (const std::size_t each : grouping.members) {
      if (each > 0) members.push_back(fitting[each - 1]);
    }
    if (members.empty()) {
      why[place_of(first)] = fmt::format(
          "with {}: ends differ by {:.1f} us, but too few starts differ to prove a match; the ranks may run in lockstep",
          rank_text(fitting[0].ref.process), fitting[0].mad_ns / 1e3);
    }
    return members;
  }

  // Returns the lanes that `lane`, as the first lane, proves to be in its group; only itself if there are none.
  std::set<Place> seen_by(const LaneRef& lane, std::vector<LaneRef> lanes, const std::vector<LaneRef>& witnesses,
                          bool with_losses) {
    const auto own = std::ranges::find_if(lanes, [&](const LaneRef& each) { return place_of(each) == place_of(lane); });
    std::rotate(lanes.begin(), own, own + 1);
    Reasons why;
    std::set<Place> ambiguous, seen{place_of(lane)};
    for (const Fitting& each : view_of_first(lanes, witnesses, with_losses, why, ambiguous))
      seen.insert(place_of(each.ref));
    return seen;
  }

  // A group is accepted only if each of its members proves it. A member whose clock is known only from these calls may
  // have waited for a lane with which the first one cannot be compared. Members proved to be in another group become
  // witnesses.
  std::vector<Fitting> of_unnamed(std::vector<LaneRef> lanes, std::vector<LaneRef> witnesses, bool with_losses,
                                  Reasons& why, std::set<Place>& ambiguous) {
    while (true) {
      std::vector<Fitting> members = view_of_first(lanes, witnesses, with_losses, why, ambiguous);
      std::set<Place> group{place_of(lanes[0])}, others;
      for (const Fitting& each : members) group.insert(place_of(each.ref));
      for (const Fitting& each : members) {
        const auto sees_all = [&](const std::set<Place>& seen) {
          return std::includes(seen.begin(), seen.end(), group.begin(), group.end());
        };
        std::set<Place> seen = seen_by(each.ref, lanes, witnesses, with_losses);
        if (!sees_all(seen) && !with_losses) seen = seen_by(each.ref, lanes, witnesses, true);
        if (sees_all(seen)) continue;
        if (seen.size() == 1 || seen.count(place_of(lanes[0])) != 0) {
          why[place_of(lanes[0])] =
              fmt::format("the times of {} do not show whether it is one of them", rank_text(each.ref.process));
          return {};
        }
        others.insert(place_of(each.ref));
      }
      if (others.empty()) return members;
      const auto kept = std::stable_partition(lanes.begin(), lanes.end(),
                                              [&](const LaneRef& each) { return others.count(place_of(each)) == 0; });
      witnesses.insert(witnesses.end(), kept, lanes.end());
      lanes.erase(kept, lanes.end());
    }
  }

  struct FoundGroup {
    LaneRef first;
    std::vector<Fitting> others;
  };

  void accept(const LaneRef& first, const std::vector<Fitting>& others) {
    for (const Fitting& each : others) clocks_.relate(first.process, each.ref.process, each.line);
  }

  void cluster(const FamilyKey& key, std::vector<LaneRef> lanes, bool is_named) {
    by_length(lanes);
    Reasons why;
    if (is_named) {
      cluster_named(key, std::move(lanes), why);
    } else {
      std::vector<LaneRef> unmatched, witnesses;
      std::vector<FoundGroup> groups;
      if (!key.replay) add_waiting(lanes);
      // Groups with many calls first, because the clocks that they relate help with the others.
      while (!lanes.empty()) {
        const auto shorter = lanes.begin() + static_cast<std::ptrdiff_t>(as_long(lanes));
        std::vector<LaneRef> left, some(lanes.begin(), shorter);
        some.insert(some.end(), unmatched.begin(), unmatched.end());
        unmatched.clear();
        std::vector<FoundGroup> found = unnamed_groups(std::move(some), false, why, left, witnesses);
        join_those_with_losses(found, left, witnesses, why);
        for (FoundGroup& each : unnamed_groups(std::move(left), true, why, unmatched, witnesses))
          found.push_back(std::move(each));
        std::move(found.begin(), found.end(), std::back_inserter(groups));
        lanes.erase(lanes.begin(), shorter);
      }
      witnesses.insert(witnesses.end(), unmatched.begin(), unmatched.end());
      for (const FoundGroup& each : groups) {
        if (!join_waiting(each)) put_counted(new_group(key.communicator), key, each.first, each.others);
      }
      for (const LaneRef& each : witnesses) {
        if (name_of(each) != 0) continue;
        refuse(each, why);
      }
    }
    compared_.clear();
    placed_.clear();
  }

  // Returns how many of the lanes, by length, are about as long as the first one: at least half of it, without a gap of
  // a tenth before.
  std::size_t as_long(const std::vector<LaneRef>& lanes) const {
    const auto length = [&](std::size_t i) { return lane(lanes[i]).calls.size(); };
    std::size_t count = 1;
    while (count < lanes.size() && (2 * length(count) >= length(0) || 10 * length(count) >= 9 * length(count - 1)))
      ++count;
    return count;
  }

  // The longest lane takes all lanes that belong to it; then the longest of the rest, and so on. `left` contains lanes
  // that belong to none, `refused` those that may belong to several.
  std::vector<FoundGroup> unnamed_groups(std::vector<LaneRef> lanes, bool with_losses, Reasons& why,
                                         std::vector<LaneRef>& left, std::vector<LaneRef>& refused) {
    std::vector<FoundGroup> groups;
    while (!lanes.empty()) {
      const LaneRef first = lanes.front();
      std::set<Place> done{place_of(first)}, ambiguous;
      std::vector<LaneRef> witnesses = left;
      witnesses.insert(witnesses.end(), refused.begin(), refused.end());
      witnesses.insert(witnesses.end(), placed_.begin(), placed_.end());
      std::vector<Fitting> others = of_unnamed(lanes, witnesses, with_losses, why, ambiguous);
      if (!others.empty()) {
        accept(first, others);
        placed_.push_back(first);
        for (const Fitting& each : others)
          done.insert(place_of(each.ref)), placed_.push_back({each.ref.process, each.ref.lane, 0});
        groups.push_back({first, std::move(others)});
      } else if (ambiguous.empty()) {
        left.push_back(first);
      }
      std::erase_if(lanes, [&](const LaneRef& each) {
        if (ambiguous.count(place_of(each)) != 0) refused.push_back(each);
        return done.count(place_of(each)) != 0 || ambiguous.count(place_of(each)) != 0;
      });
    }
    return groups;
  }

  // Adds lanes with missing calls to the groups that were found without them.
  void join_those_with_losses(std::vector<FoundGroup>& groups, std::vector<LaneRef>& left,
                              const std::vector<LaneRef>& refused, Reasons& why) {
    const std::vector<LaneRef> before = left;
    std::erase_if(left, [&](const LaneRef& each) {
      for (FoundGroup& group : groups) {
        const auto is_of_process = [&](const Fitting& other) { return other.ref.process == each.process; };
        if (group.first.process == each.process || std::ranges::any_of(group.others, is_of_process)) continue;
        if (!compare(group.first, each, true).fit.possible) continue;
        std::vector<LaneRef> lanes{group.first};
        for (const Fitting& other : group.others) lanes.push_back(other.ref);
        lanes.push_back(each);
        std::set<Place> ambiguous;
        std::vector<LaneRef> witnesses = refused;
        std::copy_if(placed_.begin(), placed_.end(), std::back_inserter(witnesses), [&](const LaneRef& placed) {
          return std::ranges::none_of(lanes, [&](const LaneRef& lane) { return place_of(lane) == place_of(placed); });
        });
        std::copy_if(before.begin(), before.end(), std::back_inserter(witnesses),
                     [&](const LaneRef& other) { return place_of(other) != place_of(each); });
        std::vector<Fitting> others = of_unnamed(lanes, witnesses, true, why, ambiguous);
        if (others.size() <= group.others.size()) continue;
        group.others = std::move(others);
        accept(group.first, group.others);
        placed_.push_back({each.process, each.lane, 0});
        return true;
      }
      return false;
    });
  }

  // ---- communicators of which some ranks have no name ----

  struct WaitingGroup {
    FamilyKey key;
    FoundGroup found;
  };

  // Returns true if the trace lacks ranks of the communicator, which may be lanes without its name.
  bool may_have_unnamed(const FamilyKey& key, const std::vector<LaneRef>& lanes) const {
    std::set<ProcessId> processes;
    for (const LaneRef& each : lanes) processes.insert(each.process);
    return any_unnamed_ && !key.point_to_point && !key.replay && info(key.communicator).size > std::ssize(processes);
  }

  // By lane of waiting groups: the communicator + 1; otherwise 0.
  std::uint32_t name_of(const LaneRef& ref) const {
    const CommunicatorId id = lane(ref).communicator;
    return info(id).label.empty() ? 0 : id + 1;
  }

  void add_waiting(std::vector<LaneRef>& lanes) const {
    for (const auto& [communicator, each] : waiting_) {
      lanes.push_back(each.found.first);
      for (const Fitting& other : each.found.others) lanes.push_back(other.ref);
    }
    by_length(lanes);
  }

  // Merges a group without a name into the one with a name. Returns false if no lane has one.
  bool join_waiting(const FoundGroup& found) {
    std::vector<LaneRef> unnamed;
    WaitingGroup* group = nullptr;
    const auto look = [&](const LaneRef& each) {
      if (name_of(each) == 0) {
        unnamed.push_back(each);
      } else {
        group = &waiting_.at(lane(each).communicator);
      }
    };
    look(found.first);
    for (const Fitting& each : found.others) look(each.ref);
    if (group == nullptr) return false;
    const LaneRef& first = group->found.first;
    const std::int64_t size = info(lane(first).communicator).size;
    for (const LaneRef& each : unnamed) {
      const auto line = known_line(first, each);
      if (line && std::ssize(group->found.others) + 1 < size) {
        group->found.others.push_back({0, each, *line, false, false});
      } else {
        refuse(each, fmt::format("with it, {} would have more ranks than its size", label(lane(first).communicator)));
      }
    }
    return true;
  }

  void put_waiting(const WaitingGroup& group) {
    const std::uint32_t id = group_of(group.key.communicator);
    if (group.found.others.empty()) {
      put(id, group.key, {group.found.first});
    } else {
      put_counted(id, group.key, group.found.first, group.found.others);
    }
  }

  void cluster_named(const FamilyKey& key, std::vector<LaneRef> lanes, Reasons& why) {
    std::map<Place, std::size_t> refused;
    while (!lanes.empty()) {
      const LaneRef first = lanes.front();
      std::set<Place> done{place_of(first)};
      const std::vector<Fitting> others = of_named(lanes, why);
      if (others.empty()) {
        refuse(first, why);
      } else {
        accept(first, others);
        for (const Fitting& each : others) done.insert(place_of(each.ref));
        if (may_have_unnamed(key, lanes) && waiting_.count(key.communicator) == 0) {
          waiting_[key.communicator] = {key, {first, others}};
        } else {
          put_counted(group_of(key.communicator), key, first, others);
        }
      }
      std::erase_if(lanes, [&](const LaneRef& each) {
        const Place place = place_of(each);
        if (done.count(place) != 0) return true;
        // If all belong together, lanes that fit none of many are not compared with the rest.
        if (++refused[place] < kMostReferences) return false;
        refuse(each, why[place]);
        return true;
      });
    }
  }

  // Matches counted lanes of one communicator by their times, unless all were recorded from the first call on and
  // therefore have equal counts.
  void put_counted(std::uint32_t group, const FamilyKey& key, const LaneRef& first,
                   const std::vector<Fitting>& others) {
    std::vector<LaneRef> together{first};
    bool whole_beginning = lane(first).whole_beginning;
    for (const Fitting& each : others) {
      together.push_back(each.ref);
      whole_beginning = whole_beginning && lane(each.ref).whole_beginning;
    }
    if (whole_beginning) return put(group, key, together);
    CallSequence sequence(calls_.whats, first_time(lane(first)));
    AxisLane reference{&lane(first), {}};
    sequence.add(reference);
    for (const Fitting& each : others) {
      AxisLane other{&lane(each.ref), each.line};
      sequence.add(other);
    }
    for (const LaneRef& each : together) add_member(group, each.process);
    ++families_put_;
    std::int64_t ordinal = 0;
    for (const SequenceEntry& entry : sequence.entries()) {
      std::vector<MatchedCall> some;
      for (const SequenceCall& each : entry.calls)
        some.push_back({together[each.lane].process, together[each.lane].lane, each.call});
      std::ranges::sort(some, {}, &MatchedCall::process);
      put_collective(group, key, ordinal++, some);
    }
  }

  std::uint32_t new_group(CommunicatorId communicator) {
    out_.groups.push_back({communicator, {}, info(communicator).size, info(communicator).size > 0});
    return static_cast<std::uint32_t>(out_.groups.size() - 1);
  }
  std::uint32_t group_of(CommunicatorId communicator) {
    const auto [known, is_new] = groups_.try_emplace(communicator, 0);
    if (is_new) known->second = new_group(communicator);
    return known->second;
  }

  void put(std::uint32_t group, const FamilyKey& key, const std::vector<LaneRef>& lanes) {
    struct At {
      std::int64_t position;
      std::uint32_t order;
      MatchedCall call;
    };
    std::vector<At> all;
    std::int64_t step = 1;
    for (std::uint32_t order = 0; order < lanes.size(); ++order) {
      const LaneRef& ref = lanes[order];
      const auto& some = lane(ref).calls;
      step = std::max(step, lane(ref).ordinal_step);
      for (std::uint32_t i = 0; i < some.size(); ++i)
        all.push_back({some[i].position + ref.shift, order, {ref.process, ref.lane, i}});
      add_member(group, ref.process);
    }
    std::sort(all.begin(), all.end(), [](const At& a, const At& b) {
      return std::tie(a.position, a.call.process, a.order, a.call.call) <
             std::tie(b.position, b.call.process, b.order, b.call.call);
    });
    const std::int64_t first = all.empty() || !key.counted ? 0 : all.front().position;
    ++families_put_;
    for (std::size_t at = 0; at < all.size();) {
      const std::int64_t position = all[at].position;
      std::vector<MatchedCall> some;
      for (; at < all.size() && all[at].position == position; ++at) some.push_back(all[at].call);
      put_collective(group, key, (position - first) / step, some);
    }
  }

  void add_member(std::uint32_t group, ProcessId process) {
    auto& members = out_.groups[group].members;
    if (std::find(members.begin(), members.end(), process) == members.end()) members.push_back(process);
  }

  void put_collective(std::uint32_t group, const FamilyKey& key, std::int64_t ordinal,
                      const std::vector<MatchedCall>& some) {
    MatchedCollective collective;
    collective.group = group;
    collective.point_to_point = key.point_to_point;
    collective.counted = key.counted;
    collective.ordinal = ordinal;
    collective.first_call = static_cast<std::uint32_t>(out_.calls.size());
    out_.calls.insert(out_.calls.end(), some.begin(), some.end());
    collective.calls = static_cast<std::uint32_t>(some.size());
    collective.what = what_of_most(collective);
    out_.collectives.push_back(collective);
    family_of_.push_back(families_put_);
  }

  // Returns the properties that agree with most ranks; if there are several, the most complete ones.
  WhatId what_of_most(const MatchedCollective& collective) const {
    std::map<WhatId, std::size_t> count;
    for (const MatchedCall& each : out_.calls_of(collective)) ++count[call_of(calls_, each).what];
    const auto known = [&](WhatId id) {
      const CollectiveWhat& what = calls_.whats[id];
      return (what.operation != Operation::unknown) + (what.operation != Operation::receive) +
             (what.message_bytes >= 0) + (what.buffer_bytes >= 0);
    };
    const auto agreeing = [&](WhatId id) {
      std::size_t agree = 0;
      for (const auto& [other, times] : count) agree += can_be_same(calls_.whats[id], calls_.whats[other]) ? times : 0;
      return agree;
    };
    return std::max_element(count.begin(), count.end(),
                            [&](const auto& a, const auto& b) {
                              return std::pair(agreeing(a.first), known(a.first)) <
                                     std::pair(agreeing(b.first), known(b.first));
                            })
        ->first;
  }

  // The members are known for a group with a recorded size, and for a group to which no other rank of the job can
  // belong: the trace contains all ranks of the job, and each of the others either does not use its name or, if it has
  // no name, was found to be in other groups with all of its calls.
  void finish(MatchedGroup& group) const {
    std::sort(group.members.begin(), group.members.end());
    if (!group.size_is_told) group.size = is_whole(group) ? static_cast<std::int64_t>(group.members.size()) : -1;
  }
  bool is_whole(const MatchedGroup& group) const {
    std::int64_t world = -1;
    std::set<std::int64_t> ranks;
    for (const Process& process : catalog_.processes) {
      world = std::max(world, process.world_size);
      if (process.rank >= 0) ranks.insert(process.rank);
    }
    if (world < 0 || std::ssize(ranks) < world) return false;
    if (!info(group.communicator).label.empty() || std::ssize(group.members) == world) return true;
    if (world % std::ssize(group.members) != 0) return false;
    for (ProcessId id = 0; id < catalog_.processes.size(); ++id) {
      const bool is_elsewhere = placed_unnamed_.count(id) != 0 && refused_unnamed_.count(id) == 0;
      if (!is_elsewhere && !std::binary_search(group.members.begin(), group.members.end(), id)) return false;
    }
    return true;
  }
  void find_unnamed() {
    for (const MatchedGroup& each : out_.groups) {
      if (info(each.communicator).label.empty()) placed_unnamed_.insert(each.members.begin(), each.members.end());
    }
    for (const MatchRefusal& each : out_.refusals) {
      if (info(each.communicator).label.empty()) refused_unnamed_.insert(each.process);
    }
  }

  // A collective in which every rank depends on all others, and that has ended on some rank, was begun by all ranks
  // after they had completed the previous ones. A killed recording may lack the newest work.
  void find_ended() {
    last_ended_.assign(families_put_ + 1, 0);
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) {
      const MatchedCollective& each = out_.collectives[at];
      const auto some = out_.calls_of(each);
      const auto has_ended = [&](const MatchedCall& call) { return call_of(calls_, call).gpu_end_ns != kNoTime; };
      if (all_depend_on_all(calls_.whats[each.what].operation) && std::any_of(some.begin(), some.end(), has_ended))
        last_ended_[family_of_[at]] = at + 1;
    }
  }
  bool was_begun_by_all(std::size_t at) const { return at < last_ended_[family_of_[at]]; }

  CollectiveState state_of(std::size_t at) const {
    const MatchedCollective& collective = out_.collectives[at];
    bool is_open = false;
    for (const MatchedCall& each : out_.calls_of(collective)) {
      if (!can_be_same(calls_.whats[collective.what], calls_.whats[call_of(calls_, each).what]))
        return CollectiveState::mismatch;
      is_open = is_open || is_open_call(each, was_begun_by_all(at));
    }
    if (is_open) return CollectiveState::open;
    if (!has_all_ranks(out_, collective)) return CollectiveState::missing_ranks;
    const auto some = out_.calls_of(collective);
    const bool is_timed = std::none_of(
        some.begin(), some.end(), [&](const MatchedCall& each) { return call_of(calls_, each).gpu_end_ns == kNoTime; });
    return is_timed ? CollectiveState::complete : CollectiveState::no_gpu_work;
  }

  // Returns true if it was begun and not ended, as far as recorded.
  bool is_open_call(const MatchedCall& which, bool was_begun) const {
    const CollectiveCall& call = call_of(calls_, which);
    if (call.gpu_start_ns != kNoTime) return call.gpu_end_ns == kNoTime;
    if (call.host_start_ns == kNoTime || was_begun) return false;
    if (call.host_end_ns == kNoTime) return true;
    if (call.group_has_ended) return false;
    const Process& process = catalog_.processes[which.process];
    if (process.state == RecordingState::clean || process.counts[static_cast<std::size_t>(Kind::kernel)] == 0)
      return false;
    const auto& all = calls_.processes[which.process].lanes[which.lane].calls;
    return std::all_of(all.begin() + which.call, all.end(),
                       [](const CollectiveCall& later) { return later.gpu_start_ns == kNoTime; });
  }

  // Describes a hanging job: the position of each rank in a communicator with a collective that never ended.
  void note_open() {
    std::vector<const MatchedCollective*> open(out_.groups.size());
    std::vector<std::map<ProcessId, std::int64_t>> completed(out_.groups.size());
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) {
      const MatchedCollective& each = out_.collectives[at];
      if (each.point_to_point) continue;
      if (each.state == CollectiveState::open && open[each.group] == nullptr) open[each.group] = &each;
      const bool ended = each.state != CollectiveState::mismatch && was_begun_by_all(at);
      for (const MatchedCall& call : out_.calls_of(each)) {
        if (const CollectiveCall& one = call_of(calls_, call);
            one.gpu_end_ns != kNoTime || one.group_has_ended || (ended && one.gpu_start_ns == kNoTime))
          completed[each.group][call.process] = each.ordinal;
      }
    }
    for (std::size_t group = 0; group < open.size(); ++group) {
      if (open[group] == nullptr) continue;
      std::map<std::int64_t, std::vector<std::int64_t>> ranks;  // by last completed collective; -1 if none
      for (const ProcessId id : out_.groups[group].members) {
        const auto known = completed[group].find(id);
        ranks[known != completed[group].end() ? known->second : -1].push_back(catalog_.processes[id].rank);
      }
      std::string text = fmt::format("{}: {} number {} had not ended", label(out_.groups[group].communicator),
                                     operation_name(calls_.whats[open[group]->what].operation), open[group]->ordinal);
      for (const auto& [ordinal, some] : ranks) {
        text += fmt::format("; {} completed {} last", rank_list(some),
                            ordinal < 0 ? "none" : fmt::format("number {}", ordinal));
      }
      std::vector<std::int64_t> absent;
      const auto callers = out_.calls_of(*open[group]);
      for (const ProcessId id : out_.groups[group].members) {
        if (std::ranges::find(callers, id, &MatchedCall::process) == callers.end())
          absent.push_back(catalog_.processes[id].rank);
      }
      if (!absent.empty()) text += fmt::format("; it is not in the trace of {}", rank_list(absent));
      out_.notes.push_back(std::move(text));
    }
  }

  void note_left_out() {
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      const std::uint64_t works = calls_.processes[id].works_without_call;
      if (works > 0)
        out_.notes.push_back(
            fmt::format("{}: the calls of {} NCCL kernels and copies are unknown", rank_text(id), works));
    }
  }

  const CollectiveCalls& calls_;
  const Catalog& catalog_;
  MatchedCollectives out_;
  std::map<CommunicatorId, std::uint32_t> groups_;  // groups with a name
  std::set<ProcessId> unsure_;  // numbers differ from those of other ranks in some communicator, or may
  std::set<ProcessId> agreed_;  // numbers confirmed by times in some communicator
  std::map<std::pair<Place, Place>, Comparison> compared_;  // in the current family
  std::vector<LaneRef> placed_;                             // in groups of the current family
  bool any_unnamed_ = false;
  std::map<CommunicatorId, WaitingGroup> waiting_;        // that may have ranks without its name
  std::set<ProcessId> placed_unnamed_, refused_unnamed_;  // with a lane without a name
  RelatedClocks clocks_;                                  // from matched groups
  FitBudget budget_{kPairsAtLeast};
  std::uint32_t families_put_ = 0;        // numbered from 1
  std::vector<std::uint32_t> family_of_;  // by collective
  std::vector<std::size_t> last_ended_;   // by family: the last collective that all began, + 1; 0 if none
};

constexpr std::array<std::string_view, 5> kStates{"complete", "missing_ranks", "mismatch", "open", "no_gpu_work"};

std::string ranks_text(const Catalog& catalog, const std::vector<ProcessId>& processes) {
  std::vector<std::int64_t> ranks;
  for (const ProcessId id : processes) ranks.push_back(catalog.processes[id].rank);
  return rank_list(ranks);
}

// The ranks in the trace of a communicator with a name, none of whose collectives could be matched.
std::vector<ProcessId> refused_of(const MatchedCollectives& matched, const MatchedGroup& group) {
  std::vector<ProcessId> found;
  if (!group.size_is_told) return found;
  for (const MatchRefusal& each : matched.refusals) {
    const auto is_in = [&](const std::vector<ProcessId>& some) {
      return std::find(some.begin(), some.end(), each.process) != some.end();
    };
    if (each.communicator == group.communicator && !each.point_to_point && !is_in(group.members) && !is_in(found))
      found.push_back(each.process);
  }
  return found;
}

}  // namespace

std::string_view state_name(CollectiveState state) { return kStates[static_cast<std::size_t>(state)]; }

MatchedCollectives match_collectives(const CollectiveCalls& calls, const Catalog& catalog) {
  return Matcher(calls, catalog).take();
}

CollectiveTimes times_of(const MatchedCollectives& matched, const CollectiveCalls& calls,
                         const MatchedCollective& collective) {
  CollectiveTimes times;
  times.all_started = times.all_ended = has_all_ranks(matched, collective);
  const auto some = matched.calls_of(collective);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const CollectiveCall& call = call_of(calls, some[i]);
    times.all_started = times.all_started && call.gpu_start_ns != kNoTime;
    times.all_ended = times.all_ended && call.gpu_end_ns != kNoTime;
    times.end_ns = std::max(times.end_ns, call.gpu_end_ns);
    if (call.gpu_start_ns == kNoTime) continue;
    if (times.first_start_ns == kNoTime || call.gpu_start_ns < times.first_start_ns)
      times.first_start_ns = call.gpu_start_ns;
    if (times.last_start_ns == kNoTime || call.gpu_start_ns > times.last_start_ns) {
      times.last_start_ns = call.gpu_start_ns;
      times.last_call = i;
    }
  }
  const Operation operation = calls.whats[collective.what].operation;
  if (all_depend_on_all(operation) && times.all_started && times.all_ended &&
      collective.state == CollectiveState::complete) {
    times.transfer_ns = times.end_ns - times.last_start_ns;
  }
  return times;
}

std::int64_t ranks_of(const MatchedCollectives& matched, const MatchedCollective& collective) {
  return collective.point_to_point ? 2 : matched.groups[collective.group].size;
}

std::optional<std::int64_t> size_of(const MatchedCollectives& matched, const CollectiveCalls& calls,
                                    const MatchedCollective& collective) {
  const CollectiveWhat& what = calls.whats[collective.what];
  if (what.buffer_bytes >= 0) return what.buffer_bytes;
  if (what.message_bytes < 0) return {};
  return size_of_messages(what.operation, static_cast<std::uint64_t>(what.message_bytes),
                          matched.groups[collective.group].size);
}

std::string trouble_text(const MatchedCollectives& matched, const CollectiveCalls& calls, const Catalog& catalog,
                         const MatchedCollective& collective) {
  if (collective.state == CollectiveState::complete) return {};
  std::map<WhatId, std::vector<ProcessId>> others;
  std::vector<ProcessId> open, untimed, absent = matched.groups[collective.group].members;
  for (const MatchedCall& each : matched.calls_of(collective)) {
    const CollectiveCall& call = call_of(calls, each);
    if (!can_be_same(calls.whats[collective.what], calls.whats[call.what])) others[call.what].push_back(each.process);
    if (call.gpu_end_ns == kNoTime)
      (call.gpu_start_ns != kNoTime || collective.state == CollectiveState::open ? open : untimed)
          .push_back(each.process);
    std::erase(absent, each.process);
  }
  std::string text;
  const auto say = [&](std::string sentence) { text += (text.empty() ? "" : "; ") + std::move(sentence); };
  for (const auto& [what, ranks] : others)
    say(fmt::format("{} called {}, the others {}", ranks_text(catalog, ranks), what_text(calls.whats[what]),
                    what_text(calls.whats[collective.what])));
  if (!open.empty()) say(fmt::format("not ended on {}", ranks_text(catalog, open)));
  if (!untimed.empty()) say(fmt::format("its GPU work is not in the trace of {}", ranks_text(catalog, untimed)));
  if (collective.point_to_point) {
    if (collective.calls < 2) say("its counterpart is not in the trace");
    return text;
  }
  if (!absent.empty()) say(fmt::format("not in the trace of {}", ranks_text(catalog, absent)));
  const MatchedGroup& group = matched.groups[collective.group];
  if (group.size < 0) {
    say("its other ranks are unknown");
    return text;
  }
  const std::vector<ProcessId> refused = refused_of(matched, group);
  if (!refused.empty()) say(fmt::format("could not be matched on {}", ranks_text(catalog, refused)));
  const std::int64_t foreign = group.size - std::ssize(group.members) - std::ssize(refused);
  if (foreign > 0) say(fmt::format("{} of {} ranks are not in the trace", foreign, group.size));
  return text;
}

}  // namespace cli
