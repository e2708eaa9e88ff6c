#include "cli/collectives/call_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/collectives/compute_cover.h"
#include "cli/model/name_classes.h"
#include "cli/model/slice.h"

namespace cli {
namespace {

constexpr std::int64_t kNoPosition = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kCallsOfOneSeq = 256;   // that can be told apart, of a coalesced operation
constexpr std::size_t kMostWaiting = 1 << 16;  // launches of a process whose work has not come; the oldest are forgotten
constexpr TrackId kNoTrack = ~TrackId{0};
constexpr CommunicatorId kNoCommunicator = ~CommunicatorId{0};

using DraftId = std::uint32_t;
constexpr DraftId kNoDraft = ~DraftId{0};

// Which lane a call belongs to, as far as the call alone tells it.
struct LaneKey {
  CommunicatorId communicator = kNoCommunicator;
  Numbering numbering = Numbering::counted;
  bool replay = false;  // of a CUDA graph
  bool point_to_point = false;
  std::int32_t source = -1, destination = -1;
  TrackId stream = kNoTrack;  // where the communicator is not known
  auto operator<=>(const LaneKey&) const = default;
};

struct Draft {
  CollectiveCall call;
  LaneKey key;
  TrackId stream = kNoTrack;
  std::int64_t step = 1;
};

struct HostThread {
  DraftId call = kNoDraft;
  std::int64_t call_end_ns = kNoTime;
  std::size_t open_groups = 0;
  std::vector<DraftId> pending;  // calls of the open group
  std::vector<DraftId> ended;    // of the group whose end is being waited for,
  std::int64_t group_end_ns = kNoTime;  // until then
};

struct ProcessDrafts {
  std::vector<Draft> drafts;
  std::unordered_map<TrackId, HostThread> threads;
  std::unordered_map<std::uint64_t, std::vector<DraftId>> waiting;  // by correlation of the launch
  std::deque<std::uint64_t> waiting_order;
  std::unordered_map<CommunicatorId, TrackId> streams;  // on which a communicator was seen to work
  std::map<std::int64_t, ComputeCover> devices;
  std::uint32_t groups = 0;
};

CollectiveWhat what_of(Operation operation, const Collective& collective, std::optional<std::uint64_t> bytes) {
  CollectiveWhat what;
  what.operation = operation;
  if (bytes && std::in_range<std::int64_t>(*bytes)) what.message_bytes = static_cast<std::int64_t>(*bytes);
  if ((collective.has & Collective::kReduction) != 0) what.reduction = collective.reduction;
  if ((collective.has & Collective::kPeer) != 0 && has_root(operation)) what.root = collective.peer;
  if ((collective.has & Collective::kTypeAndCount) != 0) what.data_type = collective.data_type;
  return what;
}

// SendRecv kernels are those of sends, of receives and of what consists of them; unknown ones may do anything.
bool can_do(Operation kernel, Operation call) {
  const bool of_pairs = call == Operation::send || call == Operation::receive || call == Operation::all_to_all ||
                        call == Operation::gather || call == Operation::scatter;
  return kernel == Operation::unknown || kernel == call || (kernel == Operation::send_receive && of_pairs) ||
         (kernel == Operation::all_reduce && call == Operation::barrier);
}

struct Covered {
  ProcessDrafts& process;
  void operator()(std::uint64_t draft, std::int64_t covered_ns) const { process.drafts[draft].call.exposed_ns -= covered_ns; }
};

class Collector : public CallCollector {
 public:
  explicit Collector(const Catalog& catalog) : catalog_(catalog), names_(catalog.strings), processes_(catalog.processes.size()) {}

  void event(const Event& event, const Facts& facts, bool computes) override {
    const ProcessId process = catalog_.tracks[event.track].process;
    if (catalog_.processes[process].format == SourceFormat::ring) {
      if (event.kind == Kind::nccl) return call(process, event, facts);
      if (event.kind == Kind::nvtx) return range(process, event, facts);
      if (is_api_call(event.kind)) return launch(process, event);
    }
    if (is_gpu_work(event.kind) && is_slice(event)) work(process, event, facts, computes);
  }

  CollectiveCalls take() override {
    CollectiveCalls found;
    for (ProcessId id = 0; id < processes_.size(); ++id) {
      ProcessDrafts& process = processes_[id];
      for (auto& [device, cover] : process.devices) cover.finish(Covered{process});
      found.processes.push_back(lanes_of(id));
      process = {};
    }
    found.whats = std::move(whats_);
    found.communicators = std::move(communicators_);
    return found;
  }

