// operators: what each operator of a profile costs on the host and on the GPU, as torch.profiler's key_averages() has it.
//
// Operators, annotations and CUDA calls lie in each other by time on their thread: each directly in the one that began last
// of those that hold it whole. (PyTorch: _build_tree in torch/autograd/profiler_util.py, _parse_kineto_results in
// torch/autograd/profiler.py. It joins kernels by External id, which in profiles of today names the same operator; in older
// ones it is another number. So the time of the call decides here.)
//   cpu_self  of the operator without the operators, annotations and CUDA calls that lie directly in it
//   gpu_self  of kernels, copies and memsets that a call launched whose innermost operator it is
//   cpu, gpu  with all that lies in it; where an operator lies in one of its own name, both count
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "cli/analyze/cells.h"
#include "cli/analyze/launch_ranges.h"
#include "cli/io/units.h"
#include "cli/model/operator_inputs.h"

namespace cli {
namespace {

std::vector<Column> operator_columns(RowKeys keys) {
  std::vector<Column> columns = keys.by == GroupBy::rank ? process_columns(keys) : std::vector<Column>();
  columns.push_back({"name", Unit::text, "Of the operator"});
  if (keys.by == GroupBy::shape) columns.push_back({"shapes", Unit::text, "Sizes of its inputs, as PyTorch lists them: [] is no tensor; unknown where the profile has none"});
  return joined(std::move(columns), {
      {"calls", Unit::count, "How often it was called"},
      {"cpu_ns", Unit::ns, "All its time on the host"},
      {"cpu_self_ns", Unit::ns, "Without the operators, annotations and CUDA calls directly in it"},
      {"gpu_ns", Unit::ns, "All durations of what was launched in it: kernels, copies, memsets"},
      {"gpu_self_ns", Unit::ns, "Of what was launched by it, and not by an operator in it"},
      {"gpu_share_pct", Unit::percent, "Of gpu_self in that of all GPU work; by rank, of the rank's"},
      {"gpu_count", Unit::count, "Kernels, copies and memsets in gpu_self"},
      {"module", Unit::text, "Where TorchScript called it; only where all its calls have the same"}});
}

// The text of inputs' sizes, made once for each list of inputs.
class ShapeTexts {
 public:
  using Id = std::uint32_t;  // the same for inputs of the same sizes; 0: unknown

  explicit ShapeTexts(const Catalog& catalog) : catalog_(catalog) { texts_.intern(""); }
  Id of(OperatorInputId inputs) {
    if (inputs == 0) return 0;
    const auto [known, is_new] = ids_.try_emplace(inputs, 0);
    if (is_new) known->second = texts_.intern(text(inputs));
    return known->second;
  }
  std::string_view operator[](Id id) const { return texts_[id]; }

 private:
  std::string text(OperatorInputId inputs) const {
    std::string out = "[";
    for (const OperatorInput& input : inputs_of(catalog_, inputs)) {
      if (out.size() > 1) out += ", ";
      out += input.elements != 0 ? text(input.elements) : fmt::format("[{}]", fmt::join(dims_of(catalog_, input.dims), ", "));
    }
    return out + "]";
  }

  const Catalog& catalog_;
  std::unordered_map<std::uint32_t, Id> ids_;
  Strings texts_;
};

class Operators : public Analysis {
 public:
  explicit Operators(const AnalysisContext& context)
      : context_(context), host_(context.windows.host()), shapes_(context.catalog), ranges_(context), work_ns_(context.catalog.processes.size()) {
    nodes_.push_back({});
  }

