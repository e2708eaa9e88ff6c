#include "cli/answers/tables/analyze.h"

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/base/terminal.h"
#include "cli/base/threads.h"
#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/select/step_finder.h"
#include "cli/timeline/select/step_name.h"
#include "cli/trace/clocks.h"
#include "cli/trace/losses.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

// Each walk repeats the work that all members need per event, so more walks cost more than they save.
constexpr std::size_t kMostWalks = 2;

Steps on_axis(Steps steps, const ProcessClocks& clocks) {
  for (ProcessId id = 0; id < steps.size(); ++id) {
    for (Step& step : steps[id]) step = moved(step, [&](std::int64_t ns) { return clocks.on_axis(id, ns); });
  }
  return steps;
}

// Windows by the clocks of the processes, or on the common axis.
Windows windows_of(const AnalysisRequest& request, GroupBy by, const Selector& selector, const TraceFacts& facts,
                   std::size_t processes, bool placed) {
  const auto& time = request.selection.time;
  const auto at = [&](std::int64_t since_ns) {
    return since_ns > kLatest_ns - facts.first_ns ? kLatest_ns : facts.first_ns + since_ns;
  };
  const std::int64_t from_ns = time ? at(time->from_ns) : kEarliest_ns,
                     to_ns = time ? std::min(at(time->to_ns), facts.last_ns) : kLatest_ns;
  std::vector<TimeWindow> times;
  for (ProcessId id = 0; id < processes; ++id) {
    const bool moved = time.has_value() && !placed;
    times.push_back(moved ? TimeWindow{facts.clocks.first_at(id, from_ns), facts.clocks.first_at(id, to_ns)}
                          : TimeWindow{from_ns, to_ns});
  }
  if (by == GroupBy::step || request.selection.steps) {
    Steps steps = selector.chosen(facts.steps);
    return Windows(placed ? on_axis(std::move(steps), facts.clocks) : steps, by == GroupBy::step, times);
  }
  return time ? Windows(times) : Windows(processes);
}

void put_on_axis(CollectiveCalls& calls, const ProcessClocks& clocks) {
  for (ProcessId id = 0; id < calls.processes.size(); ++id) {
    if (clocks.of(id) == nullptr) continue;
    for (CollectiveLane& lane : calls.processes[id].lanes) {
      for (CollectiveCall& call : lane.calls) {
        for (std::int64_t* ns : {&call.host_start_ns, &call.host_end_ns, &call.gpu_start_ns, &call.gpu_end_ns}) {
          if (*ns != kNoTime) *ns = clocks.on_axis(id, *ns);
        }
      }
    }
  }
}

// Returns "" if all processes are ranks.
std::string beside_note(const Catalog& catalog) {
  const std::vector<bool> beside = beside_ranks(catalog);
  std::string who;
  for (ProcessId id = 0; id < beside.size(); ++id) {
    if (beside[id]) who += (who.empty() ? "" : ", ") + process_words(catalog.processes[id]);
  }
  return who.empty() ? "" : who + ": excluded from all tables (no rank, no GPU work)";
}

class AnalysisWalk : public EventSink {
 public:
  struct Member {
    AnalysisContext context;
    ObserverNeeds needs;
    std::unique_ptr<Analysis> analysis = {};  // or
    std::unique_ptr<TablesObserver> last = {};
    TraceObserver* observer = nullptr;  // points to one of the two
    bool walks = true;                  // false if the trace has nothing for it
    ResultTable table = {};             // of an analysis

    bool on_axis() const { return needs.collectives; }
  };

