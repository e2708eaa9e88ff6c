#include "cli/formats/kineto/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "cli/formats/export/exporter.h"
#include "cli/trace/words.h"

namespace cli::kineto {

namespace {

using Ranks = std::unordered_map<std::uint64_t, std::set<std::int64_t>>;

// By communicator of the process: the ranks that have it.
Ranks members(const Catalog& catalog, const Process& process) {
  Ranks found;
  for (const Communicator& c : process.communicators) {
    if (c.communicator != 0) found[c.communicator];
  }
  for (const Process& p : catalog.processes) {
    for (const Communicator& c : p.communicators) {
      const auto ranks = found.find(c.communicator);
      if (ranks != found.end() && p.rank >= 0) ranks->second.insert(p.rank);
    }
  }
  return found;
}

}  // namespace

std::string communicator_name(std::uint64_t communicator) { return fmt::format("{:#018x}", communicator); }

// A parent precedes its splits.
Groups::Groups(const Catalog& catalog, const Process& process) {
  const Ranks found = members(catalog, process);
  for (const Communicator& c : process.communicators) {
    if (c.communicator == 0) continue;
    const auto& ranks = found.at(c.communicator);
    const Group* parent = find(c.parent);
    const bool all_of_parent = parent != nullptr && !parent->ranks.empty();
    Group& group = groups_[c.communicator];
    group.size = c.ranks > 0 ? c.ranks : all_of_parent ? static_cast<std::int64_t>(ranks.size()) : group.size;
    if (group.size == static_cast<std::int64_t>(ranks.size())) group.ranks.assign(ranks.begin(), ranks.end());
  }
}

const Groups::Group* Groups::find(std::uint64_t communicator) const {
  const auto group = groups_.find(communicator);
  return group == groups_.end() ? nullptr : &group->second;
}

std::string list(const std::vector<std::int64_t>& ranks, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return text + (ranks.size() > most ? ", ..." : "");
}

namespace {

struct Operation {
  std::string_view call, name;  // our name, PyTorch's for one call with whole buffers
  std::string_view kernel;      // operation of its kernels: ncclDevKernel_AllReduce_Sum_bf16_RING_LL
  bool all_in, all_out;         // the buffer has one message for each rank of the group
};
constexpr Operation kOperations[] = {
    {"ncclAllReduce", "allreduce", "AllReduce", false, false},
    {"ncclAllGather", "_allgather_base", "AllGather", false, true},
    {"ncclReduceScatter", "_reduce_scatter_base", "ReduceScatter", true, false},
    {"ncclBroadcast", "broadcast", "Broadcast", false, false},
    {"ncclBcast", "broadcast", "Broadcast", false, false},
    {"ncclReduce", "reduce", "Reduce", false, false},
    {"ncclAlltoAll", "all_to_all", "SendRecv", true, true},
    {"ncclAllToAll", "all_to_all", "SendRecv", true, true},
    {"ncclSend", "send", "SendRecv", false, false},
    {"ncclRecv", "recv", "SendRecv", false, false},
};
constexpr std::string_view kKernels = "ncclDevKernel_";
constexpr std::string_view kAnyOperation = "Generic";

// PyTorch's names are c10::toString of the scalar type. Kernel names do not distinguish signed from unsigned integers.
struct DataType {
  std::string_view ours, in_kernels, name;
  std::uint64_t bytes;
};
constexpr DataType kDataTypes[] = {
    {"ncclInt8", "", "Char", 1},
    {"ncclUint8", "", "Byte", 1},
    {"ncclInt32", "", "Int", 4},
    {"ncclUint32", "", "UInt32", 4},
    {"ncclInt64", "", "Long", 8},
    {"ncclUint64", "", "UInt64", 8},
    {"ncclFloat16", "f16", "Half", 2},
    {"ncclFloat32", "f32", "Float", 4},
    {"ncclFloat64", "f64", "Double", 8},
    {"ncclBfloat16", "bf16", "BFloat16", 2},
    {"ncclFloat8e4m3", "f8e4m3", "Float8_e4m3fn", 1},
    {"ncclFloat8e5m2", "f8e5m2", "Float8_e5m2", 1},
};
constexpr std::string_view kBytes = "Byte";
constexpr std::size_t kMostRanksListed = 30;  // PyTorch's limit

template <typename Table, typename Field>
auto find_entry(const Table& table, Field field, std::string_view wanted) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& entry) { return entry.*field == wanted; });
  return found == std::end(table) || wanted.empty() ? nullptr : &*found;
}

