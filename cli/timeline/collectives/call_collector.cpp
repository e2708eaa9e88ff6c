#include "cli/timeline/collectives/call_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "cli/trace/event_times.h"
#include "cli/trace/garbage_collections.h"
#include "cli/trace/names.h"

namespace cli {

namespace {

constexpr std::int64_t kNoPosition = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kCallsOfOneSeq = 256;  // limit of a coalesced operation's calls with distinct positions
// Per process, launches whose work has not started; the oldest are removed
constexpr std::size_t kMostWaiting = 1 << 16;
constexpr TrackId kNoTrack = ~TrackId{0};
constexpr CommunicatorId kNoCommunicator = ~CommunicatorId{0};

using DraftId = std::uint32_t;
constexpr DraftId kNoDraft = ~DraftId{0};

// Identifies the lane of a call, as far as the call itself determines it.
struct LaneKey : LaneKind {
  LaneKey() { communicator = kNoCommunicator; }
  TrackId stream = kNoTrack;  // if the communicator is unknown
  auto operator<=>(const LaneKey&) const = default;
};

struct Draft {
  CollectiveCall call;
  LaneKey key;
  TrackId stream = kNoTrack;
  std::int64_t step = 1;
  std::uint32_t launched = 0, ended = 0;  // kernels of its group
};

// Data of launches whose work has not started, at most kMostWaiting per process; the oldest are removed.
template <typename What>
class WaitingFor {
 public:
  // Returns false if the launch is already known, for a driver call within a runtime call.
  bool add(std::uint64_t correlation, What what) {
    if (!waiting_.try_emplace(correlation, Waiting{std::move(what), added_}).second) return false;
    if (order_.size() > 2 * waiting_.size() + kFewest)
      std::erase_if(order_, [&](const Added& each) { return !waits(each); });
    order_.push_back({correlation, added_++});
    if (waiting_.size() <= kMostWaiting) return true;
    while (!waits(order_.front())) order_.pop_front();
    waiting_.erase(order_.front().correlation);
    order_.pop_front();
    return true;
  }
  // Returns null if no launch with this correlation waits.
  const What* find(std::uint64_t correlation) const {
    const auto found = correlation != 0 ? waiting_.find(correlation) : waiting_.end();
    return found != waiting_.end() ? &found->second.what : nullptr;
  }
  void forget(std::uint64_t correlation) { waiting_.erase(correlation); }

 private:
  static constexpr std::size_t kFewest = 64;
  struct Waiting {
    What what;
    std::uint64_t number;  // number of the addition
  };
  struct Added {
    std::uint64_t correlation, number;
  };
  bool waits(const Added& added) const {
    const auto found = waiting_.find(added.correlation);
    return found != waiting_.end() && found->second.number == added.number;
  }

