// stragglers: how late each rank is to collectives, what that costs the others, and why it is late.
#include "cli/answers/tables/cells.h"
#include "cli/trace/ranks.h"
#include "cli/trace/short_name.h"

namespace cli {
namespace {

std::vector<Column> straggler_columns(RowKeys keys) {
  return joined(
      process_columns(keys),
      {{"straggler", Unit::yes_no,
        "Whether the others wait for this rank alone for at least 2 % of its span, beyond chance"},
       {"late_ns", Unit::ns,
        "Its start minus the median start of all ranks, beyond clock error, summed over collectives"},
       {"waited_ns", Unit::ns, "Time from its own start to the last start, summed over collectives"},
       {"others_waited_ns", Unit::ns, "Time that the others waited for this rank alone, summed over them"},
       {"delayed_ns", Unit::ns, "Delay of the collectives that this rank alone causes"},
       {"times_last", Unit::count, "Number of collectives in which it was the last known rank to start"},
       {"last_completed", Unit::text, "Communicator and ordinal of the last collective that completed on it"},
       {"cause", Unit::text, "Why it is late: host, slow_kernels, more_work, copy, other_collective, unknown"},
       {"evidence", Unit::text, "Difference between its GPU activity and that of other ranks"}});
}

class StragglerTable : public Analysis {
 public:
  using Analysis::Analysis;

  void finish(ResultTable& table) override {
    const std::vector<std::uint32_t> chosen = shown();
    const Lateness lateness = find_stragglers(calls(), matched(), chosen, context_.collectives->clocks);
    const auto completed = last_completed(chosen);
    for (ProcessId id = 0; id < lateness.ranks.size(); ++id) {
      if (context_.chosen[id]) table.rows.push_back(row(id, lateness.ranks[id], completed[id]));
    }
    table.notes = notes(lateness);
    const auto more = collective_notes(context_);
    table.notes.insert(table.notes.end(), more.begin(), more.end());
  }

 private:
  const MatchedCollectives& matched() const { return context_.collectives->matched; }
  const CollectiveCalls& calls() const { return context_.collectives->calls; }
  std::string kernel_name(StringId id) const { return short_name(name_of(id)); }

  std::vector<std::uint32_t> shown() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t at = 0; at < matched().collectives.size(); ++at) {
      if (is_shown(context_, matched().collectives[at])) found.push_back(at);
    }
    return found;
  }

  std::string label(std::uint32_t group) const {
    const std::string& label = calls().communicators[matched().groups[group].communicator].label;
    return label.empty() ? "?" : label;
  }

  // By ProcessId: "0x00000000c0ffee00:17".
  std::vector<std::string> last_completed(const std::vector<std::uint32_t>& chosen) const {
    std::vector<const MatchedCollective*> shown;
    for (const std::uint32_t at : chosen) shown.push_back(&matched().collectives[at]);
    std::vector<std::string> found;
    for (const MatchedCollective* each : last_to_end(*context_.collectives, shown, context_.catalog.processes.size()))
      found.push_back(each == nullptr ? "" : fmt::format("{}:{}", label(each->group), each->ordinal));
    return found;
  }

  std::vector<Cell> row(ProcessId id, const RankLateness& rank, const std::string& completed) const {
    std::vector<Cell> cells = process_cells(id);
    if (rank.collectives == 0) {
      append(cells, Cell(), Cell(), Cell(), Cell(), Cell(), Cell());
    } else {
      append(cells, rank.straggler, rank.late_ns, rank.waited_ns, rank.others_waited_ns, rank.delayed_ns,
             rank.times_last);
    }
    append(cells, text_cell(completed), text_cell(cause_name(rank.reason.cause)), text_cell(evidence(id, rank.reason)));
    return cells;
  }

