// operators: host and GPU time of each operator of a profile, as in torch.profiler's key_averages().
//
// Operators, annotations, Python functions and CUDA calls are nested by time on their thread. The parent of each is the
// one that began last among those that contain it. (PyTorch: _build_tree in torch/autograd/profiler_util.py,
// _parse_kineto_results in torch/autograd/profiler.py. PyTorch joins kernels by External id. In current profiles it
// identifies the same operator; in older ones it is another number, so the time of the call is used here.)
//   cpu_self  the operator without its direct children (operators, annotations, Python functions, CUDA calls)
//   gpu_self  kernels, copies and memsets launched by calls whose innermost operator it is
//   cpu, gpu  including all children; an operator nested in another one of its name counts in both
// An operator that is the only child of one with the same name (key_averages.h) has no call and no totals of its own,
// and its self times are added to the outer one.
#include <numeric>
#include <tuple>

#include "cli/answers/tables/call_paths.h"
#include "cli/answers/tables/cells.h"
#include "cli/trace/operator_inputs.h"
#include "common/hash.h"

namespace cli {
namespace {

std::vector<Column> operator_columns(RowKeys keys) {
  std::vector<Column> columns = joined(rank_columns(keys), {{"name", Unit::text, "Operator name"}});
  if (keys.by == GroupBy::shape)
    columns.push_back(
        {"shapes", Unit::text, "Input sizes as PyTorch lists them ([] is no tensor); unknown if the profile has none"});
  if (keys.by == GroupBy::stack)
    columns.push_back(
        {"stack", Unit::text, "Five innermost calling frames, outermost first; unknown if the trace has no stacks"});
  return joined(std::move(columns),
                {{"calls", Unit::count, "Number of calls"},
                 {"cpu_ns", Unit::ns, "Total time on the host"},
                 {"cpu_self_ns", Unit::ns,
                  "Host time without the operators, annotations, Python functions and CUDA calls directly in it"},
                 {"gpu_ns", Unit::ns, "Time of kernels, copies and memsets launched in the operator"},
                 {"gpu_self_ns", Unit::ns, "Time of GPU work launched by the operator itself"},
                 {"gpu_share_pct", Unit::percent, "Share of gpu_self_ns in all GPU work (of the rank with --by rank)"},
                 {"gpu_count", Unit::count, "Number of kernels, copies and memsets in gpu_self_ns"},
                 {"module", Unit::text, "TorchScript module that called it, if it is the same for all calls"}});
}

// Input sizes as PyTorch lists them.
std::string shape_text(const Catalog& catalog, OperatorInputId inputs) {
  std::string out = "[";
  for (const OperatorInput& input : inputs_of(catalog, inputs)) {
    if (out.size() > 1) out += ", ";
    out += input.elements != 0 ? shape_text(catalog, input.elements)
                               : fmt::format("[{}]", fmt::join(dims_of(catalog, input.dims), ", "));
  }
  return out + "]";
}

// PyTorch omits these frames (_filter_stack_entry in torch/autograd/profiler_util.py).
bool is_of_backward_call(std::string_view frame) {
  const auto has = [&](std::string_view text) { return frame.find(text) != frame.npos; };
  return (has("autograd/__init__") && (has("_make_grads") || has("backward"))) ||
         (has("torch/tensor") && has("backward"));
}

// The innermost frames of a stack, by which key_averages(group_by_stack_n=5) distinguishes stacks.
std::string inner_frames_text(const Catalog& catalog, const std::vector<CallPaths::Node>& nodes, CallPaths::NodeId at) {
  constexpr std::size_t kFrames = 5;
  std::string out;
  std::size_t count = 0;
  for (; at != 0 && count < kFrames; at = nodes[at].parent) {
    const CallPaths::Label& label = nodes[at].label;
    if (!is_frame(label.part)) continue;
    std::string frame = call_text(catalog, label);
    if (is_of_backward_call(frame)) continue;
    out = count == 0 ? std::move(frame) : std::move(frame) + ";" + out;
    ++count;
  }
  return out;
}

class Operators : public Analysis {
 public:
  explicit Operators(const AnalysisContext& context)
      : Analysis(context),
        host_(context.windows.host()),
        utilities_(context.catalog.strings),
        ranges_(context),
        work_ns_(context.catalog.processes.size()) {
    nodes_.push_back({});
    if (by(GroupBy::stack)) paths_.emplace(context, false);
  }

  void event(const Event& event, const Facts& facts) override {
    if (paths_) paths_->event(event, facts);
    if (!is_slice(event) || event.kind == Kind::nccl || event.kind == Kind::stack) return;
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
    const Operator* launcher = ranges_.of(work);
    if (launcher == nullptr || launcher->node == 0) {
      ++unclaimed_;
      unclaimed_ns_ += ns;
      return;
    }
    nodes_[launcher->node].gpu_ns += ns;
    for (Only* only = launcher->only.get(); only != nullptr; only = only->around.get()) {
      only->gpu_ns += ns;
      if (only->is_merged) only->row->gpu_ns -= ns;
    }
    add_self(*launcher, {0, ns, 1});
  }