  void event(const Event& event, const Facts& facts) override {
    if (!is_slice(event)) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { enter(call, nullptr); });
    if (is_api_call(event.kind)) return ranges_.call(event);
    const auto* operated = facts.get<OperatorFacts>();
    const OperatorFacts none;
    enter(event, operated != nullptr ? operated : &none);
  }

  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { enter(call, nullptr); });
    const std::int64_t ns = share_ns(context_.windows, work);
    work_ns_[work.process] += ns;
    const NodeId* launcher = ranges_.of(work);
    const NodeId node = launcher != nullptr ? *launcher : 0;
    if (node == 0) {
      ++unclaimed_;
      unclaimed_ns_ += ns;
      return;
    }
    Row& row = *nodes_[node].row;
    row.gpu_self_ns += ns;
    ++row.gpu_count;
    for (NodeId at = node; at != 0; at = nodes_[at].parent) nodes_[at].row->gpu_ns += ns;
  }

  void end_of(ProcessId process) override {
    ranges_.end_of(process, [&](const Event& call) { enter(call, nullptr); });
  }

  ResultTable finish() override {
    ResultTable table{"operators", operator_columns(context_.keys), {}, {}};
    ranges_.settle([&](const Event& call) { enter(call, nullptr); });
    if (rows_.empty()) {
      table.notes.push_back("there are no operators in this trace: profiles of torch.profiler have them, and recordings with TRACETOOL_TORCH=ops; ranges are in --only regions");
      return table;
    }
    std::vector<std::pair<const Key*, const Row*>> sorted;
    for (const auto& [key, row] : rows_) {
      if (row.calls > 0) sorted.push_back({&key, &row});
    }
    const auto order = [&](const auto& each) {
      return std::tuple(each.first->group, -each.second->gpu_ns, -each.second->cpu_ns, context_.catalog.strings[each.first->name], shapes_[each.first->shapes]);
    };
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
    for (const auto& [key, row] : sorted) table.rows.push_back(cells(*key, *row));
    if (unclaimed_ > 0) {
      table.notes.push_back(fmt::format("{} ({}) of no operator: their launch is not in the trace, or in no operator there", count_text(unclaimed_, "kernel or copy", "kernels and copies"), duration_text(unclaimed_ns_)));
    }
    return table;
  }

 private:
  using NodeId = std::uint32_t;
  struct Key {
    ProcessId group = 0;
    StringId name = 0;
    ShapeTexts::Id shapes = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Row {
    std::int64_t calls = 0, cpu_ns = 0, cpu_self_ns = 0, gpu_ns = 0, gpu_self_ns = 0, gpu_count = 0;
    StringId module = 0;
    bool one_module = true;
  };
  // A row within that of another: a way of calls. Many calls go one way.
  struct Node {
    NodeId parent = 0;
    Row* row = nullptr;
  };
  struct Way {
    NodeId parent = 0;
    Key key;
    bool operator==(const Way&) const = default;
  };
  struct WayHash {
    std::size_t operator()(const Way& way) const {
      const Key& key = way.key;
      return (std::uint64_t{way.parent} << 32 | key.name) ^ (std::uint64_t{key.group} << 32 | key.shapes) * 0x9e3779b97f4a7c15u;
    }
  };
  // Of an operator its own; of an annotation or a call that of the operator around it, and no row.
  struct Entered {
    NodeId node = 0;
    Row* row = nullptr;
  };

  // `operated`: null of a call.
  void enter(const Event& event, const OperatorFacts* operated) {
    const ProcessId process = context_.catalog.tracks[event.track].process;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    const Entered around = around_of(event, end_ns);
    const std::int64_t ns = event.duration_ns < 0 ? 0 : host_.inside_ns(process, event.start_ns, end_ns);
    if (around.row != nullptr) around.row->cpu_self_ns -= ns;
    Entered entered{around.node, nullptr};
    if (operated == nullptr) {
      ranges_.launches(event, around.node);
    } else if (event.kind == Kind::cpu_op) {
      const bool by_rank = context_.keys.by == GroupBy::rank, by_shape = context_.keys.by == GroupBy::shape;
      const NodeId own = node(around.node, {by_rank ? process : 0, event.name, by_shape ? shapes_.of(operated->inputs) : 0});
      Row& row = *nodes_[own].row;
      if (host_.hold(process, event.start_ns, end_ns)) {
        row.one_module = row.one_module && (row.calls == 0 || row.module == operated->module);
        row.module = operated->module;
        ++row.calls;
      }
      row.cpu_ns += ns;
      row.cpu_self_ns += ns;
      entered = {own, &row};
    }
    ranges_.open(event.track, {event.start_ns, end_ns, entered});
  }

  Entered around_of(const Event& event, std::int64_t end_ns) {
    const auto& open = ranges_.open_at(event.track, event.start_ns);
    const auto found = std::find_if(open.rbegin(), open.rend(), [&](const auto& each) { return each.end_ns >= end_ns; });
    return found == open.rend() ? Entered{} : found->range;
  }

  NodeId node(NodeId parent, const Key& key) {
    const auto [known, is_new] = ways_.try_emplace({parent, key}, static_cast<NodeId>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, &rows_[key]});
    return known->second;
  }

  std::vector<Cell> cells(const Key& key, const Row& row) const {
    const bool by_rank = context_.keys.by == GroupBy::rank;
    std::vector<Cell> cells;
    if (by_rank) append_process(cells, context_.catalog.processes[key.group], context_.keys);
    cells.emplace_back(std::string(context_.catalog.strings[key.name]));
    if (context_.keys.by == GroupBy::shape) key.shapes == 0 ? cells.emplace_back() : cells.emplace_back(std::string(shapes_[key.shapes]));
    std::int64_t whole_ns = 0;
    for (ProcessId id = 0; id < work_ns_.size(); ++id) whole_ns += !by_rank || id == key.group ? work_ns_[id] : 0;
    append(cells, row.calls, row.cpu_ns, row.cpu_self_ns, row.gpu_ns, row.gpu_self_ns, percent(row.gpu_self_ns, whole_ns), row.gpu_count);
    row.one_module && row.module != 0 ? cells.emplace_back(std::string(context_.catalog.strings[row.module])) : cells.emplace_back();
    return cells;
  }

  const AnalysisContext& context_;
  const Windows host_;
  ShapeTexts shapes_;
  std::map<Key, Row> rows_;
  std::vector<Node> nodes_;  // 0: of none
  std::unordered_map<Way, NodeId, WayHash> ways_;
  LaunchRanges<Entered, NodeId> ranges_;
  std::vector<std::int64_t> work_ns_;  // by process
  std::uint64_t unclaimed_ = 0;        // pieces of work
  std::int64_t unclaimed_ns_ = 0;
};

}  // namespace

AnalysisEntry operators_analysis() {
  return {.name = "operators",
          .meaning = "Each operator of a profile: calls, its time on the host, and that of the GPU work it launched",
          .by = {GroupBy::none, GroupBy::rank, GroupBy::shape},
          .columns = operator_columns,
          .make = make_analysis<Operators>,
          .on_request = true,
          .needs = {.kinds = kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::runtime, Kind::driver}), .effort = 2}};
}

}  // namespace cli