 private:
  CommunicatorId communicator(const Process& process, std::uint64_t hash, std::uint32_t epoch) {
    const auto [known, is_new] = by_hash_.try_emplace({hash, epoch, process.phase}, communicators_.size());
    if (is_new) communicators_.push_back({fmt::format("0x{:016x}", hash), "", epoch, -1, process.phase});
    CommunicatorInfo& info = communicators_[known->second];
    if (info.size < 0) {
      for (const Communicator& told : process.communicators) {
        if (told.communicator == hash && told.epoch == epoch && told.ranks > 0) info.size = told.ranks;
      }
    }
    return known->second;
  }
  CommunicatorId communicator(const Process& process, const CollectiveOp& op) {
    const auto text = [&](StringId id) { return std::string(catalog_.strings[id]); };
    const auto [known, is_new] = by_group_.try_emplace({op.group_name, op.group_ranks, process.phase}, communicators_.size());
    if (is_new) communicators_.push_back({text(op.group_name), text(op.group_description), 0, op.group_size, process.phase});
    return known->second;
  }

  // Its rank in the communicator; -1: unknown.
  static std::int32_t own_rank(const Process& process, const Collective& collective) {
    for (const Communicator& told : process.communicators) {
      if (told.communicator == collective.communicator && told.epoch == collective.epoch && std::in_range<std::int32_t>(told.rank)) {
        return static_cast<std::int32_t>(told.rank);
      }
    }
    return -1;
  }

  LaneKey key_of(const Process& process, const Collective& collective, Operation operation) {
    LaneKey key;
    key.point_to_point = operation == Operation::send || operation == Operation::receive;
    if ((collective.has & Collective::kCommunicator) == 0) return key;
    key.communicator = communicator(process, collective.communicator, collective.epoch);
    if (collective.ordinal != kNoOrdinal) key.numbering = Numbering::numbered;
    if (!key.point_to_point || (collective.has & Collective::kPeer) == 0) return key;
    key.source = own_rank(process, collective), key.destination = collective.peer;
    if (operation == Operation::receive) std::swap(key.source, key.destination);
    return key;
  }

  static DraftId add(ProcessDrafts& process, Draft draft) {
    process.drafts.push_back(draft);
    return static_cast<DraftId>(process.drafts.size() - 1);
  }

  void call(ProcessId id, const Event& event, const Facts& facts) {
    const NcclFacts* const nccl = facts.get<NcclFacts>();
    if (nccl == nullptr || !is_slice(event)) return;
    ProcessDrafts& process = processes_[id];
    const Collective& collective = nccl->collective;
    const Operation operation = operation_of_call(catalog_.strings[event.name]);
    Draft draft;
    draft.call.host_start_ns = event.start_ns;
    if (event.duration_ns >= 0) draft.call.host_end_ns = slice_end(event, kLatest_ns);
    draft.call.what = whats_.intern(what_of(operation, collective, event.has_bytes ? std::optional(event.bytes) : std::nullopt));
    draft.key = key_of(catalog_.processes[id], collective, operation);
    draft.call.position = std::in_range<std::int64_t>(collective.ordinal) ? static_cast<std::int64_t>(collective.ordinal) : kNoPosition;
    HostThread& thread = process.threads[event.track];
    thread.call = add(process, draft);
    thread.call_end_ns = slice_end(event, kLatest_ns);
    if (thread.open_groups > 0) thread.pending.push_back(thread.call), thread.call = kNoDraft;
  }

  void range(ProcessId id, const Event& event, const Facts& facts) {
    const std::string_view name = catalog_.strings[event.name];
    const RangeFacts* const range = facts.get<RangeFacts>();
    if (range == nullptr || !is_slice(event) || !name.starts_with("ncclGroup") || catalog_.strings[range->domain] != "NCCL") return;
    ProcessDrafts& process = processes_[id];
    HostThread& thread = process.threads[event.track];
    if (name == "ncclGroupStart") {
      if (thread.open_groups++ == 0) thread.pending.clear();
    } else if (name == "ncclGroupEnd") {
      if (thread.open_groups > 0) --thread.open_groups;
      if (thread.open_groups > 0) return;
      thread.ended = std::exchange(thread.pending, {});
      thread.group_end_ns = slice_end(event, kLatest_ns);
      thread.call = kNoDraft;
      if (thread.ended.size() < 2) return;
      ++process.groups;
      for (const DraftId each : thread.ended) process.drafts[each].call.group = process.groups;
    }
  }