  // `progress` is null if another walk of the same events reports it.
  AnalysisWalk(const Catalog& catalog, const ProcessClocks& clocks, Selector& selector,
               const std::vector<Member*>& members, Progress* progress)
      : catalog_(catalog),
        clocks_(clocks),
        selector_(selector),
        bounds_(catalog, clocks),
        classes_(catalog, own_rules(members)),
        calls_(catalog),
        names_(catalog.strings),
        without_work_(catalog.processes.size()),
        progress_(progress) {
    for (Member* member : members) {
      const bool takes_all = member->needs.any_time || !member->context.windows.are_bounded();
      members_.push_back(member->observer);
      member->context.calls = &calls_;
      const Windows& windows = member->context.windows;
      workers_.push_back({member->observer, takes_all ? nullptr : &windows,
                          windows.are_steps() && !member->needs.by_time, member->on_axis()});
      finds_launches_ = finds_launches_ || windows.are_steps() || member->needs.launches;
      for (std::size_t kind = 0; kind < takers_.size(); ++kind) {
        if (member->needs.kinds.test(kind)) takers_[kind].push_back({member->observer, member->on_axis()});
      }
      if (member->needs.gaps) gap_takers_.push_back(member->observer);
      if (member->on_axis() && !collector_) collector_ = make_call_collector(catalog);
      kinds_ |= member->needs.looked_at();
      if (member->on_axis()) kinds_ |= kinds_of({Kind::garbage_collection, Kind::cpu_op, Kind::user_annotation});
      any_time_ = any_time_ || member->needs.any_time || member->needs.gaps;
    }
    if (!gap_takers_.empty()) gaps_.emplace(catalog);
    if (finds_launches_) kinds_ |= kinds_of({Kind::runtime, Kind::driver});
    for (const Process& process : catalog.processes) records_calls_.push_back(records_calls(process));
  }

  // `chosen` is what the selection itself requires.
  Wanted wanted(const Wanted& chosen) const {
    // Collectives over all ranks need all ranks, whichever are shown
    Wanted wanted = has_collectives() ? Wanted{} : chosen;
    if (any_time_) wanted.times.clear();
    wanted.kinds = WorkClasses::kinds() | kinds_;
    return wanted;
  }

  void event(const Event& read, const Facts& facts) override {
    if (progress_ != nullptr) progress_->step();
    Event room;
    const Event& event = with_cut_overrun(catalog_, read, room);
    if (!bounds_.hold(catalog_.tracks[event.track].process, event)) {
      strays_ += event.kind != Kind::flow;
      return;
    }
    classes_.event(event);
    const bool is_work =
        is_gpu_work(event.kind) && is_slice(event) && catalog_.tracks[event.track].kind == TrackKind::stream;
    if (!is_work) {
      if (collector_) collector_->event(event, facts, false);
      hand_on(event, facts);
      return;
    }
    const WorkClass work_class = classes_.of(event, facts);
    if (collector_) collector_->event(event, facts, work_class == WorkClass::compute);
    if (selector_.judge(event) != LeftOut::kept) return;
    const Track& track = catalog_.tracks[event.track];
    const auto place = calls_.place_of(event.track, event.correlation);
    place ? without_work_.work(track.process, *place) : without_work_.work_without_launch();
    if (event.duration_ns < 0) {
      ++endless_;
      return;
    }
    GpuWork work{.process = track.process, .device = track.group, .start_ns = sane_ns(event.start_ns)};
    work.name = event.name;
    work.kind = event.kind;
    work.work_class = work_class;
    work.event = &event;
    work.facts = &facts;
    if (place) {
      work.call = &calls_.at(work.process, *place);
      work.call_place = *place;
    }
    if (const auto* kernel = facts.get<KernelFacts>()) work.launch = kernel->launch;
    work.end_ns = std::max(work.start_ns, sane_ns(slice_end(event, kLatest_ns)));
    if (finds_launches_ && (work.call != nullptr || !records_calls_[work.process]))
      work.launched_ns = work.call != nullptr ? work.call->start_ns : work.start_ns;
    if (gaps_) {
      std::optional<HostWait> wait;
      if (const auto gap = gaps_->work(work, wait)) tell(*gap);
      if (wait) tell(work.process, *wait);
    }
    GpuWork placed = work;
    if (clocks_.of(work.process) != nullptr) {
      placed.start_ns = clocks_.on_axis(work.process, work.start_ns);
      placed.end_ns = clocks_.on_axis(work.process, work.end_ns);
      if (work.launched_ns) placed.launched_ns = clocks_.on_axis(work.process, *work.launched_ns);
    }
    for (const Worker& each : workers_) {
      if (const GpuWork& seen = each.on_axis ? placed : work; each.takes(seen)) each.observer->work(seen);
    }
  }