// Returns bf16 for ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...) and ncclAllReduce.
std::string_view type_in_name(std::string_view kernel, std::string_view call) {
  const std::string head = fmt::format("ncclDevKernel_{}_", call.substr(std::string_view("nccl").size()));
  if (!kernel.starts_with(head)) return {};
  kernel.remove_prefix(std::min(kernel.find('_', head.size()), kernel.size() - 1) + 1);
  return kernel.substr(0, kernel.find('_'));
}

// Returns false if the kernel is of another operation than its launch suggests.
bool can_do(std::string_view kernel, const Operation& operation) {
  if (!kernel.starts_with(kKernels)) return true;
  kernel.remove_prefix(kKernels.size());
  const std::string_view what = kernel.substr(0, kernel.find_first_of("_("));
  return what == kAnyOperation || what == operation.kernel;
}

struct Elements {
  std::string_view type;
  std::uint64_t count;
};
std::optional<Elements> elements(const Message& message, std::string_view kernel) {
  if (!message.type.empty()) return Elements{message.type, message.count};
  if (!message.bytes) return {};
  const DataType* type = find_entry(kDataTypes, &DataType::in_kernels, type_in_name(kernel, message.call));
  if (type == nullptr || *message.bytes % type->bytes != 0) return Elements{kBytes, *message.bytes};
  return Elements{type->name, *message.bytes / type->bytes};
}

std::optional<Message> message(std::string_view call, const Collective& collective) {
  const Operation* operation = find_entry(kOperations, &Operation::call, call);
  if (operation == nullptr || (collective.has & Collective::kCommunicator) == 0) return {};
  Message found;
  found.call = operation->call;
  found.communicator = collective.communicator;
  return found;
}

}  // namespace

std::optional<Message> message_of_call(std::string_view call, const Event& event, const Facts& facts) {
  const NcclFacts* const nccl = facts.get<NcclFacts>();
  auto found = nccl != nullptr ? message(call, nccl->collective) : std::nullopt;
  if (!found) return {};
  const bool told = (nccl->collective.has & Collective::kTypeAndCount) != 0;
  const DataType* type =
      told ? find_entry(kDataTypes, &DataType::ours, nccl_type_name(nccl->collective.data_type)) : nullptr;
  if (type != nullptr) {
    found->type = type->name;
    found->count = nccl->collective.count;
  }
  if (event.has_bytes) found->bytes = event.bytes;
  return found;
}

std::optional<Message> message_of_graph(const Catalog& catalog, CaptureId id) {
  const Capture& capture = catalog.captures[id];
  if (!capture.has_call || capture.first_of_group) return {};
  auto found = message(catalog.strings[capture.call], capture.collective);
  if (found && (capture.collective.has & Collective::kBytes) != 0) found->bytes = capture.bytes;
  return found;
}

