// stacks: the code locations that operators and GPU work come from: each stack of frames, with the operators and work
// of its innermost frame (call_paths.h).
#include <tuple>

#include "cli/answers/tables/call_paths.h"
#include "cli/answers/tables/cells.h"

namespace cli {
namespace {

std::vector<Column> stack_columns(RowKeys keys) {
  return joined(rank_columns(keys),
                {{"frame", Unit::text, "Innermost frame: file(line): function"},
                 {"operators", Unit::count, "Number of operator calls from this stack, with their backward operators"},
                 {"cpu_ns", Unit::ns, "Host time of the operators"},
                 {"gpu_ns", Unit::ns, "Time of kernels, copies and memsets launched by the operators"},
                 {"gpu_share_pct", Unit::percent, "Share of gpu_ns in all GPU work (of the rank with --by rank)"},
                 {"gpu_count", Unit::count, "Number of kernels, copies and memsets"},
                 {"stack", Unit::text, "All frames, outermost first"}});
}

class Stacks : public Analysis {
 public:
  explicit Stacks(const AnalysisContext& context)
      : Analysis(context), paths_(context, context.keys.by == GroupBy::rank) {}

  void event(const Event& event, const Facts& facts) override { paths_.event(event, facts); }
  void work(const GpuWork& work) override { paths_.work(work); }
  void end_of(ProcessId process) override { paths_.end_of(process); }

  void finish(ResultTable& table) override {
    const auto& nodes = paths_.finish();
    std::vector<Row> rows(nodes.size());  // for nodes that are frames
    std::vector<CallPaths::NodeId> innermost(nodes.size());
    std::map<ProcessId, std::int64_t> whole_ns;  // by group
    bool any = false;
    for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
      const CallPaths::Node& node = nodes[id];
      innermost[id] = is_frame(node.label.part) ? id : innermost[node.parent];
      any = any || is_frame(node.label.part);
      whole_ns[node.group] += node.gpu_ns;
      const bool is_operator = node.label.part == CallPart::operation;
      Row& row = rows[innermost[id]];
      row.operators += is_operator ? node.calls : 0;
      row.cpu_ns += is_operator || node.label.part == CallPart::call ? node.host_ns : 0;
      row.gpu_ns += node.gpu_ns;
      row.gpu_count += node.gpu_count;
    }
    if (!any) {
      table.notes.push_back(
          "no stacks in this trace; TRACETOOL_TORCH=stacks records them, and so does with_stack=True of torch.profiler");
      return;
    }
    std::vector<CallPaths::NodeId> sorted;
    for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
      if (is_frame(nodes[id].label.part) && rows[id].any()) sorted.push_back(id);
    }
    const auto order = [&](CallPaths::NodeId id) {
      return std::tuple(nodes[id].group, -rows[id].gpu_ns, -rows[id].cpu_ns, id);
    };
    std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return order(a) < order(b); });
    for (const CallPaths::NodeId id : sorted)
      table.rows.push_back(cells(nodes, id, rows[id], whole_ns[nodes[id].group]));
    append_endless_note(table.notes, paths_.endless(), "call");
    if (rows[0].gpu_count > 0) {
      table.notes.push_back(
          fmt::format("{} ({}) without a stack: the launch is not in the trace or not inside an operator with a stack",
                      count_text(static_cast<std::uint64_t>(rows[0].gpu_count), "kernel or copy", "kernels and copies"),
                      duration_text(rows[0].gpu_ns)));
    }
  }

 private:
  struct Row {
    std::int64_t operators = 0, cpu_ns = 0, gpu_ns = 0, gpu_count = 0;
    bool any() const { return operators != 0 || cpu_ns != 0 || gpu_count != 0; }
  };

  std::vector<Cell> cells(const std::vector<CallPaths::Node>& nodes, CallPaths::NodeId id, const Row& row,
                          std::int64_t whole_ns) const {
    std::vector<Cell> cells = rank_cells(nodes[id].group);
    std::string stack;
    for (CallPaths::NodeId at = id; at != 0; at = nodes[at].parent) {
      if (is_frame(nodes[at].label.part))
        stack = call_text(context_.catalog, nodes[at].label) + (stack.empty() ? "" : ";") + stack;
    }
    append(cells, call_text(context_.catalog, nodes[id].label), row.operators, row.cpu_ns, row.gpu_ns,
           percent(row.gpu_ns, whole_ns), row.gpu_count, std::move(stack));
    return cells;
  }

  CallPaths paths_;
};

}  // namespace

AnalysisEntry stacks_analysis() {
  return analysis_entry<Stacks, stack_columns>(
      {.name = "stacks",
       .meaning = "Call stacks of operators: host time, and time of the GPU work that they launched",
       .by = {GroupBy::none, GroupBy::rank},
       .can_have_rows = CallPaths::has_frames,
       .needs = {.kinds = CallPaths::kinds()}});
}

}  // namespace cli