  void end_of(ProcessId process) override {
    tell_rest(process);
    if (gaps_) gaps_->forget(process);
    if (collector_) collector_->end_of(process);
    for (TraceObserver* member : members_) member->end_of(process);
    calls_.forget(process);
    classes_.forget(process);
    without_work_.forget(process);
  }

  // Ends every process after the last event if the walk does not report the ends itself.
  void end() {
    for (ProcessId process = 0; process < catalog_.processes.size(); ++process) tell_rest(process);
  }

  std::uint64_t endless() const { return endless_; }
  // Launches without work of the walk's processes, if launches were collected.
  const LaunchesWithoutWork& without_work() const { return without_work_; }
  std::uint64_t strays() const { return strays_; }
  bool has_collectives() const { return collector_ != nullptr; }
  CollectiveCalls take_calls() { return collector_->take(); }

 private:
  // The data of a member that is read for each event, in contiguous memory.
  struct Worker {
    TraceObserver* observer;
    const Windows* windows;  // null if it receives work of all times
    bool by_launch;          // receives work launched in the windows instead of work that runs in them
    bool on_axis;

    bool takes(const GpuWork& work) const {
      if (windows == nullptr) return true;
      if (!by_launch) return windows->hold(work.process, work.start_ns, work.end_ns);
      const TimeWindow& time = windows->time(work.process);
      return work.start_ns < time.to_ns && work.end_ns >= time.from_ns &&
             windows->launched_in(work.process, work.launched_ns);
    }
  };
  struct Taker {
    TraceObserver* observer;
    bool on_axis;
  };

  static const NameRules* own_rules(const std::vector<Member*>& members) {
    for (const Member* member : members) {
      if (member->context.class_rules != nullptr) return member->context.class_rules;
    }
    return nullptr;
  }

  void hand_on(const Event& event, const Facts& facts) {
    if (!kinds_.test(static_cast<std::size_t>(event.kind))) return;
    const ProcessId process = catalog_.tracks[event.track].process;
    if (!selector_.has(process)) return;
    if (is_api_call(event.kind) && event.correlation != 0 && is_slice(event)) {
      const auto place = calls_.add(event);
      if (place && names_[event.name].launches) without_work_.launch(process, *place);
    }
    if (gaps_) {
      if (const auto wait = gaps_->event(event, process)) tell(process, *wait);
    }
    for (const Taker& taker : takers_[static_cast<std::size_t>(event.kind)]) {
      if (!taker.on_axis || clocks_.of(process) == nullptr) {
        taker.observer->event(event, facts);
        continue;
      }
      Event placed = event;
      placed.start_ns = clocks_.on_axis(process, event.start_ns);
      if (event.duration_ns > 0)
        placed.duration_ns =
            std::max<std::int64_t>(0, clocks_.on_axis(process, slice_end(event, kLatest_ns)) - placed.start_ns);
      taker.observer->event(placed, facts);
    }
  }

  void tell_rest(ProcessId process) {
    if (!gaps_) return;
    for (const DeviceGap& gap : gaps_->rest(process)) tell(gap);
  }

  void tell(const DeviceGap& gap) {
    for (TraceObserver* taker : gap_takers_) taker->gap(gap);
  }
  void tell(ProcessId process, const HostWait& wait) {
    for (TraceObserver* taker : gap_takers_) taker->wait(process, wait);
  }

