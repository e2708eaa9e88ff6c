// modules: the cost of each torch.nn.Module, forward and backward, including its submodules.
//
// Work belongs to the modules in whose calls its operator was called. The work of a backward operator belongs to the
// modules of its forward operator (call_paths.h). A module that calls itself counts once.
#include <tuple>

#include "cli/answers/tables/call_paths.h"
#include "cli/answers/tables/cells.h"

namespace cli {
namespace {

std::vector<Column> module_columns(RowKeys keys) {
  return joined(
      rank_columns(keys),
      {{"module", Unit::text, "Path as in named_modules(), or the class names of the enclosing modules and its own"},
       {"class", Unit::text, "Class of the module"},
       {"operators", Unit::count, "Number of operator calls in the module and its submodules, forward and backward"},
       {"cpu_forward_ns", Unit::ns, "Host time of its forward operators"},
       {"cpu_backward_ns", Unit::ns, "Host time of its backward operators"},
       {"gpu_forward_ns", Unit::ns, "Time of kernels, copies and memsets launched by its forward operators"},
       {"gpu_backward_ns", Unit::ns, "Time of kernels, copies and memsets launched by its backward operators"},
       {"gpu_self_ns", Unit::ns, "Forward and backward GPU time without submodules"},
       {"gpu_share_pct", Unit::percent,
        "Share of forward and backward time in all GPU work (of the rank with --by rank)"},
       {"gpu_count", Unit::count, "Number of kernels, copies and memsets"}});
}

class Modules : public Analysis {
 public:
  explicit Modules(const AnalysisContext& context)
      : Analysis(context), paths_(context, context.keys.by == GroupBy::rank) {}

  void event(const Event& event, const Facts& facts) override { paths_.event(event, facts); }
  void work(const GpuWork& work) override { paths_.work(work); }
  void end_of(ProcessId process) override { paths_.end_of(process); }

  void finish(ResultTable& table) override {
    const auto& nodes = paths_.finish();
    std::vector<CallPaths::NodeId> innermost(nodes.size());  // innermost module of each node
    std::vector<Row*> rows(nodes.size());                    // for nodes that are modules
    for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
      const CallPaths::Node& node = nodes[id];
      innermost[id] = innermost[node.parent];
      if (node.label.part == CallPart::module) {
        rows[id] = &row_of(node, rows[innermost[id]]);
        innermost[id] = id;
      }
      whole_ns_[node.group] += node.gpu_ns;
      count(nodes, innermost, rows, id);
    }
    if (rows_.empty()) {
      table.notes.push_back(
          "no module calls in this trace; TRACETOOL_TORCH=stacks records them, and so does with_stack=True of torch.profiler");
      return;
    }
    const auto order = [](const auto& entry) {
      const Row& row = entry.second;
      return std::tuple(entry.first.first, -row.gpu_forward_ns - row.gpu_backward_ns,
                        -row.cpu_forward_ns - row.cpu_backward_ns, std::string_view(entry.first.second));
    };
    for (const auto* entry : sorted_entries(rows_, order)) {
      const auto& [key, row] = *entry;
      append(table.rows.emplace_back(rank_cells(key.first)), row.module, row.module_class, row.operators,
             row.cpu_forward_ns, row.cpu_backward_ns, row.gpu_forward_ns, row.gpu_backward_ns, row.gpu_self_ns,
             percent(row.gpu_forward_ns + row.gpu_backward_ns, whole_ns_[key.first]), row.gpu_count);
    }
    append_endless_note(table.notes, paths_.endless(), "call");
    if (outside_ > 0) {
      table.notes.push_back(
          fmt::format("{} ({}) without a module: the launch is not in the trace or not inside a module call",
                      count_text(outside_, "kernel or copy", "kernels and copies"), duration_text(outside_ns_)));
    }
  }

 private:
  using Key = std::pair<ProcessId, std::string>;
  struct Row {
    std::string module, module_class;
    std::int64_t operators = 0, cpu_forward_ns = 0, cpu_backward_ns = 0, gpu_forward_ns = 0, gpu_backward_ns = 0,
                 gpu_self_ns = 0, gpu_count = 0;
    CallPaths::NodeId counted = 0;  // the last node that was counted
  };

  // `around` is null for an outermost module.
  Row& row_of(const CallPaths::Node& node, const Row* around) {
    const std::string own = module_class(context_.catalog, node.label);
    std::string name = node.label.path != 0 ? std::string(name_of(node.label.path))
                       : around != nullptr  ? around->module + " > " + own
                                            : own;
    Row& row = rows_[{node.group, name}];
    row.module = std::move(name);
    row.module_class = own;
    return row;
  }

  void count(const std::vector<CallPaths::Node>& nodes, const std::vector<CallPaths::NodeId>& innermost,
             const std::vector<Row*>& rows, CallPaths::NodeId id) {
    const CallPaths::Node& node = nodes[id];
    CallPaths::NodeId module = innermost[id];
    if (module == 0) {
      outside_ += static_cast<std::uint64_t>(node.gpu_count);
      outside_ns_ += node.gpu_ns;
      return;
    }
    const bool is_operator = node.label.part == CallPart::operation;
    const std::int64_t cpu_ns = is_operator || node.label.part == CallPart::call ? node.host_ns : 0;
    rows[module]->gpu_self_ns += node.gpu_ns;
    for (; module != 0; module = innermost[nodes[module].parent]) {
      Row& row = *rows[module];
      if (std::exchange(row.counted, id) == id) continue;
      row.operators += is_operator ? node.calls : 0;
      row.gpu_count += node.gpu_count;
      (node.label.backward ? row.cpu_backward_ns : row.cpu_forward_ns) += cpu_ns;
      (node.label.backward ? row.gpu_backward_ns : row.gpu_forward_ns) += node.gpu_ns;
    }
  }

  CallPaths paths_;
  std::map<Key, Row> rows_;
  std::map<ProcessId, std::int64_t> whole_ns_;  // by group
  std::uint64_t outside_ = 0;                   // pieces of work
  std::int64_t outside_ns_ = 0;
};

}  // namespace

AnalysisEntry modules_analysis() {
  return analysis_entry<Modules, module_columns>(
      {.name = "modules",
       .meaning = "torch.nn.Modules: host time of their operators, and GPU time of their forward and backward",
       .by = {GroupBy::none, GroupBy::rank},
       .can_have_rows = CallPaths::has_frames,
       .needs = {.kinds = CallPaths::kinds()}});
}

}  // namespace cli
