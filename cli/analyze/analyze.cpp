#include "cli/analyze/analyze.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "cli/analyze/work_classes.h"
#include "cli/collectives/call_collector.h"
#include "cli/io/progress.h"
#include "cli/io/units.h"
#include "cli/model/slice.h"
#include "cli/select/step_name.h"

namespace cli {
namespace {

Windows windows_of(const AnalysisRequest& request, GroupBy by, const Selector& selector, const TraceFacts& facts,
                   std::size_t processes) {
  const auto& time = request.selection.time;
  const auto at = [&](std::int64_t since_ns) { return since_ns > kLatest_ns - facts.first_ns ? kLatest_ns : facts.first_ns + since_ns; };
  const std::int64_t from_ns = time ? at(time->from_ns) : kEarliest_ns, to_ns = time ? std::min(at(time->to_ns), facts.last_ns) : kLatest_ns;
  if (by == GroupBy::step || request.selection.steps) {
    return Windows(selector.chosen(facts.steps), by == GroupBy::step, from_ns, to_ns);
  }
  return time ? Windows(processes, from_ns, to_ns) : Windows(processes);
}

class AnalysisWalk : public EventSink {
 public:
  struct Member {
    AnalysisContext context;
    std::unique_ptr<Analysis> analysis;
  };

  AnalysisWalk(const Catalog& catalog, Selector& selector, std::deque<Member>& members, bool collectives)
      : catalog_(catalog), selector_(selector), members_(members), classes_(catalog) {
    if (collectives) collector_ = make_call_collector(catalog);
  }

  void event(const Event& event, const Facts& facts) override {
    progress_.step();
    classes_.event(event);
    const bool is_work = is_gpu_work(event.kind) && is_slice(event) && catalog_.tracks[event.track].kind == TrackKind::stream;
    if (!is_work) return collector_ ? collector_->event(event, facts, false) : void();
    const WorkClass work_class = classes_.of(event, facts);
    if (collector_) collector_->event(event, facts, work_class == WorkClass::compute);
    if (selector_.judge(event) != LeftOut::kept) return;
    if (event.duration_ns < 0) {
      ++endless_;
      return;
    }
    const Track& track = catalog_.tracks[event.track];
    GpuWork work{track.process, track.group, sane_ns(event.start_ns), 0, event.name, event.kind,
                 work_class};
    if (const auto* kernel = facts.get<KernelFacts>()) work.launch = kernel->launch;
    work.end_ns = std::max(work.start_ns, sane_ns(slice_end(event, kLatest_ns)));
    for (Member& member : members_) {
      if (member.context.windows.hold(work.process, work.start_ns, work.end_ns)) member.analysis->work(work);
    }
  }

  std::uint64_t endless() const { return endless_; }
  CollectiveCalls take_calls() { return collector_->take(); }

 private:
  const Catalog& catalog_;
  Selector& selector_;
  std::deque<Member>& members_;
  WorkClasses classes_;
  std::unique_ptr<CallCollector> collector_;  // null: nobody asks for collectives
  Progress progress_{"analyzing"};
  std::uint64_t endless_ = 0;  // pieces of work whose end is not known
};

GroupBy group_of(const AnalysisRow& row, GroupBy by) {
  return std::find(row.by.begin(), row.by.end(), by) != row.by.end() ? by : row.by.front();
}

}  // namespace

EventChoice analyzed_events() {
  // By StringId, of operators, as which older profiles have their steps: 0 not seen, 1 no step, 2 a step.
  return [names = std::vector<std::uint8_t>()](const Catalog& catalog, const Event& event) mutable {
    const auto is_step = [&] {
      if (event.name >= names.size()) names.resize(std::max(catalog.strings.size(), event.name + std::size_t{1}));
      if (names[event.name] == 0) names[event.name] = step_name(catalog.strings[event.name]) ? 2 : 1;
      return names[event.name] == 2;
    };
    if (is_gpu_work(event.kind) || event.kind == Kind::user_annotation) return true;
    if (event.kind == Kind::cpu_op) return is_step();
    const bool is_recording = catalog.processes[catalog.tracks[event.track].process].format == SourceFormat::ring;
    return event.kind == Kind::nvtx || (is_recording && WorkClasses::kinds().test(static_cast<std::size_t>(event.kind)));
  };
}

AnalysisResult analyze(OrderedTrace& trace, const TraceFacts& facts, const std::vector<std::string>& found_by,
                       const AnalysisRequest& request) {
  const Catalog& catalog = trace.catalog();
  const std::size_t processes = catalog.processes.size();
  const Selector chosen(request.selection, catalog, facts);
  std::vector<bool> has(processes);
  for (ProcessId id = 0; id < processes; ++id) has[id] = chosen.has(id);
  Selection whole = request.selection;  // windows cut work, which the choice of events does not
  whole.steps.reset(), whole.time.reset();
  Selector selector(whole, catalog, facts);

  bool phases = false;
  for (ProcessId id = 0; id < processes; ++id) phases = phases || (has[id] && !catalog.processes[id].phase.empty());

  std::deque<AnalysisWalk::Member> members;
  for (const AnalysisRow* row : request.analyses) {
    const GroupBy by = group_of(*row, request.by);
    members.push_back({{catalog, windows_of(request, by, chosen, facts, processes), found_by, has, facts.first_ns, {by, phases}, nullptr}, nullptr});
    members.back().analysis = row->make(members.back().context);
  }
  AnalysisResult result;
  TraceCollectives collectives;
  const bool with_collectives = std::any_of(request.analyses.begin(), request.analyses.end(), [](auto* row) { return row->needs_collectives; });
  {
    AnalysisWalk walk(catalog, selector, members, with_collectives);
    // What is one over all ranks needs all of them, whichever are shown.
    Wanted wanted = with_collectives ? Wanted{} : chosen.wanted();
    wanted.kinds = WorkClasses::kinds();
    trace.walk(walk, wanted);
    if (with_collectives) {
      collectives.calls = walk.take_calls();
      collectives.matched = match_collectives(collectives.calls, catalog);
    }
    if (walk.endless() > 0) {
      result.notes.push_back(count_text(walk.endless(), "kernel or copy", "kernels and copies") +
                             " had not ended where the trace ends, and are in no sum");
    }
  }
  for (AnalysisWalk::Member& member : members) member.context.collectives = with_collectives ? &collectives : nullptr;
  for (AnalysisWalk::Member& member : members) result.tables.push_back(member.analysis->finish());
  return result;
}

}  // namespace cli
