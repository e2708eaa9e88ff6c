#include "cli/answers/tables/call_paths.h"

#include <algorithm>

#include "cli/base/text.h"
#include "cli/timeline/select/step_name.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"

namespace cli {

namespace {

// Operators of several threads have this number, so the forward operator is unknown
constexpr TrackId kSeveral = ~TrackId{0};
constexpr std::size_t kMostCallStacks = 1 << 12;  // per process, for calls that may still come
constexpr std::size_t kMostForwards = 1 << 16;    // per thread, for backward operators that may still come

CallPart part_of(std::uint8_t what) {
  if (what == StackFrame::kModule) return CallPart::module;
  return what == StackFrame::kNative ? CallPart::native : CallPart::python;
}

CallPaths::Label label_of(const StackFrame& frame) {
  CallPaths::Label label;
  label.part = part_of(frame.what);
  label.name = frame.name;
  label.file = frame.file;
  label.path = frame.path;
  label.line = frame.line;
  label.address = label.part == CallPart::native ? frame.instance : 0;
  return label;
}

CallPaths::Label label_of(const Event& event, const Facts* facts) {
  CallPaths::Label label;
  label.name = event.name;
  switch (event.kind) {
    case Kind::cpu_op:
      label.part = CallPart::operation;
      break;
    case Kind::user_annotation:
      label.part = CallPart::range;
      break;
    case Kind::python_function: {
      const auto* frame = facts != nullptr ? facts->get<FrameFacts>() : nullptr;
      label.part = frame != nullptr && frame->module_id != FrameFacts::kNone ? CallPart::module : CallPart::python;
      break;
    }
    default:
      label.part = CallPart::call;
      break;
  }
  return label;
}

}  // namespace

std::string unnumbered_step(std::string_view name) {
  if (!step_name(name)) return std::string(name);
  const std::size_t count = name.rfind('/');  // "step 12/2315"
  if (count != name.npos && count > 0 && is_digit(name[count - 1])) name = name.substr(0, count);
  return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1)) + "N";
}

CallPaths::CallPaths(const AnalysisContext& context, bool by_rank, bool one_step)
    : context_(context),
      host_(context.windows.host()),
      by_rank_(by_rank),
      one_step_(one_step),
      call_stacks_(context.catalog.processes.size(), Newest<StackId>(kMostCallStacks)),
      utilities_(context.catalog.strings),
      ranges_(context) {}

KindSet CallPaths::kinds() {
  return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::runtime, Kind::driver, Kind::nccl,
                   Kind::stack});
}

bool CallPaths::has_frames(const Catalog& catalog) {
  const auto has_slices = [](const Process& process) {
    return process.counts[static_cast<std::size_t>(Kind::python_function)] != 0;
  };
  return catalog.stacks.size() > 1 || std::any_of(catalog.processes.begin(), catalog.processes.end(), has_slices);
}

std::size_t CallPaths::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.parent;
  const auto add = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0xc2b2ae3d27d4eb4fu;
    hash ^= hash >> 29;
  };
  const Label& label = key.label;
  add(static_cast<std::uint64_t>(label.part) << 1 | label.backward);
  add(std::uint64_t{label.name} << 32 | label.file);
  add(std::uint64_t{label.path} << 32 | static_cast<std::uint32_t>(label.line));
  add(label.address);
  return hash;
}

StringId CallPaths::first_step(StringId name) {
  const auto [known, is_new] = first_steps_.try_emplace(name, name);
  if (is_new && step_name(context_.catalog.strings[name]))
    known->second = steps_by_text_.try_emplace(unnumbered_step(context_.catalog.strings[name]), name).first->second;
  return known->second;
}

CallPaths::NodeId CallPaths::child(NodeId parent, const Label& label) {
  Label own = label;
  own.backward = own.backward || nodes_[parent].label.backward;
  const auto [known, is_new] = children_.try_emplace({parent, own}, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, own, nodes_[parent].group});
  return known->second;
}

CallPaths::NodeId CallPaths::root(ProcessId process) {
  const ProcessId group = by_rank_ ? process : 0;
  Label label;
  label.line = static_cast<std::int32_t>(group);
  const NodeId id = child(0, label);
  nodes_[id].group = group;
  return id;
}