  const Catalog& catalog_;
  const ProcessClocks& clocks_;
  Selector& selector_;
  const TimeBounds bounds_;
  std::uint64_t strays_ = 0;  // events outside of the time bounds
  std::vector<TraceObserver*> members_;
  std::vector<Worker> workers_;
  // By Kind: receivers of events other than GPU work
  std::array<std::vector<Taker>, static_cast<std::size_t>(Kind::count_)> takers_;
  WorkClasses classes_;
  LaunchCalls calls_;
  NameClasses names_;
  LaunchesWithoutWork without_work_;
  std::unique_ptr<CallCollector> collector_;  // null if no member needs collectives
  std::vector<TraceObserver*> gap_takers_;
  std::optional<DeviceGaps> gaps_;   // empty if no member needs gaps
  KindSet kinds_;                    // kinds that any member receives in addition to GPU work
  bool any_time_ = false;            // set if any member needs it
  bool finds_launches_ = false;      // GpuWork::launched_ns is needed
  std::vector<bool> records_calls_;  // by ProcessId
  Progress* progress_;
  std::uint64_t endless_ = 0;  // pieces of work with an unknown end
};

// Returns a rough cost of a walk: the number of pieces of GPU work plus `effort` times the number of events of `kinds`.
std::uint64_t cost_of(KindSet kinds, unsigned effort, const Catalog& catalog) {
  std::uint64_t cost = 0;
  for (const Process& process : catalog.processes) {
    for (const KindInfo& each : kKinds) {
      const auto kind = static_cast<std::size_t>(each.kind);
      if (is_gpu_work(each.kind))
        cost += process.counts[kind];
      else if (kinds.test(kind))
        cost += effort * process.counts[kind];
    }
  }
  return cost;
}

// Distributes the members over the walks. Members that share the collector of collectives, and members that share the
// gaps of devices, stay together; the others are assigned, most expensive first, so that the walks take about as long.
std::vector<std::vector<AnalysisWalk::Member*>> dealt(std::deque<AnalysisWalk::Member>& members, const Catalog& catalog,
                                                      std::size_t walks) {
  struct Party {
    std::uint64_t cost = 0;  // tables of collectives do little work themselves, so this is the cost of the collector
    std::vector<AnalysisWalk::Member*> members;
  };
  Party on_axis, with_gaps;
  std::vector<Party> others;
  for (AnalysisWalk::Member& member : members) {
    if (!member.walks) continue;
    Party& party = member.on_axis() ? on_axis : member.needs.gaps ? with_gaps : others.emplace_back();
    party.cost += cost_of(member.needs.kinds, member.needs.effort, catalog);
    party.members.push_back(&member);
  }
  if (!with_gaps.members.empty()) {
    with_gaps.cost += cost_of(DeviceGaps::kinds(), 1, catalog);
    others.push_back(std::move(with_gaps));
  }
  std::stable_sort(others.begin(), others.end(), [](const Party& a, const Party& b) { return a.cost > b.cost; });
  std::vector<Party> hands(walks);
  hands.front() = std::move(on_axis);
  for (const Party& party : others) {
    Party& fewest =
        *std::min_element(hands.begin(), hands.end(), [](const Party& a, const Party& b) { return a.cost < b.cost; });
    fewest.cost += party.cost;
    fewest.members.insert(fewest.members.end(), party.members.begin(), party.members.end());
  }
  std::vector<std::vector<AnalysisWalk::Member*>> walking;
  for (Party& hand : hands) walking.push_back(std::move(hand.members));
  return walking;
}

void make_tables(std::deque<AnalysisWalk::Member>& members) {
  OrderedWork work(members.size(), std::clamp<std::size_t>(members.size(), 1, usable_cores()));
  work.run({[&](std::size_t i) {
              if (!members[i].analysis) return;
              ResultTable& table = members[i].table;
              members[i].analysis->finish(table);
              for (std::vector<Cell>& row : table.rows) row.resize(table.columns.size());
            },
            [](std::size_t) {}});
}

GroupBy group_of(const AnalysisEntry& entry, GroupBy by) {
  return std::find(entry.by.begin(), entry.by.end(), by) != entry.by.end() ? by : entry.by.front();
}