  void end_of(ProcessId process) override {
    if (paths_) paths_->end_of(process);
    ranges_.end_of(process, [&](const Event& call) { enter(call, nullptr); });
  }

  void finish(ResultTable& table) override {
    ranges_.settle([&](const Event& call) { enter(call, nullptr); });
    for (NodeId at = static_cast<NodeId>(nodes_.size()) - 1; at != 0; --at) {  // children come after their parents
      nodes_[nodes_[at].parent].gpu_ns += nodes_[at].gpu_ns;
      nodes_[at].row->gpu_ns += nodes_[at].gpu_ns;
    }
    if (rows_.empty()) {
      table.notes.push_back(
          "no operators in this trace; torch.profiler and TRACETOOL_TORCH=ops record them; --only regions shows ranges");
      return;
    }
    const auto order = [&](const auto& entry) {
      const auto& [key, row] = entry;
      return std::tuple(key.group, -row.gpu_ns, -row.cpu_ns, name_of(key.name), texts_[key.detail]);
    };
    const std::int64_t whole_ns = std::accumulate(work_ns_.begin(), work_ns_.end(), std::int64_t{0});
    for (const auto* entry : sorted_entries(rows_, order)) {
      if (entry->second.calls > 0) table.rows.push_back(cells(entry->first, entry->second, whole_ns));
    }
    append_endless_note(table.notes, endless_, "operator");
    if (unclaimed_ > 0) {
      table.notes.push_back(
          fmt::format("{} ({}) without an operator: the launch is not in the trace or not inside an operator",
                      count_text(unclaimed_, "kernel or copy", "kernels and copies"), duration_text(unclaimed_ns_)));
    }
  }

 private:
  using NodeId = std::uint32_t;
  struct SelfTimes {
    std::int64_t cpu_ns = 0, gpu_ns = 0, gpu_count = 0;
  };
  struct Key {
    ProcessId group = 0;
    StringId name = 0;
    std::uint32_t detail = 0;  // id of its text; 0 if none or unknown
    auto operator<=>(const Key&) const = default;
  };
  struct Row {
    std::int64_t calls = 0, cpu_ns = 0, cpu_self_ns = 0, gpu_ns = 0, gpu_self_ns = 0, gpu_count = 0;
    StringId module = 0;
    bool one_module = true;
  };
  // A row within another row: a call path, which many calls share.
  struct Node {
    NodeId parent = 0;
    Row* row = nullptr;
    std::int64_t gpu_ns =
        0;  // GPU time of work launched directly by this operator; finish() adds the time of its children
  };
  struct Way {
    NodeId parent = 0;
    Key key;
    bool operator==(const Way&) const = default;
  };
  struct WayHash {
    std::size_t operator()(const Way& way) const {
      const Key& key = way.key;
      return (std::uint64_t{way.parent} << 32 | key.name) ^ trace::spread(std::uint64_t{key.group} << 32 | key.detail);
    }
  };
  // An operator that is an only child of an operator with the same name so far, and is merged into it until another
  // child begins. Lives as long as GPU work launched in it may arrive.
  struct Only {
    Row *row = nullptr, *outer = nullptr;  // its own row, and that of the operator around it
    std::shared_ptr<Only> around;          // the innermost other Only around it
    bool outer_is_only = false;            // `around` is its direct parent
    bool is_merged = true;
    bool counts = false;  // the call is in the window
    StringId module = 0;
    std::int64_t cpu_ns = 0, gpu_ns = 0;  // totals
    SelfTimes self;                       // including those of operators merged into it
  };
  // The innermost operator around something.
  struct Operator {
    NodeId node = 0;             // 0 if none
    std::shared_ptr<Only> only;  // the innermost Only around; null if none
    bool is_only = false;        // the operator itself is an Only
  };
  // For an operator, the innermost operator is itself. Annotations, Python functions and calls have the operator around
  // them and no row.
  struct Entered {
    Operator innermost;
    Row* row = nullptr;
    StringId name = 0;
    OnlyChild<std::shared_ptr<Only>> inside;
  };

  // `operated` is null for a call.
  void enter(const Event& event, const OperatorFacts* operated) {
    if (event.kind == Kind::cpu_op && utilities_.holds(event.name)) return;
    const ProcessId process = context_.catalog.tracks[event.track].process;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    Entered* around = ranges_.around(event.track, event.start_ns, end_ns);
    const std::int64_t ns = event.duration_ns < 0 ? 0 : host_.inside_ns(process, event.start_ns, end_ns);
    const bool is_in_operator = around != nullptr && around->row != nullptr;
    if (is_in_operator) add_self(around->innermost, {-ns, 0, 0});
    const bool may_be_only =
        is_in_operator && around->inside.begin([](const std::shared_ptr<Only>& only) { part(*only); });
    Entered entered;
    if (around != nullptr) entered.innermost = around->innermost;
    if (operated == nullptr) {
      ranges_.launches(event, entered.innermost);
    } else if (event.kind == Kind::cpu_op) {
      Operator& own = entered.innermost;
      own.node = node(own.node, {by(GroupBy::rank) ? process : 0, event.name, detail(*operated)});
      Row& row = *nodes_[own.node].row;
      entered.row = &row;
      entered.name = event.name;
      const bool counts = host_.hold(process, event.start_ns, end_ns);
      if (may_be_only && around->name == event.name) {
        own.only = std::make_shared<Only>(
            Only{&row, around->row, own.only, own.is_only, true, counts, operated->module, ns, 0, {}});
        around->inside.merge(own.only);
        own.is_only = true;
      } else {
        own.is_only = false;
        row.cpu_ns += ns;
        if (counts) add_call(row, operated->module);
      }
      add_self(own, {ns, 0, 0});
    }
    endless_ += operated != nullptr && event.kind == Kind::cpu_op && event.duration_ns < 0;
    ranges_.open(event.track, {event.start_ns, end_ns, std::move(entered)});
  }