// Adds the frames of `stack` below `parent`, from the innermost up to but excluding the frame `outermost`.
CallPaths::NodeId CallPaths::under(NodeId parent, StackId stack, StackId outermost) {
  std::vector<StackId> frames;
  for (; stack != 0 && stack != outermost; stack = context_.catalog.stacks[stack].outer) frames.push_back(stack);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    parent = child(parent, label_of(context_.catalog.stacks[*frame]));
  return parent;
}

bool CallPaths::is_called_by(StackId stack, StackId caller) const {
  while (stack > caller) stack = context_.catalog.stacks[stack].outer;  // callers come first
  return stack == caller;
}

CallPaths::NodeId CallPaths::forward_frames(ProcessId process, const OperatorFacts& op) {
  const auto number = static_cast<std::uint64_t>(op.sequence_number);
  // Profiles do not contain PyTorch's thread numbers. There, the forward operator is used only if it is unique.
  for (const std::uint64_t thread : {op.forward_thread, std::uint64_t{0}}) {
    const auto found = forwards_.find({process, thread});
    if (found == forwards_.end()) continue;
    const auto place = found->second.find(number);
    if (place != Newest<Forward>::kNone) return found->second[place].frames;
  }
  return 0;
}

void CallPaths::remember_forward(const Event& event, ProcessId process, const OperatorFacts& op, NodeId frames) {
  Newest<Forward>& forwards = forwards_.try_emplace({process, op.thread}, kMostForwards).first->second;
  const auto known = forwards.find(op.sequence_number);
  const bool is_another = known != Newest<Forward>::kNone && forwards[known].track != event.track;
  forwards.add(op.sequence_number, {is_another ? 0 : frames, is_another ? kSeveral : event.track});
}

CallPaths::Entered CallPaths::place(const Event& event, const OperatorFacts* op, const Entered& around) {
  const ProcessId process = context_.catalog.tracks[event.track].process;
  Entered in = around;
  if (in.node == 0) in.node = root(process);
  if (op == nullptr) return in;
  // The backward pass starts here, wherever backward() was called
  if (is_backward(*op) && !nodes_[around.node].label.backward) {
    if (const NodeId frames = forward_frames(process, *op); frames != 0) {
      in.node = in.frames = frames;
      in.stack = op->stack;
      return in;
    }
  }
  if (op->stack != 0 && op->stack != around.stack) {
    if (around.stack != 0 && is_called_by(op->stack, around.stack)) {
      in.frames = under(in.node, op->stack, around.stack);
    } else {
      const NodeId top = root(process);
      const auto [known, is_new] = stacks_.try_emplace({top, op->stack}, 0);
      if (is_new) known->second = under(top, op->stack, 0);
      in.frames = known->second;
    }
    in.node = in.frames;
    in.stack = op->stack;
  }
  return in;
}

// An NCCL call without a known enclosing slice.
CallPaths::Entered CallPaths::called_by(const Event& call) {
  const auto known = nccl_stacks_.find(call.track);
  if (known == nccl_stacks_.end() || known->second.start_ns != call.start_ns) return {};
  const StackId stack = known->second.stack;
  const NodeId frames = under(root(context_.catalog.tracks[call.track].process), stack, 0);
  return {frames, frames, stack, 0, {}};
}

// `facts` is null for a CUDA or NCCL call.
void CallPaths::enter(const Event& event, const Facts* facts) {
  const ProcessId process = context_.catalog.tracks[event.track].process;
  const std::int64_t end_ns = slice_end(event, kLatest_ns);
  Entered* const holds = ranges_.around(event.track, event.start_ns, end_ns);
  const Entered around = holds == nullptr ? Entered{} : *holds;
  const auto* op = facts != nullptr ? facts->get<OperatorFacts>() : nullptr;
  Entered in = place(event, op, event.kind == Kind::nccl && around.node == 0 ? called_by(event) : around);
  Label label = label_of(event, facts);
  if (one_step_ && may_name_step(label.part)) label.name = first_step(label.name);
  label.backward = op != nullptr && is_backward(*op);
  in.node = child(in.node, label);
  if (is_frame(label.part)) in.frames = in.node;
  innermost_frame_ = in.frames;
  if (op != nullptr && (op->has & OperatorFacts::kSequenceNumber) != 0 && !is_backward(*op))
    remember_forward(event, process, *op, in.frames);
  const std::int64_t ns = event.duration_ns < 0 ? 0 : host_.inside_ns(process, event.start_ns, end_ns);
  endless_ += event.duration_ns < 0;
  nodes_[in.node].host_ns += ns;
  if (around.node != 0) nodes_[around.node].host_ns -= ns;
  const bool counts = host_.hold(process, event.start_ns, end_ns);
  in.operation = label.part == CallPart::operation ? event.name : 0;
  in.inside = {};
  const bool is_utility = in.operation != 0 && utilities_.holds(event.name);
  const bool is_first = !is_utility && event.kind != Kind::nccl && holds != nullptr && holds->operation != 0 &&
                        holds->inside.begin([this](NodeId other) { ++nodes_[other].calls; });
  if (is_first && holds->operation == in.operation && counts) {
    holds->inside.merge(in.node);
  } else {
    nodes_[in.node].calls += counts && !is_utility;
  }
  if (label.part == CallPart::call && event.correlation != 0) {
    ranges_.launches(event, {in.node, ns, counts});
    stand_below(event);
  }
  ranges_.open(event.track, {event.start_ns, end_ns, in});
}