// The selection of a request, and its observers.
struct RequestScope {
  RequestScope(const AnalysisRequest& request, const Catalog& catalog, const TraceFacts& facts)
      : request(request),
        selection(without_beside(request.selection)),
        chosen(selection, catalog, facts),
        has(catalog.processes.size()),
        steps(chosen.chosen(facts.steps)),
        placed_steps(on_axis(steps, facts.clocks)) {
    for (ProcessId id = 0; id < has.size(); ++id) has[id] = chosen.has(id);
  }
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

  static Selection without_beside(Selection selection) {
    selection.without_beside = true;
    return selection;
  }

  const AnalysisRequest& request;
  const Selection selection;
  const Selector chosen;
  std::vector<bool> has;
  const Steps steps, placed_steps;
  std::vector<AnalysisWalk::Member*> members;
};

// Returns what any of the requests needs.
Wanted wanted_by_any(const std::deque<RequestScope>& scopes) {
  Wanted wanted = scopes.front().chosen.wanted();
  for (const RequestScope& scope : scopes) {
    if (scope.chosen.wanted().times != wanted.times) {
      wanted.times.clear();
      break;
    }
  }
  return wanted;
}

}  // namespace

KindSet ObserverNeeds::looked_at() const { return kinds | (gaps ? DeviceGaps::kinds() : KindSet()); }

EventChoice analyzed_events(const std::vector<const AnalysisEntry*>& analyses, KindSet also) {
  // Launches assign work to steps, and if no step is named, steps are found from the order of launches
  // (select/step_finder.h).
  const bool collectives =
      std::ranges::any_of(analyses, [](const AnalysisEntry* entry) { return entry->needs.collectives; });
  for (const AnalysisEntry* entry : analyses) also |= entry->needs.looked_at();
  return [operators = NameAnswers(), calls = NameAnswers(), kinds = also, collectives](const Catalog& catalog,
                                                                                       const Event& event) mutable {
    if (is_gpu_work(event.kind) || event.kind == Kind::user_annotation ||
        kinds.test(static_cast<std::size_t>(event.kind)))
      return true;
    // Operators that name steps, PyTorch's marks, which end steps in programs that name none, and its collective
    // operators, which describe the kernels launched in them.
    if (event.kind == Kind::cpu_op)
      return operators.is(catalog.strings, event.name, [&](std::string_view name) {
        return step_name(name) || step_mark(name) != StepMark::none || (collectives && is_collective_range_name(name));
      });
    if (is_api_call(event.kind) && calls.is(catalog.strings, event.name, is_launch_name)) return true;
    const bool is_recording = catalog.processes[catalog.tracks[event.track].process].format != SourceFormat::kineto;
    return event.kind == Kind::nvtx ||
           (is_recording && WorkClasses::kinds().test(static_cast<std::size_t>(event.kind)));
  };
}