  void launch(ProcessId id, const Event& event) {
    if (event.correlation == 0 || !names_[event.name].launches) return;
    ProcessDrafts& process = processes_[id];
    const auto found = process.threads.find(event.track);
    if (found == process.threads.end()) return;
    const HostThread& thread = found->second;
    std::vector<DraftId> calls;
    if (thread.call != kNoDraft && event.start_ns < thread.call_end_ns) {
      calls = {thread.call};
    } else if (event.start_ns < thread.group_end_ns) {
      calls = thread.ended;
    }
    if (calls.empty() || !process.waiting.try_emplace(event.correlation, std::move(calls)).second) return;
    process.waiting_order.push_back(event.correlation);
    if (process.waiting_order.size() <= kMostWaiting) return;
    process.waiting.erase(process.waiting_order.front());
    process.waiting_order.pop_front();
  }

  void work(ProcessId id, const Event& event, const Facts& facts, bool computes) {
    ProcessDrafts& process = processes_[id];
    ComputeCover& cover = process.devices[catalog_.tracks[event.track].group];
    const std::int64_t start_ns = sane_ns(event.start_ns);
    if (computes) {
      if (event.duration_ns >= 0) cover.compute(start_ns, sane_ns(slice_end(event, kLatest_ns)), Covered{process});
      return;
    }
    for (const DraftId draft : drafts_of(id, event, facts)) extend(process, draft, event, cover);
  }

  // The calls that this work is of; made where work is all that is known of them.
  std::vector<DraftId> drafts_of(ProcessId id, const Event& event, const Facts& facts) {
    ProcessDrafts& process = processes_[id];
    const bool communicates = event.kind == Kind::kernel && names_[event.name].communicates;
    if (catalog_.processes[id].format != SourceFormat::ring) {
      return communicates ? std::vector{add(process, profiled(id, event, facts))} : std::vector<DraftId>{};
    }
    const KernelFacts* const kernel = facts.get<KernelFacts>();
    if (kernel != nullptr && kernel->graph.any()) {
      return communicates ? std::vector{add(process, replayed(id, event, kernel->graph))} : std::vector<DraftId>{};
    }
    const auto found = event.correlation != 0 ? process.waiting.find(event.correlation) : process.waiting.end();
    if (found != process.waiting.end()) {
      const std::vector<DraftId> calls = chosen(process, found->second, event);
      if (!calls.empty()) return calls;
    }
    return communicates ? std::vector{add(process, lone(event))} : std::vector<DraftId>{};
  }

  // Of the calls of a group, those that a kernel can be of, if these are all of one communicator.
  std::vector<DraftId> chosen(ProcessDrafts& process, std::vector<DraftId> calls, const Event& event) {
    const auto communicator_of = [&](DraftId draft) { return process.drafts[draft].key.communicator; };
    const auto is_one = [&] {
      return std::all_of(calls.begin(), calls.end(), [&](DraftId each) { return communicator_of(each) == communicator_of(calls[0]); });
    };
    if (event.kind == Kind::kernel && calls.size() > 1) {
      const Operation kernel = operation_of_kernel(catalog_.strings[event.name]);
      std::erase_if(calls, [&](DraftId each) { return !can_do(kernel, whats_[process.drafts[each].call.what].operation); });
    }
    if (!calls.empty() && !is_one()) {
      std::erase_if(calls, [&](DraftId each) {
        const auto stream = process.streams.find(communicator_of(each));
        return stream == process.streams.end() || stream->second != event.track;
      });
    }
    if (calls.empty() || !is_one()) return {};
    if (communicator_of(calls[0]) != kNoCommunicator) process.streams[communicator_of(calls[0])] = event.track;
    return calls;
  }

  Draft lone(const Event& event) {
    Draft draft;
    CollectiveWhat what;
    what.operation = operation_of_kernel(catalog_.strings[event.name]);
    draft.call.what = whats_.intern(what);
    draft.call.position = kNoPosition;
    return draft;
  }

  Draft replayed(ProcessId id, const Event& event, const GraphNode& node) {
    Draft draft = lone(event);
    draft.key.replay = true;
    const Capture& capture = catalog_.captures[node.capture];
    if (!capture.has_call || capture.first_of_group) return draft;
    const Operation operation = operation_of_call(catalog_.strings[capture.call]);
    const bool has_bytes = (capture.collective.has & Collective::kBytes) != 0;
    draft.call.what = whats_.intern(what_of(operation, capture.collective, has_bytes ? std::optional(capture.bytes) : std::nullopt));
    draft.key = key_of(catalog_.processes[id], capture.collective, operation);
    draft.key.replay = true, draft.key.numbering = Numbering::counted;
    captured_.insert({id, draft.key.communicator, draft.key.source, draft.key.destination, capture.collective.ordinal});
    return draft;
  }

