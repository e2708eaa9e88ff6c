#include "cli/export/kineto_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/export/census.h"
#include "cli/export/kineto_args.h"

namespace cli {
namespace {

struct Operation {
  std::string_view call, name;  // ours, Kineto's
  bool all_in, all_out;         // the buffer holds one message for each rank of the group
};
constexpr Operation kOperations[] = {
    {"ncclAllReduce", "allreduce", false, false},
    {"ncclAllGather", "allgather", false, true},
    {"ncclReduceScatter", "reduce_scatter", true, false},
    {"ncclBroadcast", "broadcast", false, false},
    {"ncclBcast", "broadcast", false, false},
    {"ncclReduce", "reduce", false, false},
    {"ncclAlltoAll", "all_to_all", true, true},
    {"ncclAllToAll", "all_to_all", true, true},
    {"ncclSend", "send", false, false},
    {"ncclRecv", "recv", false, false},
};

// PyTorch's names (c10::toString of the scalar type).
struct DataType {
  std::string_view ours, name;
};
constexpr DataType kDataTypes[] = {
    {"ncclInt8", "Char"},
    {"ncclUint8", "Byte"},
    {"ncclInt32", "Int"},
    {"ncclUint32", "UInt32"},
    {"ncclInt64", "Long"},
    {"ncclUint64", "UInt64"},
    {"ncclFloat16", "Half"},
    {"ncclFloat32", "Float"},
    {"ncclFloat64", "Double"},
    {"ncclBfloat16", "BFloat16"},
    {"ncclFloat8e4m3", "Float8_e4m3fn"},
    {"ncclFloat8e5m2", "Float8_e5m2"},
};

template <typename Table, typename Field>
auto find_row(const Table& table, Field field, std::string_view wanted) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.*field == wanted; });
  return found == std::end(table) ? nullptr : &*found;
}

}  // namespace

std::string KinetoCollectives::event(const Event& event, std::string_view args) {
  if (event.kind == Kind::nccl) return begin(event, args), std::string();
  if (is_api_call(event.kind) && event.correlation != 0) return launch(event), std::string();
  if (event.kind != Kind::kernel || waiting_.empty() || !is_nccl_name(catalog_.strings[event.name])) return {};
  return take(event.correlation);
}

void KinetoCollectives::begin(const Event& call, std::string_view args) {
  if (call.phase != 'X' || call.duration_ns < 0) return;
  calls_[call.track] = {call.start_ns + call.duration_ns, members(catalog_.strings[call.name], args)};
}

void KinetoCollectives::launch(const Event& api) {
  const auto call = calls_.find(api.track);
  if (call == calls_.end() || call->second.args.empty() || slice_end(api, api.start_ns) > call->second.end_ns) return;
  if (catalog_.strings[api.name].find("LaunchKernel") == std::string_view::npos) return;
  if (waiting_.size() == kMostWaiting) waiting_.erase(order_.front()), order_.pop_front();
  if (waiting_.try_emplace(api.correlation, std::move(call->second.args)).second) order_.push_back(api.correlation);
  call->second.args.clear();
}

std::string KinetoCollectives::take(std::uint64_t correlation) {
  const auto found = waiting_.find(correlation);
  if (found == waiting_.end()) return {};
  std::string args = std::move(found->second);
  waiting_.erase(found);
  order_.erase(std::find(order_.begin(), order_.end(), correlation));
  return args;
}

// As Kineto does it: all of name, sizes, group and type, or none.
std::string KinetoCollectives::members(std::string_view name, std::string_view args) const {
  const Operation* operation = find_row(kOperations, &Operation::call, name);
  const DataType* type = find_row(kDataTypes, &DataType::ours, argument(args, "data type"));
  const auto count = integer<std::uint64_t>(argument(args, "count"));
  const std::string_view communicator = argument(args, "communicator");
  const std::int64_t ranks = group_size(communicator);
  if (operation == nullptr || type == nullptr || !count || ranks <= 0) return {};
  const auto all = *count * static_cast<std::uint64_t>(ranks);
  return fmt::format(
      "\"Collective name\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group size\": {}, "
      "\"dtype\": \"{}\", \"Process Group Name\": \"{}\"",
      operation->name, operation->all_in ? all : *count, operation->all_out ? all : *count, ranks, type->name,
      communicator);
}

std::int64_t KinetoCollectives::group_size(std::string_view communicator) const {
  const auto hash = hex_number(communicator);
  if (!hash) return -1;
  for (const Communicator& c : process_.communicators) {
    if (c.communicator == *hash) return c.ranks;
  }
  return -1;
}

}  // namespace cli