std::vector<AnalysisResult> analyze_each(OrderedTrace& trace, const TraceFacts& facts,
                                         const std::vector<ProcessSteps>& found,
                                         const std::vector<AnalysisRequest>& requests) {
  const Catalog& catalog = trace.catalog();
  const std::size_t processes = catalog.processes.size();
  std::deque<RequestScope> scopes;
  for (const AnalysisRequest& request : requests) scopes.emplace_back(request, catalog, facts);
  Selection whole = scopes.front().selection;  // windows cut work; the selection of events must not
  whole.steps.reset();
  whole.time.reset();
  Selector selector(whole, catalog, facts);

  const ProcessClocks on_it;
  std::deque<AnalysisWalk::Member> members;
  const auto add = [&](RequestScope& scope, GroupBy by, ObserverNeeds needs) -> AnalysisWalk::Member& {
    bool phases = false;
    for (ProcessId id = 0; id < processes; ++id)
      phases = phases || (scope.has[id] && !catalog.processes[id].phase.empty());
    const AnalysisRequest& request = scope.request;
    const bool placed = needs.collectives;
    AnalysisContext context{catalog,
                            windows_of(request, by, scope.chosen, facts, processes, placed),
                            found,
                            placed ? scope.placed_steps : scope.steps,
                            scope.has,
                            facts.first_ns,
                            placed ? on_it : facts.clocks,
                            {by, phases}};
    context.class_rules = request.class_rules;
    context.flops_per_step = request.flops_per_step;
    context.own_peaks = request.own_peaks;
    AnalysisWalk::Member& member = members.emplace_back(AnalysisWalk::Member{std::move(context), needs});
    scope.members.push_back(&member);
    return member;
  };
  for (RequestScope& scope : scopes) {
    for (const AnalysisEntry* entry : scope.request.analyses) {
      AnalysisWalk::Member& member = add(scope, group_of(*entry, scope.request.by), entry->needs);
      member.table = {entry->name, entry->columns(member.context.keys), {}, {}};
      member.analysis = entry->make(member.context);
      member.observer = member.analysis.get();
      member.walks = entry->can_have_rows == nullptr || entry->can_have_rows(catalog);
    }
    for (const TablesObserverEntry& entry : scope.request.observers) {
      AnalysisWalk::Member& member = add(scope, GroupBy::none, entry.needs);
      member.last = entry.make(member.context);
      member.observer = member.last.get();
    }
  }
  std::vector<std::string> notes;
  if (const std::string left_out = beside_note(catalog); !left_out.empty()) notes.push_back(left_out);
  for (const Process& process : catalog.processes) {
    for (std::string& note : notes_for_analyses(process)) notes.push_back(std::move(note));
  }
  for (std::string& note : notice_notes(catalog)) notes.push_back(std::move(note));
  TraceCollectives collectives;
  bool with_collectives = false;
  std::deque<AnalysisWalk> walks;  // kept until all have finished
  {
    Progress progress("analyzing");
    const std::size_t threads =
        trace.walks_at_once() ? std::clamp<std::size_t>(members.size(), 1, std::min(kMostWalks, usable_cores())) : 1;
    for (const auto& hand : dealt(members, catalog, threads))
      walks.emplace_back(catalog, facts.clocks, selector, hand, walks.empty() ? &progress : nullptr);
    OrderedWork work(walks.size(), threads);
    const Wanted wanted = wanted_by_any(scopes);
    work.run({[&](std::size_t i) {
                trace.walk(walks[i], walks[i].wanted(wanted));
                walks[i].end();
              },
              [](std::size_t) {}});
    AnalysisWalk& walk = walks.front();
    with_collectives = walk.has_collectives();
    if (with_collectives) {
      collectives.calls = walk.take_calls();
      put_on_axis(collectives.calls, facts.clocks);
      collectives.matched = match_collectives(collectives.calls, catalog);
      collectives.clocks = clocks_of(catalog, trace.fits());
    }
    if (walk.strays() > 0) {
      notes.push_back(count_text(walk.strays(), "event", "events") +
                      " far from the rest of the trace in time, excluded from spans and sums");
    }
    if (walk.endless() > 0) {
      notes.push_back(count_text(walk.endless(), "kernel or copy", "kernels and copies") +
                      " had not ended when the trace ended, excluded from sums");
    }
  }
  const auto lacking =
      std::find_if(walks.begin(), walks.end(), [](const AnalysisWalk& walk) { return walk.without_work().are_many(); });
  if (lacking != walks.end()) notes.push_back(lacking->without_work().text());
  for (AnalysisWalk::Member& member : members) member.context.collectives = with_collectives ? &collectives : nullptr;
  make_tables(members);
  std::vector<AnalysisResult> results;
  for (const RequestScope& scope : scopes) {
    AnalysisResult& result = results.emplace_back(AnalysisResult{{}, notes, lacking != walks.end()});
    for (AnalysisWalk::Member* member : scope.members) {
      if (member->analysis) result.tables.push_back(std::move(member->table));
    }
    for (AnalysisWalk::Member* member : scope.members) {
      if (member->last) member->last->finish(result.tables);
    }
  }
  return results;
}

AnalysisResult analyze(OrderedTrace& trace, const TraceFacts& facts, const std::vector<ProcessSteps>& found,
                       const AnalysisRequest& request) {
  return std::move(analyze_each(trace, facts, found, {request}).front());
}

}  // namespace cli