  std::string evidence(ProcessId id, const LateReason& reason) const {
    const auto more_ns = [&](LateCause cause) { return reason.more_ns[static_cast<std::size_t>(cause)]; };
    switch (reason.cause) {
      case LateCause::none:
        return {};
      case LateCause::host:
        return host_text(id, reason);
      case LateCause::slow_kernels:
        return fmt::format("the same kernels took {} longer than on other ranks; {} took {:.2f} times as long",
                           duration_text(more_ns(reason.cause)), kernel_name(reason.work.name),
                           mean_ns(reason.work) / reason.others_mean_ns);
      case LateCause::more_work:
        return fmt::format("its GPU computed {} longer than others; {} ran {} times here and {} times on others",
                           duration_text(more_ns(reason.cause)), kernel_name(reason.work.name), reason.work.count,
                           reason.others_count);
      case LateCause::copy:
        return fmt::format("its copies took {} longer than on other ranks; {} ran {} times, {} each; on other ranks {}",
                           duration_text(more_ns(reason.cause)), name_of(reason.work.name), reason.work.count,
                           mean_text(mean_ns(reason.work)),
                           reason.others_count == 0
                               ? "never"
                               : fmt::format("{} times, {}", reason.others_count, mean_text(reason.others_mean_ns)));
      case LateCause::other_collective:
        return fmt::format("it spent {} longer than others in collectives of other communicators, most of it in {}",
                           duration_text(more_ns(reason.cause)), label(reason.waited_in));
      case LateCause::unknown:
        return "its GPU activity does not explain the delay";
    }
    return {};
  }

  static double mean_ns(const WorkSum& work) {
    return static_cast<double>(work.sum_ns) / static_cast<double>(work.count);
  }
  static std::string mean_text(double ns) { return duration_text(static_cast<std::int64_t>(ns)); }

  std::string host_text(ProcessId id, const LateReason& reason) const {
    const std::string idle = duration_text(reason.idle_ns);
    if (!reason.knows_launches) return fmt::format("its GPU idled {} longer than others", idle);
    return fmt::format(
        "its GPU idled {} longer than others, {} of it waiting for launches, while its host was mostly {}", idle,
        duration_text(reason.more_ns[static_cast<std::size_t>(LateCause::host)]),
        activity_text(calls().processes[id].host_delay));
  }

  std::string activity_text(const HostDelay& delay) const {
    if (delay.mostly_in_call()) return fmt::format("in {}", name_of(delay.in_calls[0].first));
    return delay.mostly_collecting() ? "in Python's garbage collector" : "outside CUDA calls";
  }

  std::vector<std::string> notes(const Lateness& lateness) const {
    if (lateness.collectives == 0) return {"no collectives in which ranks wait for each other: stragglers are unknown"};
    std::vector<std::int64_t> ranks;
    for (ProcessId id = 0; id < lateness.ranks.size(); ++id) {
      if (lateness.ranks[id].straggler) ranks.push_back(context_.catalog.processes[id].rank);
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::string> found;
    if (ranks.empty()) {
      const auto most = std::ranges::max_element(lateness.ranks, {}, &RankLateness::delayed_ns);
      std::string text = "no stragglers: no single rank makes the others wait for 2 % of its span, beyond chance";
      if (most->delayed_ns > 0) {
        text += fmt::format(
            "; the longest wait is for {}: {}, last in {} of {} collectives",
            rank_list({context_.catalog.processes[static_cast<std::size_t>(most - lateness.ranks.begin())].rank}),
            duration_text(most->delayed_ns), most->times_last, most->collectives);
      }
      found.push_back(std::move(text));
    } else {
      found.push_back(fmt::format("without {} the other ranks would have waited {} less; all ranks waited {}",
                                  rank_list(ranks), duration_text(lateness.set_cost_ns),
                                  duration_text(lateness.waited_ns)));
    }
    if (lateness.by_ends) {
      found.push_back(
          "the clocks of some ranks cannot be compared; their start times are measured from the end of the same collective");
    }
    return found;
  }
};

}  // namespace

AnalysisEntry stragglers_analysis() {
  return analysis_entry<StragglerTable, straggler_columns>(
      {.name = "stragglers",
       .meaning = "Ranks that are late to collectives: cost for the other ranks, and cause",
       .by = {GroupBy::rank},
       .needs = {.collectives = true}});
}

}  // namespace cli