  std::unordered_map<std::uint64_t, Waiting> waiting_;
  std::deque<Added> order_;  // launches in waiting_, and at most as many, plus kFewest, that no longer wait
  std::uint64_t added_ = 0;
};

// A CUDA call: the last one that ended on the thread.
struct HostCall {
  StringId name = 0;
  std::int64_t start_ns = kNoTime, end_ns = kNoTime;
};

struct HostLaunch {
  std::int64_t start_ns = 0;
  HostCall before;                    // on the same thread
  std::uint64_t launched_before = 0;  // correlation of the last launch before this one, of any thread
  DraftId called_before = kNoDraft;   // the last NCCL call since that launch, unless this launch belongs to it
  bool is_next = false;               // its correlation follows that of the previous CUDA call
};

struct HostThread {
  HostCall last;
  DraftId call = kNoDraft;
  std::int64_t call_end_ns = kNoTime;
  bool call_has_ended = false;
  std::vector<std::size_t> open_groups;  // for each, outermost first: number of pending calls at its start
  std::vector<DraftId> pending;          // calls of the open group
  std::size_t inner_calls = 0;           // pending calls before the nested group that ended last
  std::int64_t inner_end_ns = kNoTime;   // end of that group
  std::vector<DraftId> ended;            // calls of the group whose end is running
  std::int64_t group_end_ns = kNoTime;   // end of that end
  Operation named = Operation::unknown;  // from the open PyTorch operator or annotation
  std::int64_t named_end_ns = kNoTime;
};

struct DeviceWork {
  ComputeCover cover;
  GpuLedger ledger;
};

struct ProcessDrafts {
  std::vector<Draft> drafts;
  std::unordered_map<TrackId, HostThread> threads;
  WaitingFor<std::vector<DraftId>> waiting;  // the calls to which the work of a launch may belong
  WaitingFor<HostLaunch> launches;
  WaitingFor<Operation> named;                          // for profiles: PyTorch's name of the collective of a launch
  std::uint64_t last_launch = 0;                        // its correlation
  std::uint64_t last_correlation = 0;                   // of all CUDA calls
  std::uint64_t launched = 0, launched_next = 0;        // launches; those with HostLaunch::is_next
  DraftId call_since_launch = kNoDraft;                 // the last one
  std::unordered_map<CommunicatorId, TrackId> streams;  // on which a communicator was active
  std::map<std::int64_t, DeviceWork> devices;
  std::unordered_map<std::uint64_t, WorkSum> work;  // by name and launch
  bool knows_launches = false;
  GarbageCollections collections;
  std::int64_t outside_ns = 0, collecting_ns = 0;  // for HostDelay
  std::map<StringId, std::int64_t> in_calls_ns;
  std::uint32_t groups = 0;
  bool has_ended = false;  // its calls are in found_
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

// SendRecv kernels are used for sends, receives and operations that consist of them; unknown kernels may perform any
// operation.
bool can_do(Operation kernel, Operation call) {
  const bool of_pairs = call == Operation::send || call == Operation::receive || call == Operation::all_to_all ||
                        call == Operation::gather || call == Operation::scatter;
  return kernel == Operation::unknown || kernel == call || (kernel == Operation::send_receive && of_pairs) ||
         (kernel == Operation::all_reduce && call == Operation::barrier);
}

// Returns a function that subtracts the time in which the work of a call was covered by compute.
auto uncover(ProcessDrafts& process) {
  return [&](std::uint64_t draft, std::int64_t covered_ns) { process.drafts[draft].call.exposed_ns -= covered_ns; };
}

class Collector : public CallCollector {
 public:
  Collector(const Catalog& catalog, CallDetail detail)
      : catalog_(catalog),
        with_reasons_(detail == CallDetail::reasons),
        names_(catalog.strings),
        processes_(catalog.processes.size()),
        found_(catalog.processes.size()) {}

  void event(const Event& event, const Facts& facts, bool computes) override {
    const ProcessId process = catalog_.tracks[event.track].process;
    if (catalog_.processes[process].format != SourceFormat::kineto) {
      if (event.kind == Kind::nccl) return call(process, event, facts);
      if (event.kind == Kind::nvtx) return range(process, event, facts);
      if (is_api_call(event.kind)) return launch(process, event);
      if (event.kind == Kind::garbage_collection) return processes_[process].collections.add(event);
    } else if (event.kind == Kind::cpu_op || event.kind == Kind::user_annotation) {
      return named_range(process, event);
    } else if (is_api_call(event.kind)) {
      return named_launch(process, event);
    }
    if (is_gpu_work(event.kind) && is_slice(event)) work(process, event, facts, computes);
  }

  void end_of(ProcessId id) override {
    ProcessDrafts& process = processes_[id];
    if (process.has_ended) return;
    for (auto& [number, device] : process.devices) device.cover.finish(uncover(process));
    found_[id] = lanes_of(id);
    add_work(process, found_[id]);
    process = {};
    process.has_ended = true;
    const auto of_process = [](ProcessId of) {
      return std::tuple(of, CommunicatorId{0}, std::int32_t{INT32_MIN}, std::int32_t{INT32_MIN}, std::uint64_t{0});
    };
    captured_.erase(captured_.lower_bound(of_process(id)), captured_.lower_bound(of_process(id + 1)));
  }

  CollectiveCalls take() override {
    for (ProcessId id = 0; id < processes_.size(); ++id) end_of(id);
    for (ProcessCalls& process : found_) {
      for (CollectiveLane& lane : process.lanes) {
        if (lane.communicator == kNoCommunicator) lane.communicator = unknown_communicator();
      }
    }
    return {std::move(found_), std::move(whats_), std::move(communicators_)};
  }

 private:
  CommunicatorId communicator(const Process& process, std::uint64_t hash, std::uint32_t epoch) {
    const auto [known, is_new] = by_hash_.try_emplace({hash, epoch, process.phase}, communicators_.size());
    if (is_new) communicators_.push_back({fmt::format("0x{:016x}", hash), "", epoch, -1, process.phase, ""});
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
    const auto [known, is_new] =
        by_group_.try_emplace({op.group_name, op.group_ranks, process.phase}, communicators_.size());
    if (is_new)
      communicators_.push_back(
          {text(op.group_name), text(op.group_description), 0, op.group_size, process.phase, text(op.group_ranks)});
    return known->second;
  }