std::string kineto_members(const Message& message, std::string_view kernel, const Groups& groups) {
  const auto one = elements(message, kernel);
  const Groups::Group* group = groups.find(message.communicator);
  const Operation& operation = *find_entry(kOperations, &Operation::call, message.call);
  if (!one || group == nullptr || group->size <= 0 || !can_do(kernel, operation)) return {};
  const std::uint64_t all = one->count * static_cast<std::uint64_t>(group->size);
  const std::string ranks =
      group->ranks.empty() ? ""
                           : fmt::format(", \"Process Group Ranks\": \"[{}]\"", list(group->ranks, kMostRanksListed));
  return fmt::format(
      "\"Collective name\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group size\": {}, "
      "\"dtype\": \"{}\", \"Process Group Name\": \"{}\"{}",
      operation.name, operation.all_in ? all : one->count, operation.all_out ? all : one->count, group->size, one->type,
      communicator_name(message.communicator), ranks);
}

namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::min();

bool is_whole(const Event& event) { return event.phase == 'X' && event.duration_ns >= 0; }

}  // namespace

std::string Collectives::event(const Event& event, const Facts& facts) {
  if (event.kind == Kind::nccl) {
    call(event, facts);
    return std::string();
  }
  if (event.kind == Kind::nvtx) {
    range(event, facts);
    return std::string();
  }
  if (is_api_call(event.kind) && event.correlation != 0) {
    launch(event);
    return std::string();
  }
  return event.kind == Kind::kernel ? kernel(event, facts) : std::string();
}

void Collectives::call(const Event& event, const Facts& facts) {
  Thread& thread = threads_[event.track];
  ++thread.calls;
  thread.message = is_whole(event) ? message_of_call(catalog_.strings[event.name], event, facts) : std::nullopt;
  thread.end_ns = thread.open_groups > 0 ? kNoEnd : slice_end(event, kNoEnd);
}

void Collectives::range(const Event& event, const Facts& facts) {
  const std::string_view name = catalog_.strings[event.name];
  const RangeFacts* const range = facts.get<RangeFacts>();
  if (!is_whole(event) || range == nullptr || !name.starts_with("ncclGroup")) return;
  if (catalog_.strings[range->domain] != "NCCL") return;
  Thread& thread = threads_[event.track];
  if (name == "ncclGroupStart" && thread.open_groups++ == 0) thread.calls = 0;
  if (name == "ncclGroupEnd") end_group(thread, slice_end(event, kNoEnd));
}

// For an end without a start, as at the beginning of a ring, the calls before it are unknown.
void Collectives::end_group(Thread& thread, std::int64_t end_ns) {
  const bool outermost = thread.open_groups == 1;
  if (!outermost || thread.calls != 1) thread.end_ns = kNoEnd;
  if (outermost && thread.calls == 1) thread.end_ns = end_ns;
  thread.open_groups -= thread.open_groups > 0;
}

void Collectives::launch(const Event& api) {
  const auto thread = threads_.find(api.track);
  if (thread == threads_.end() || !thread->second.message) return;
  if (slice_end(api, api.start_ns) > thread->second.end_ns) return;
  if (catalog_.strings[api.name].find("LaunchKernel") == std::string_view::npos) return;
  if (waiting_.size() == kMostWaiting) {
    waiting_.erase(order_.front());
    order_.pop_front();
  }
  if (waiting_.insert_or_assign(api.correlation, *thread->second.message).second) order_.push_back(api.correlation);
  thread->second.message.reset();
}

std::string Collectives::kernel(const Event& event, const Facts& facts) {
  const std::string_view name = catalog_.strings[event.name];
  if (!is_comm_name(name)) return {};
  const KernelFacts* const of = facts.get<KernelFacts>();
  const auto captured = of != nullptr ? message_of_graph(catalog_, of->graph.capture) : std::nullopt;
  const auto message = captured ? captured : take(event.correlation);
  return message ? kineto_members(*message, name, groups_) : std::string();
}

std::optional<Message> Collectives::take(std::uint64_t correlation) {
  const auto found = waiting_.find(correlation);
  if (found == waiting_.end()) return {};
  const Message message = found->second;
  waiting_.erase(found);
  order_.erase(std::find(order_.begin(), order_.end(), correlation));
  return message;
}

}  // namespace cli::kineto