  Draft profiled(ProcessId id, const Event& event, const Facts& facts) {
    Draft draft = lone(event);
    const ProfiledKernelFacts* const kernel = facts.get<ProfiledKernelFacts>();
    if (kernel == nullptr || kernel->collective_op == 0) return draft;
    const CollectiveOp& op = catalog_.collective_ops[kernel->collective_op];
    CollectiveWhat what = whats_[draft.call.what];
    if (const Operation told = operation_of_pytorch(catalog_.strings[op.name]); told != Operation::unknown) what.operation = told;
    what.buffer_bytes = size_of_buffers(op.in_elements, op.out_elements, catalog_.strings[op.data_type]).value_or(-1);
    draft.call.what = whats_.intern(what);
    if (op.group_name == 0) return draft;
    draft.key.communicator = communicator(catalog_.processes[id], op);
    draft.key.point_to_point = what.operation == Operation::send || what.operation == Operation::receive;
    if (!std::in_range<std::int64_t>(kernel->sequence) || kernel->sequence > kLatest_ns / kCallsOfOneSeq) return draft;
    draft.key.numbering = Numbering::numbered;
    draft.call.position = static_cast<std::int64_t>(kernel->sequence) * kCallsOfOneSeq;
    draft.step = kCallsOfOneSeq;
    return draft;
  }

  void extend(ProcessDrafts& process, DraftId id, const Event& event, ComputeCover& cover) {
    Draft& draft = process.drafts[id];
    CollectiveCall& call = draft.call;
    draft.stream = event.track;
    const std::int64_t start_ns = sane_ns(event.start_ns);
    const bool is_first = call.gpu_start_ns == kNoTime;
    if (is_first) call.gpu_start_ns = start_ns;
    if (event.duration_ns < 0) return;
    const std::int64_t end_ns = std::max(start_ns, sane_ns(slice_end(event, kLatest_ns)));
    const std::int64_t from_ns = call.gpu_end_ns == kNoTime ? start_ns : std::max(start_ns, call.gpu_end_ns);
    call.gpu_end_ns = std::max(call.gpu_end_ns, end_ns);
    if (from_ns >= end_ns) return;
    call.exposed_ns += end_ns - from_ns;
    cover.watch(id, from_ns, end_ns, Covered{process});
  }

  // ---- lanes ----

  ProcessCalls lanes_of(ProcessId id) {
    ProcessDrafts& process = processes_[id];
    ProcessCalls found;
    const bool is_ring = catalog_.processes[id].format == SourceFormat::ring;
    const bool has_numbers = std::any_of(process.drafts.begin(), process.drafts.end(),
                                         [](const Draft& draft) { return draft.key.numbering == Numbering::numbered; });
    // What a stream does for one communicator alone, it does always.
    std::map<TrackId, std::set<LaneKey>> on_stream;
    for (const Draft& draft : process.drafts) {
      if (draft.key.communicator != kNoCommunicator && draft.stream != kNoTrack && !is_ring) on_stream[draft.stream].insert(draft.key);
    }
    std::map<LaneKey, std::vector<Draft>> lanes;
    for (Draft& draft : process.drafts) {
      LaneKey key = draft.key;
      if (is_captured(id, draft)) continue;
      if (key.communicator == kNoCommunicator) {
        if (draft.stream == kNoTrack || (is_ring && has_numbers && !key.replay)) {
          found.works_without_call += draft.stream != kNoTrack;
          continue;
        }
        const auto known = on_stream.find(draft.stream);
        key.stream = draft.stream;
        if (known != on_stream.end() && known->second.size() == 1) key = *known->second.begin();
      }
      lanes[key].push_back(draft);
    }
    process.drafts = {};
    const Process& whole = catalog_.processes[id];
    const std::size_t kernel = static_cast<std::size_t>(Kind::kernel);
    const bool whole_beginning = is_ring && whole.overwritten[kernel] == 0 && whole.lost[kernel] == 0 && whole.lost_unknown_kind == 0;
    for (auto& [key, drafts] : lanes) found.lanes.push_back(lane_of(key, drafts, whole_beginning, found.works_without_call));
    std::erase_if(found.lanes, [](const CollectiveLane& lane) { return lane.calls.empty(); });
    return found;
  }