  // Returns its rank in the communicator; -1 if unknown.
  static std::int32_t own_rank(const Process& process, const Collective& collective) {
    for (const Communicator& told : process.communicators) {
      if (told.communicator == collective.communicator && told.epoch == collective.epoch &&
          std::in_range<std::int32_t>(told.rank)) {
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
    key.own_rank = own_rank(process, collective);
    if (!key.point_to_point || (collective.has & Collective::kPeer) == 0) return key;
    key.source = key.own_rank;
    key.destination = collective.peer;
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
    draft.call.what =
        whats_.intern(what_of(operation, collective, event.has_bytes ? std::optional(event.bytes) : std::nullopt));
    draft.key = key_of(catalog_.processes[id], collective, operation);
    draft.call.position =
        std::in_range<std::int64_t>(collective.ordinal) ? static_cast<std::int64_t>(collective.ordinal) : kNoPosition;
    HostThread& thread = process.threads[event.track];
    thread.call = process.call_since_launch = add(process, draft);
    thread.call_end_ns = slice_end(event, kLatest_ns);
    thread.call_has_ended = event.duration_ns >= 0;
    end_ranges(thread, event.start_ns);
    if (!thread.open_groups.empty()) thread.pending.push_back(thread.call);
  }

  // The end of a group contains no calls and no other group. If it has no end itself, its end was lost.
  static void end_ranges(HostThread& thread, std::int64_t at_ns) {
    thread.group_end_ns = std::min(thread.group_end_ns, at_ns);
    thread.inner_end_ns = kNoTime;
  }

  static void end_group(ProcessDrafts& process, HostThread& thread, std::size_t first, std::int64_t end_ns) {
    thread.ended.assign(thread.pending.begin() + static_cast<std::ptrdiff_t>(first), thread.pending.end());
    thread.pending.clear();
    thread.open_groups.clear();
    thread.group_end_ns = end_ns;
    if (thread.ended.size() < 2) return;
    ++process.groups;
    for (const DraftId each : thread.ended) process.drafts[each].call.group = process.groups;
  }

  // Within a group only its outermost end launches work, except copies within one rank. If something else launches, the
  // end of a group was lost: a call that launches is in no group, and a group end that launches is an outermost one, of
  // the calls since the last start.
  static void end_lost_groups(ProcessDrafts& process, HostThread& thread, std::int64_t launch_ns) {
    if (thread.call != kNoDraft && thread.call_has_ended && launch_ns < thread.call_end_ns) {
      thread.open_groups.clear();
      thread.pending.clear();
    } else if (launch_ns < thread.inner_end_ns) {
      end_group(process, thread, thread.inner_calls, thread.inner_end_ns);
    }
  }

  void range(ProcessId id, const Event& event, const Facts& facts) {
    const std::string_view name = catalog_.strings[event.name];
    const RangeFacts* const range = facts.get<RangeFacts>();
    if (range == nullptr || !is_slice(event) || !name.starts_with("ncclGroup") ||
        catalog_.strings[range->domain] != "NCCL")
      return;
    ProcessDrafts& process = processes_[id];
    HostThread& thread = process.threads[event.track];
    end_ranges(thread, event.start_ns);
    thread.call = kNoDraft;
    if (name == "ncclGroupStart") {
      if (thread.open_groups.empty()) thread.pending.clear();
      thread.open_groups.push_back(thread.pending.size());
    } else if (name == "ncclGroupEnd") {
      const std::size_t first = thread.open_groups.empty() ? 0 : thread.open_groups.back();
      if (thread.open_groups.size() <= 1) return end_group(process, thread, first, slice_end(event, kLatest_ns));
      thread.open_groups.pop_back();
      thread.inner_calls = first;
      if (event.duration_ns >= 0) thread.inner_end_ns = slice_end(event, kLatest_ns);
    }
  }

  // PyTorch's operators and annotations of collectives: "c10d::alltoall_base_", "nccl:all_to_all". Those of sends and
  // receives do not determine the operation of a kernel for a group of them.
  Operation operation_of_range(StringId name) {
    const auto [known, is_new] = named_ranges_.try_emplace(name, Operation::unknown);
    if (!is_new) return known->second;
    const std::string_view text = catalog_.strings[name];
    if (!is_collective_range_name(text)) return Operation::unknown;
    const Operation operation = operation_of_pytorch(text.substr(text.find_last_of(':') + 1));
    if (operation != Operation::send && operation != Operation::receive) known->second = operation;
    return known->second;
  }

  void named_range(ProcessId id, const Event& event) {
    if (!is_slice(event) || event.duration_ns < 0) return;
    const Operation operation = operation_of_range(event.name);
    if (operation == Operation::unknown) return;
    HostThread& thread = processes_[id].threads[event.track];
    thread.named = operation;
    thread.named_end_ns = slice_end(event, kLatest_ns);
  }

  void named_launch(ProcessId id, const Event& event) {
    if (event.correlation == 0 || !names_[event.name].launches) return;
    ProcessDrafts& process = processes_[id];
    const auto thread = process.threads.find(event.track);
    if (thread != process.threads.end() && event.start_ns < thread->second.named_end_ns)
      process.named.add(event.correlation, thread->second.named);
  }

  void launch(ProcessId id, const Event& event) {
    const bool launches = event.correlation != 0 && names_[event.name].launches;
    if (!with_reasons_ && !launches) return;
    ProcessDrafts& process = processes_[id];
    HostThread& thread = process.threads[event.track];
    if (launches && !thread.open_groups.empty() && !names_[event.name].is_async)
      end_lost_groups(process, thread, event.start_ns);
    if (with_reasons_) {
      const bool is_new = event.correlation > process.last_correlation,
                 is_next = event.correlation <= process.last_correlation + 1;
      process.last_correlation = std::max(process.last_correlation, event.correlation);
      if (launches) {
        process.launched += is_new;
        process.launched_next += is_new && is_next;
        const bool of_nccl = event.start_ns < std::max(thread.call_end_ns, thread.group_end_ns);
        const DraftId call = std::exchange(process.call_since_launch, kNoDraft);
        process.launches.add(event.correlation,
                             {event.start_ns, thread.last, std::exchange(process.last_launch, event.correlation),
                              of_nccl ? kNoDraft : call, is_next});
      }
      const std::int64_t end_ns = slice_end(event, kLatest_ns);
      if (thread.last.end_ns == kNoTime || end_ns > thread.last.end_ns)
        thread.last = {event.name, event.start_ns, end_ns};
    }
    if (!launches) return;
    if (thread.call != kNoDraft && thread.open_groups.empty() && event.start_ns < thread.call_end_ns) {
      process.waiting.add(event.correlation, {thread.call});
    } else if (event.start_ns < thread.group_end_ns && !thread.ended.empty()) {
      if (!process.waiting.add(event.correlation, thread.ended)) return;
      for (const DraftId each : thread.ended) ++process.drafts[each].launched;
    }
  }

  void work(ProcessId id, const Event& event, const Facts& facts, bool computes) {
    ProcessDrafts& process = processes_[id];
    const std::vector<DraftId> drafts = computes ? std::vector<DraftId>{} : drafts_of(id, event, facts);
    if (!with_reasons_ && drafts.empty()) return;
    DeviceWork& device = process.devices[catalog_.tracks[event.track].group];
    const std::int64_t start_ns = sane_ns(event.start_ns);
    const std::int64_t end_ns =
        event.duration_ns >= 0 ? std::max(start_ns, sane_ns(slice_end(event, kLatest_ns))) : start_ns;
    if (!with_reasons_) {
      for (const DraftId draft : drafts) extend(process, draft, event, device);
      return;
    }
    const bool copies = drafts.empty() && (event.kind == Kind::memcpy || event.kind == Kind::memset);
    const GpuLedger::Use use = computes ? GpuLedger::Use::compute
                               : copies ? GpuLedger::Use::copy
                                        : GpuLedger::Use::communication;
    late_launch(id, device.ledger, device.ledger.work(use, start_ns, end_ns), event.correlation);
    if (use != GpuLedger::Use::communication) count_work(process, event, facts, computes);
    if (computes && event.duration_ns >= 0) device.cover.compute(start_ns, end_ns, uncover(process));
    for (const DraftId draft : drafts) extend(process, draft, event, device);
  }

  // Adds the part of a gap on the GPU that passed before the host launched the work after it, and what the host did
  // then. If work launched or called before is missing, or may be, it was lost, and there may have been no gap.
  void late_launch(ProcessId id, GpuLedger& ledger, GpuLedger::Gap gap, std::uint64_t correlation) {
    ProcessDrafts& process = processes_[id];
    const HostLaunch* const found = process.launches.find(correlation);
    if (found == nullptr) return;
    const HostLaunch launch = *found;
    process.knows_launches = true;
    process.launches.forget(correlation);
    const std::int64_t until_ns = std::min(launch.start_ns, gap.to_ns);
    if (until_ns <= gap.from_ns || has_not_come(process, launch) || may_follow_lost(id, launch)) return;
    ledger.launched_late(until_ns - gap.from_ns);
    const auto within_ns = [&](std::int64_t from_ns, std::int64_t to_ns) {
      return std::max<std::int64_t>(0, std::min(to_ns, until_ns) - std::max(from_ns, gap.from_ns));
    };
    if (launch.before.end_ns == kNoTime) return;
    process.outside_ns += within_ns(launch.before.end_ns, until_ns);
    process.collecting_ns += process.collections.within_ns(std::max(launch.before.end_ns, gap.from_ns), until_ns);
    if (const auto ns = within_ns(launch.before.start_ns, launch.before.end_ns); ns > 0)
      process.in_calls_ns[launch.before.name] += ns;
  }

  static bool has_not_come(const ProcessDrafts& process, const HostLaunch& launch) {
    if (process.launches.find(launch.launched_before) != nullptr) return true;
    return launch.called_before != kNoDraft && process.drafts[launch.called_before].call.gpu_start_ns == kNoTime;
  }

  // Returns true if lost work may precede the launch. A launch lost together with its work leaves no trace except its
  // missing correlation. All correlations are present if most launches directly follow the previous call; otherwise
  // calls that were not requested are missing.
  bool may_follow_lost(ProcessId id, const HostLaunch& launch) const {
    const Process& whole = catalog_.processes[id];
    const auto is_lost = [&](Kind kind) { return whole.lost[static_cast<std::size_t>(kind)] > 0; };
    const bool any = is_lost(Kind::runtime) || is_lost(Kind::driver) || whole.lost_unknown_kind > 0;
    return any && !launch.is_next && 2 * processes_[id].launched_next >= processes_[id].launched;
  }

  static void count_work(ProcessDrafts& process, const Event& event, const Facts& facts, bool computes) {
    if (event.duration_ns < 0) return;
    const KernelFacts* const kernel = facts.get<KernelFacts>();
    const LaunchId launch = kernel != nullptr ? kernel->launch : LaunchId{};
    WorkSum& sum = process.work[std::uint64_t{event.name} << 32 | launch];
    sum.name = event.name;
    sum.launch = launch;
    sum.computes = computes;
    ++sum.count;
    sum.sum_ns += sane_ns(event.duration_ns);
  }

  static void add_work(const ProcessDrafts& process, ProcessCalls& found) {
    for (const auto& [key, sum] : process.work) found.work.push_back(sum);
    std::sort(found.work.begin(), found.work.end(), [](const WorkSum& a, const WorkSum& b) {
      return std::pair(a.name, a.launch) < std::pair(b.name, b.launch);
    });
    found.knows_launches = process.knows_launches;
    HostDelay& delay = found.host_delay;
    delay.outside_ns = process.outside_ns;
    delay.collecting_ns = process.collecting_ns;
    delay.in_calls.assign(process.in_calls_ns.begin(), process.in_calls_ns.end());
    std::ranges::stable_sort(delay.in_calls, [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  // Returns the calls to which this work belongs. Creates one if only the work is known.
  std::vector<DraftId> drafts_of(ProcessId id, const Event& event, const Facts& facts) {
    ProcessDrafts& process = processes_[id];
    const bool communicates = event.kind == Kind::kernel && names_[event.name].communicates;
    if (catalog_.processes[id].format == SourceFormat::kineto)
      return communicates ? std::vector{add(process, profiled(id, event, facts))} : std::vector<DraftId>{};
    const KernelFacts* const kernel = facts.get<KernelFacts>();
    if (kernel != nullptr && kernel->graph.any())
      return communicates ? std::vector{add(process, replayed(id, event, kernel->graph))} : std::vector<DraftId>{};
    if (const auto* const waiting = process.waiting.find(event.correlation)) {
      for (const DraftId each : *waiting) process.drafts[each].ended += event.duration_ns >= 0;
      const std::vector<DraftId> calls = chosen(process, *waiting, event);
      if (!calls.empty()) return calls;
    }
    return communicates ? std::vector{add(process, lone(event))} : std::vector<DraftId>{};
  }

  // Returns the calls of a group to which a kernel may belong, if these are all of one communicator. The stream of a
  // communicator is known from groups of its own; if it is unknown, or there are several (kNoTrack), the work may be on
  // any stream.
  std::vector<DraftId> chosen(ProcessDrafts& process, std::vector<DraftId> calls, const Event& event) {
    const auto communicator_of = [&](DraftId draft) { return process.drafts[draft].key.communicator; };
    const auto is_one = [&] {
      return std::all_of(calls.begin(), calls.end(),
                         [&](DraftId each) { return communicator_of(each) == communicator_of(calls[0]); });
    };
    if (!calls.empty() && is_one() && communicator_of(calls[0]) != kNoCommunicator) {
      const auto [known, is_new] = process.streams.try_emplace(communicator_of(calls[0]), event.track);
      if (!is_new && known->second != event.track) known->second = kNoTrack;
    }
    if (event.kind == Kind::kernel && calls.size() > 1) {
      const Operation kernel = operation_of_kernel(catalog_.strings[event.name]);
      std::erase_if(calls,
                    [&](DraftId each) { return !can_do(kernel, whats_[process.drafts[each].call.what].operation); });
    }
    if (!is_one()) {
      std::erase_if(calls, [&](DraftId each) {
        const auto stream = process.streams.find(communicator_of(each));
        return stream != process.streams.end() && stream->second != kNoTrack && stream->second != event.track;
      });
    }
    if (!is_one()) return {};
    return calls;
  }

  Draft lone(const Event& event) {
    Draft draft;
    draft.call.what = whats_.intern({.operation = operation_of_kernel(catalog_.strings[event.name])});
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
    draft.call.what =
        whats_.intern(what_of(operation, capture.collective, has_bytes ? std::optional(capture.bytes) : std::nullopt));
    draft.key = key_of(catalog_.processes[id], capture.collective, operation);
    draft.key.replay = true;
    draft.key.numbering = Numbering::counted;
    captured_.insert({id, draft.key.communicator, draft.key.source, draft.key.destination, capture.collective.ordinal});
    return draft;
  }

  Draft profiled(ProcessId id, const Event& event, const Facts& facts) {
    Draft draft = lone(event);
    const ProfiledKernelFacts* const kernel = facts.get<ProfiledKernelFacts>();
    if (const Operation* const named = processes_[id].named.find(event.correlation)) {
      CollectiveWhat what = whats_[draft.call.what];
      if (can_do(what.operation, *named)) what.operation = *named;
      draft.call.what = whats_.intern(what);
      processes_[id].named.forget(event.correlation);
    }
    if (kernel == nullptr || kernel->collective_op == 0) return draft;
    const CollectiveOp& op = catalog_.collective_ops[kernel->collective_op];
    CollectiveWhat what = whats_[draft.call.what];
    if (const Operation told = operation_of_pytorch(catalog_.strings[op.name]); told != Operation::unknown)
      what.operation = told;
    what.buffer_bytes = size_of_buffers(op.in_elements, op.out_elements, catalog_.strings[op.data_type]).value_or(-1);
    draft.call.what = whats_.intern(what);
    if (op.group_name == 0) return draft;
    draft.key.communicator = communicator(catalog_.processes[id], op);
    draft.key.point_to_point = what.operation == Operation::send || what.operation == Operation::receive;
    if (draft.key.point_to_point) {
      pair_of(catalog_.processes[id], op, what.operation, draft.key);
      // Each rank numbers its own sends and receives, independent of the other rank
      if (op.group_size != 2) return draft;
    }
    if (!std::in_range<std::int64_t>(kernel->sequence) || kernel->sequence > kLatest_ns / kCallsOfOneSeq) return draft;
    draft.key.numbering = Numbering::numbered;
    draft.call.position = static_cast<std::int64_t>(kernel->sequence) * kCallsOfOneSeq;
    draft.step = kCallsOfOneSeq;
    return draft;
  }

  // Sets the ranks of a send or receive. PyTorch records the other rank as an index in the group. In a group of two,
  // each rank determines the other one.
  void pair_of(const Process& process, const CollectiveOp& op, Operation operation, LaneKey& key) const {
    const bool sends = operation == Operation::send;
    std::int64_t own = place_of(process.rank, catalog_.strings[op.group_ranks]);
    std::int64_t other = sends ? op.destination_rank : op.source_rank;
    if (op.group_size == 2 && own < 0 && (other == 0 || other == 1)) own = 1 - other;
    if (op.group_size == 2 && own >= 0) other = 1 - own;
    if (own < 0 || other < 0 || !std::in_range<std::int32_t>(own) || !std::in_range<std::int32_t>(other)) return;
    key.source = static_cast<std::int32_t>(sends ? own : other);
    key.destination = static_cast<std::int32_t>(sends ? other : own);
  }

  // Returns the index of a rank in a list such as "[4, 6]", whose end may be missing; -1 if it is not found.
  static std::int64_t place_of(std::int64_t rank, std::string_view ranks) {
    if (rank < 0 || !ranks.starts_with('[')) return -1;
    const char *at = ranks.data() + 1, *const end = ranks.data() + ranks.size();
    for (std::int64_t place = 0; at < end; ++place) {
      std::int64_t each = -1;
      const auto [behind, error] = std::from_chars(at, end, each);
      // The last number may be incomplete if the list is cut.
      if (error != std::errc() || behind == end || (*behind != ',' && *behind != ']')) return -1;
      if (each == rank) return place;
      for (at = behind + 1; at < end && *at == ' ';) ++at;
    }
    return -1;
  }

  void extend(ProcessDrafts& process, DraftId id, const Event& event, DeviceWork& device) {
    Draft& draft = process.drafts[id];
    CollectiveCall& call = draft.call;
    draft.stream = event.track;
    const std::int64_t start_ns = sane_ns(event.start_ns);
    const bool is_first = call.gpu_start_ns == kNoTime;
    if (is_first) {
      call.gpu_start_ns = start_ns;
      call.before = device.ledger.accounts();
      call.gpu_track = event.track;
      call.gpu_name = event.name;
    }
    if (event.duration_ns < 0) return;
    const std::int64_t end_ns = std::max(start_ns, sane_ns(slice_end(event, kLatest_ns)));
    const std::int64_t from_ns = call.gpu_end_ns == kNoTime ? start_ns : std::max(start_ns, call.gpu_end_ns);
    call.gpu_end_ns = std::max(call.gpu_end_ns, end_ns);
    if (!with_reasons_ || from_ns >= end_ns) return;
    call.exposed_ns += end_ns - from_ns;
    device.cover.watch(id, from_ns, end_ns, uncover(process));
  }

  // ---- lanes ----

  ProcessCalls lanes_of(ProcessId id) {
    ProcessDrafts& process = processes_[id];
    ProcessCalls found;
    const bool is_ring = catalog_.processes[id].format == SourceFormat::ring;
    const bool has_numbers = std::any_of(process.drafts.begin(), process.drafts.end(),
                                         [](const Draft& draft) { return draft.key.numbering == Numbering::numbered; });
    // If a stream is used for only one communicator, all of its work belongs to that.
    std::map<TrackId, std::set<LaneKey>> on_stream;
    for (const Draft& draft : process.drafts) {
      if (draft.key.communicator != kNoCommunicator && draft.stream != kNoTrack && !is_ring)
        on_stream[draft.stream].insert(draft.key);
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
    std::vector<Draft>().swap(process.drafts);
    const Process& whole = catalog_.processes[id];
    const std::size_t kernel = static_cast<std::size_t>(Kind::kernel);
    const bool whole_beginning =
        is_ring && whole.overwritten[kernel] == 0 && whole.lost[kernel] == 0 && whole.lost_unknown_kind == 0;
    for (auto& [key, drafts] : lanes)
      found.lanes.push_back(lane_of(key, drafts, whole_beginning, found.works_without_call));
    std::erase_if(found.lanes, [](const CollectiveLane& lane) { return lane.calls.empty(); });
    return found;
  }

  // Returns true if the call was captured, and so launched nothing itself.
  bool is_captured(ProcessId id, const Draft& draft) const {
    return draft.call.gpu_start_ns == kNoTime && draft.key.numbering == Numbering::numbered &&
           captured_.count({id, draft.key.communicator, draft.key.source, draft.key.destination,
                            static_cast<std::uint64_t>(draft.call.position)}) != 0;
  }

  CollectiveLane lane_of(const LaneKey& key, std::vector<Draft>& drafts, bool whole_beginning,
                         std::uint64_t& left_out) {
    CollectiveLane lane;
    static_cast<LaneKind&>(lane) = key;  // its communicator may be kNoCommunicator until take()
    lane.whole_beginning = whole_beginning;
    for (const Draft& draft : drafts) lane.ordinal_step = std::max(lane.ordinal_step, draft.step);
    if (key.numbering == Numbering::counted || lane.ordinal_step > 1) {
      std::stable_sort(drafts.begin(), drafts.end(),
                       [](const Draft& a, const Draft& b) { return a.call.gpu_start_ns < b.call.gpu_start_ns; });
    }
    if (key.numbering == Numbering::counted) {
      for (std::size_t i = 0; i < drafts.size(); ++i) drafts[i].call.position = static_cast<std::int64_t>(i);
    } else if (lane.ordinal_step > 1) {
      left_out += number_by_neighbours(drafts, lane.ordinal_step);
    }
    std::ranges::stable_sort(drafts, [](const Draft& a, const Draft& b) { return a.call.position < b.call.position; });
    for (Draft& draft : drafts) {
      // Calls with one number, as those of a coalesced operation, have consecutive positions.
      if (lane.ordinal_step > 1 && !lane.calls.empty() && lane.calls.back().position >= draft.call.position)
        draft.call.position = lane.calls.back().position + 1;
      lane.calls.push_back(draft.call);
      lane.calls.back().group_has_ended = draft.launched > 0 && draft.ended >= draft.launched;
    }
    return lane;
  }

  // Calls before the first numbered one get preceding numbers. Other calls without a number are skipped; returns their
  // number.
  static std::uint64_t number_by_neighbours(std::vector<Draft>& drafts, std::int64_t step) {
    const auto first = std::find_if(drafts.begin(), drafts.end(),
                                    [](const Draft& draft) { return draft.call.position != kNoPosition; });
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
  const bool with_reasons_;
  NameClasses names_;
  std::vector<ProcessDrafts> processes_;
  std::vector<ProcessCalls> found_;  // of processes that have ended
  Interned<CollectiveWhat> whats_;
  std::vector<CommunicatorInfo> communicators_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::string>, CommunicatorId> by_hash_;
  std::map<std::tuple<StringId, StringId, std::string>, CommunicatorId> by_group_;
  std::set<std::tuple<ProcessId, CommunicatorId, std::int32_t, std::int32_t, std::uint64_t>> captured_;
  std::unordered_map<StringId, Operation> named_ranges_;
  CommunicatorId unknown_ = kNoCommunicator;
};

}  // namespace

std::unique_ptr<CallCollector> make_call_collector(const Catalog& catalog, CallDetail detail) {
  return std::make_unique<Collector>(catalog, detail);
}

void join_calls(CollectiveCalls from, ProcessId first, CollectiveCalls& to) {
  std::vector<WhatId> whats;
  for (const CollectiveWhat& what : from.whats.all()) whats.push_back(to.whats.intern(what));
  std::vector<CommunicatorId> communicators;
  for (const CommunicatorInfo& info : from.communicators) {
    const auto is_same = [&](const CommunicatorInfo& other) {
      return other.label == info.label && other.epoch == info.epoch && other.scope == info.scope &&
             other.members == info.members;
    };
    auto known = std::find_if(to.communicators.begin(), to.communicators.end(), is_same);
    if (known == to.communicators.end()) known = to.communicators.insert(known, info);
    if (known->size < 0) known->size = info.size;
    communicators.push_back(static_cast<CommunicatorId>(known - to.communicators.begin()));
  }
  to.processes.resize(first);
  for (ProcessCalls& process : from.processes) {
    for (CollectiveLane& lane : process.lanes) {
      lane.communicator = communicators[lane.communicator];
      for (CollectiveCall& call : lane.calls) call.what = whats[call.what];
    }
    to.processes.push_back(std::move(process));
  }
}

bool can_be_same(const CollectiveWhat& one, const CollectiveWhat& other) {
  const auto agree = [](auto a, auto b) { return a < 0 || b < 0 || a == b; };
  const bool any = one.operation == Operation::unknown || other.operation == Operation::unknown;
  const bool pair = (one.operation == Operation::send && other.operation == Operation::receive) ||
                    (one.operation == Operation::receive && other.operation == Operation::send);
  const bool same_work = can_do(one.operation, other.operation) || can_do(other.operation, one.operation);
  if (!any && !pair && !same_work) return false;
  if (!agree(one.reduction, other.reduction) || !agree(one.root, other.root) || !agree(one.data_type, other.data_type))
    return false;
  if (!has_one_size(one.operation) || !has_one_size(other.operation)) return true;
  return agree(one.message_bytes, other.message_bytes) && agree(one.buffer_bytes, other.buffer_bytes);
}

}  // namespace cli