  void add_self(const Operator& of, const SelfTimes& times) {
    add_to(*nodes_[of.node].row, times);
    if (of.is_only) merge_self(of.only.get(), times);
  }
  // Adds the times to the operators that it is merged into.
  static void merge_self(Only* only, const SelfTimes& times) {
    while (only != nullptr) {
      only->self = {only->self.cpu_ns + times.cpu_ns, only->self.gpu_ns + times.gpu_ns,
                    only->self.gpu_count + times.gpu_count};
      if (!only->is_merged) return;
      add_to(*only->row, negative(times));
      add_to(*only->outer, times);
      only = only->outer_is_only ? only->around.get() : nullptr;
    }
  }
  // Undoes the merge: it is not the only child any more.
  static void part(Only& only) {
    only.is_merged = false;
    if (only.counts) add_call(*only.row, only.module);
    only.row->cpu_ns += only.cpu_ns;
    only.row->gpu_ns += only.gpu_ns;
    add_to(*only.row, only.self);
    add_to(*only.outer, negative(only.self));
    if (only.outer_is_only) merge_self(only.around.get(), negative(only.self));
  }
  static SelfTimes negative(const SelfTimes& times) { return {-times.cpu_ns, -times.gpu_ns, -times.gpu_count}; }
  static void add_to(Row& row, const SelfTimes& times) {
    row.cpu_self_ns += times.cpu_ns;
    row.gpu_self_ns += times.gpu_ns;
    row.gpu_count += times.gpu_count;
  }
  static void add_call(Row& row, StringId module) {
    row.one_module = row.one_module && (row.calls == 0 || row.module == module);
    row.module = module;
    ++row.calls;
  }

  std::uint32_t detail(const OperatorFacts& newest) {
    const std::uint32_t id = paths_ ? paths_->innermost_frame() : by(GroupBy::shape) ? newest.inputs.value : 0;
    if (id == 0) return 0;
    const auto [known, is_new] = details_.try_emplace(id, 0);
    if (is_new)
      known->second = texts_.intern(paths_ ? inner_frames_text(context_.catalog, paths_->nodes(), id)
                                           : shape_text(context_.catalog, newest.inputs));
    return known->second;
  }

  NodeId node(NodeId parent, const Key& key) {
    const auto [known, is_new] = ways_.try_emplace({parent, key}, static_cast<NodeId>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, &rows_[key], 0});
    return known->second;
  }

  std::vector<Cell> cells(const Key& key, const Row& row, std::int64_t whole_ns) const {
    std::vector<Cell> cells = rank_cells(key.group);
    append(cells, name_of(key.name));
    if (by(GroupBy::shape) || paths_) cells.push_back(text_cell(texts_[key.detail]));
    append(cells, row.calls, row.cpu_ns, row.cpu_self_ns, row.gpu_ns, row.gpu_self_ns,
           percent(row.gpu_self_ns, by(GroupBy::rank) ? work_ns_[key.group] : whole_ns), row.gpu_count,
           row.one_module && row.module != 0 ? cell_of(name_of(row.module)) : Cell());
    return cells;
  }

  const Windows host_;
  std::optional<CallPaths> paths_;  // if rows are by stack
  std::unordered_map<std::uint32_t, std::uint32_t>
      details_;  // by OperatorInputId or the NodeId of a frame: id of a text
  Strings texts_;
  std::map<Key, Row> rows_;
  std::vector<Node> nodes_;  // node 0 is none
  std::unordered_map<Way, NodeId, WayHash> ways_;
  UtilityOperators utilities_;
  LaunchRanges<Entered, Operator> ranges_;
  std::vector<std::int64_t> work_ns_;  // by process
  std::uint64_t endless_ = 0;          // operators without an end
  std::uint64_t unclaimed_ = 0;        // pieces of work without an operator
  std::int64_t unclaimed_ns_ = 0;
};

}  // namespace

AnalysisEntry operators_analysis() {
  return analysis_entry<Operators, operator_columns>(
      {.name = "operators",
       .meaning = "Operators of a profile: calls, host time, and time of the GPU work that they launched",
       .by = {GroupBy::none, GroupBy::rank, GroupBy::shape, GroupBy::stack},
       .needs = {.kinds = CallPaths::kinds(), .effort = 2}});
}

}  // namespace cli