  // It was captured, and did nothing itself.
  bool is_captured(ProcessId id, const Draft& draft) const {
    return draft.call.gpu_start_ns == kNoTime && draft.key.numbering == Numbering::numbered &&
           captured_.count({id, draft.key.communicator, draft.key.source, draft.key.destination, static_cast<std::uint64_t>(draft.call.position)}) != 0;
  }

  CollectiveLane lane_of(const LaneKey& key, std::vector<Draft>& drafts, bool whole_beginning, std::uint64_t& left_out) {
    CollectiveLane lane;
    lane.communicator = key.communicator == kNoCommunicator ? unknown_communicator() : key.communicator;
    lane.numbering = key.numbering, lane.source = key.source, lane.destination = key.destination;
    lane.point_to_point = key.point_to_point, lane.replay = key.replay, lane.whole_beginning = whole_beginning;
    for (const Draft& draft : drafts) lane.ordinal_step = std::max(lane.ordinal_step, draft.step);
    if (key.numbering == Numbering::counted || lane.ordinal_step > 1) {
      std::stable_sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) { return a.call.gpu_start_ns < b.call.gpu_start_ns; });
    }
    if (key.numbering == Numbering::counted) {
      for (std::size_t i = 0; i < drafts.size(); ++i) drafts[i].call.position = static_cast<std::int64_t>(i);
    } else if (lane.ordinal_step > 1) {
      left_out += number_by_neighbours(drafts, lane.ordinal_step);
    }
    std::stable_sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) { return a.call.position < b.call.position; });
    for (Draft& draft : drafts) {
      // Calls with one number, as those of a coalesced operation, have places behind each other.
      if (lane.ordinal_step > 1 && !lane.calls.empty() && lane.calls.back().position >= draft.call.position) draft.call.position = lane.calls.back().position + 1;
      lane.calls.push_back(draft.call);
    }
    return lane;
  }

  // Those before the first one with a number precede it one by one; others without one are left out, and counted.
  static std::uint64_t number_by_neighbours(std::vector<Draft>& drafts, std::int64_t step) {
    const auto first = std::find_if(drafts.begin(), drafts.end(), [](const Draft& draft) { return draft.call.position != kNoPosition; });
    if (first == drafts.end()) return 0;
    std::int64_t position = first->call.position;
    for (auto at = first; at != drafts.begin();) (--at)->call.position = position -= step;
    return std::erase_if(drafts, [](const Draft& draft) { return draft.call.position == kNoPosition; });
  }

  CommunicatorId unknown_communicator() {
    if (unknown_ == kNoCommunicator) {
      unknown_ = static_cast<CommunicatorId>(communicators_.size());
      communicators_.push_back({});
    }
    return unknown_;
  }

  const Catalog& catalog_;
  NameClasses names_;
  std::vector<ProcessDrafts> processes_;
  Interned<CollectiveWhat> whats_;
  std::vector<CommunicatorInfo> communicators_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::string>, CommunicatorId> by_hash_;
  std::map<std::tuple<StringId, StringId, std::string>, CommunicatorId> by_group_;
  std::set<std::tuple<ProcessId, CommunicatorId, std::int32_t, std::int32_t, std::uint64_t>> captured_;
  CommunicatorId unknown_ = kNoCommunicator;
};

}  // namespace

std::unique_ptr<CallCollector> make_call_collector(const Catalog& catalog) { return std::make_unique<Collector>(catalog); }

bool can_be_same(const CollectiveWhat& one, const CollectiveWhat& other) {
  const auto agree = [](auto a, auto b) { return a < 0 || b < 0 || a == b; };
  const bool any = one.operation == Operation::unknown || other.operation == Operation::unknown;
  const bool pair = (one.operation == Operation::send && other.operation == Operation::receive) ||
                    (one.operation == Operation::receive && other.operation == Operation::send);
  const bool same_work = can_do(one.operation, other.operation) || can_do(other.operation, one.operation);
  if (!any && !pair && !same_work) return false;
  if (!agree(one.reduction, other.reduction) || !agree(one.root, other.root) || !agree(one.data_type, other.data_type)) return false;
  if (!has_one_size(one.operation) || !has_one_size(other.operation)) return true;
  return agree(one.message_bytes, other.message_bytes) && agree(one.buffer_bytes, other.buffer_bytes);
}

}  // namespace cli