// Used if no operator around the call has more frames. Because clocks differ, the stack that was taken in the call may
// arrive before it.
void CallPaths::stand_below(const Event& in_call) {
  const ProcessId process = context_.catalog.tracks[in_call.track].process;
  Called* call = ranges_.of(in_call.track, in_call.correlation);
  if (call == nullptr || nodes_[nodes_[call->node].parent].label.part != CallPart::process) return;
  const auto stack = call_stacks_[process].find(in_call.correlation);
  if (stack == Newest<StackId>::kNone) return;
  const Label label = nodes_[call->node].label;  // nodes move when others are added
  const NodeId below = child(under(root(process), call_stacks_[process][stack], 0), label);
  for (const auto& [node, sign] : {std::pair(call->node, -1), std::pair(below, 1)}) {
    nodes_[node].host_ns += sign * call->ns;
    nodes_[node].calls += sign * call->count;
  }
  call->node = below;
}

void CallPaths::event(const Event& event, const Facts& facts) {
  const auto on_call = [&](const Event& call) { enter(call, nullptr); };
  if (const auto* stack = facts.get<StackFacts>()) {
    if (stack->reason == static_cast<std::uint8_t>(trace::StackReason::nccl_call))
      nccl_stacks_[event.track] = {event.start_ns, stack->stack};
    if (event.correlation == 0) return;
    ranges_.settle(event.start_ns, on_call);
    call_stacks_[context_.catalog.tracks[event.track].process].add(event.correlation, stack->stack);
    return stand_below(event);
  }
  if (!is_slice(event)) return;
  ranges_.settle(event.start_ns, on_call);
  is_api_call(event.kind) || event.kind == Kind::nccl ? ranges_.call(event) : enter(event, &facts);
}

void CallPaths::work(const GpuWork& work) {
  ranges_.settle([&](const Event& call) { enter(call, nullptr); });
  const Called* launcher = ranges_.of(work);
  Label label;
  label.part = CallPart::work;
  label.name = work.name;
  Node& node = nodes_[child(launcher != nullptr ? launcher->node : root(work.process), label)];
  node.gpu_ns += share_ns(context_.windows, work);
  ++node.gpu_count;
}

void CallPaths::end_of(ProcessId process) {
  ranges_.end_of(process, [&](const Event& call) { enter(call, nullptr); });
  call_stacks_[process] = Newest<StackId>(kMostCallStacks);
  forwards_.erase(forwards_.lower_bound({process, 0}), forwards_.lower_bound({process + 1, 0}));
  std::erase_if(nccl_stacks_, [&](const auto& each) { return context_.catalog.tracks[each.first].process == process; });
}

const std::vector<CallPaths::Node>& CallPaths::finish() {
  ranges_.settle([&](const Event& call) { enter(call, nullptr); });
  return nodes_;
}

std::string module_class(const Catalog& catalog, const CallPaths::Label& label) {
  StackFrame frame;
  frame.what = StackFrame::kModule;
  frame.name = label.name;
  return frame_text(catalog, frame);
}

std::string call_text(const Catalog& catalog, const CallPaths::Label& label) {
  if (!is_frame(label.part)) return std::string(catalog.strings[label.name]);
  StackFrame frame;
  frame.what = label.part == CallPart::module   ? StackFrame::kModule
               : label.part == CallPart::native ? StackFrame::kNative
                                                : StackFrame::kPython;
  frame.name = label.name;
  frame.file = label.file;
  frame.path = label.path;
  frame.line = label.line;
  frame.instance = label.address;
  return frame_text(catalog, frame);
}

}  // namespace cli
