#include "cli/formats/export/args_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>

#include "cli/base/json_text.h"
#include "cli/formats/export/shared_json.h"
#include "cli/trace/short_name.h"
#include "cli/trace/words.h"
#include "common/hash.h"

namespace cli {
namespace {

constexpr std::uint32_t kMostCalls = 4096;     // CUPTI numbers the calls of an API sequentially: about 900
constexpr std::size_t kKernelTexts = 1 << 12;  // about 300 bytes each

// Hashes and addresses use all 64 bits, more than a viewer's numbers have, so they are text.
std::string wide_hex(std::uint64_t value) { return fmt::format("{:#018x}", value); }

// JSON has no infinity and no NaN, so they are text.
template <typename Real>
std::string real(Real value) {
  return std::isfinite(value) ? fmt::format("{}", value) : fmt::format("\"{}\"", value);
}

// Names of nvtxPayloadType_t; "" if there is none.
std::string payload_text(std::uint8_t type, std::uint64_t payload) {
  const auto low = static_cast<std::uint32_t>(payload);
  switch (type) {
    case 1:
      return fmt::format("{}", payload);
    case 2:
      return fmt::format("{}", static_cast<std::int64_t>(payload));
    case 3:
      return real(std::bit_cast<double>(payload));
    case 4:
      return fmt::format("{}", low);
    case 5:
      return fmt::format("{}", static_cast<std::int32_t>(low));
    case 6:
      return real(std::bit_cast<float>(low));
    default:
      return {};
  }
}

}  // namespace

SaidArgs ArgsText::operator()(const Event& event, const Facts& facts) {
  if (event.json.args_complete || facts.tag() == 0) return facts.foreign(out_);
  if (!facts.has_foreign()) {
    if (const KeptText* kept = known(event, facts)) return {kept->text, kept->id};
  }
  out_.clear();
  visit_payload(facts.tag(), facts.data(), [&](const auto& payload) { say(event, payload); });
  if (!facts.has_foreign()) return std::string_view(out_);
  if (!out_.empty()) out_ += ", ";
  if (facts.shape != nullptr) facts.shape->put_together(facts.integers, out_);
  out_ += facts.args;
  return std::string_view(out_);
}

const ArgsText::KeptText* ArgsText::known(const Event& event, const Facts& facts) {
  if (facts.tag() == payload_tag<CallFacts>()) {
    const CallFacts& of_call = *facts.get<CallFacts>();
    return of_call.return_value == 0 && of_call.cbid < kMostCalls ? &call(event, of_call) : nullptr;
  }
  if (facts.tag() != payload_tag<KernelFacts>()) return nullptr;
  const KernelFacts& of_kernel = *facts.get<KernelFacts>();
  return of_kernel.graph.any() ? nullptr : &kernel(event, of_kernel);
}

const ArgsText::KeptText& ArgsText::call(const Event& event, const CallFacts& facts) {
  if (facts.cbid >= calls_.size()) calls_.resize(facts.cbid + std::size_t{1});
  KeptText& kept = calls_[facts.cbid];
  return kept.text.empty() ? keep(kept, event, facts) : kept;
}

const ArgsText::KeptText& ArgsText::kernel(const Event& event, const KernelFacts& facts) {
  if (kernels_.empty()) kernels_.resize(kKernelTexts);
  const std::uint64_t hash = trace::spread(std::uint64_t{facts.launch} << 32 | event.track);
  KernelText& known = kernels_[hash >> 32 & (kKernelTexts - 1)];
  const bool same = known.track == event.track && known.context == facts.context && known.launch == facts.launch;
  if (same && !known.kept.text.empty()) return known.kept;
  known.track = event.track;
  known.context = facts.context;
  known.launch = facts.launch;
  return keep(known.kept, event, facts);
}

template <typename P>
const ArgsText::KeptText& ArgsText::keep(KeptText& kept, const Event& event, const P& facts) {
  out_.clear();
  say(event, facts);
  kept.text = out_;
  kept.id = last_id_ + 1 < kMostSaid ? ++last_id_ : 0;
  return kept;
}

void ArgsText::key(std::string_view key) { out_.append(out_.empty() ? "\"" : ", \"").append(key).append("\": "); }

void ArgsText::number(std::string_view key, std::uint64_t value) {
  this->key(key);
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
}

void ArgsText::signed_number(std::string_view key, std::int64_t value) {
  this->key(key);
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
}

void ArgsText::quoted(std::string_view key, std::string_view plain) {
  this->key(key);
  out_.append("\"").append(plain).append("\"");
}

void ArgsText::string(std::string_view key, StringId id) {
  this->key(key);
  out_ += json_quoted(catalog_->strings[id]);
}

void ArgsText::place(TrackId track, std::uint32_t context) {
  if (track >= places_.size()) places_.resize(catalog_->tracks.size());
  Place& known = places_[track];
  if (known.text.empty() || known.context != context) {
    const Track& stream = catalog_->tracks[track];
    known.context = context;
    known.text = fmt::format("\"device\": {}, \"context\": {}, \"stream\": {}", stream.group, context, stream.id);
  }
  out_ += known.text;
}

const std::string& ArgsText::launch(LaunchId id) {
  if (id >= launches_.size()) launches_.resize(catalog_->launches.size());
  std::string& text = launches_[id];
  if (!text.empty()) return text;
  const Launch& l = catalog_->launches[id];
  text = fmt::format(
      ", \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"registers per thread\": {}, \"shared memory\": {}",
      l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.registers_per_thread, l.shared_bytes);
  if (l.local_bytes_per_thread != 0) text += fmt::format(", \"local memory per thread\": {}", l.local_bytes_per_thread);
  if (l.has_cluster()) text += fmt::format(", \"cluster\": [{}, {}, {}]", l.cluster[0], l.cluster[1], l.cluster[2]);
  if (l.launch_type != 0) text += fmt::format(", \"launch type\": \"{}\"", launch_type_name(l.launch_type));
  if (!l.estimated) return text;
  text += fmt::format(", \"blocks per SM\": {}, \"warps per SM\": {}", l.blocks_per_multiprocessor,
                      l.warps_per_multiprocessor);
  if (l.occupancy_percent >= 0) text += fmt::format(", \"est. achieved occupancy %\": {}", l.occupancy_percent);
  return text;
}

const std::string& ArgsText::capture(CaptureId id) {
  if (id >= captures_.size()) captures_.resize(catalog_->captures.size());
  if (!captures_[id].empty()) return captures_[id];
  const Capture& c = catalog_->captures[id];
  std::string before;
  before.swap(out_);
  if (c.known) {
    key("captured");
    out_ += "true";
  }
  if (c.has_range) string("nvtx range", c.range);
  if (c.has_range && c.has_domain) string("nvtx domain", c.domain);
  if (c.in_call) {
    if (c.has_call) string("nccl call", c.call);
    if ((c.collective.has & Collective::kBytes) != 0) number("nccl bytes", c.bytes);
    if (c.first_of_group) quoted("nccl group", "the first of several calls");
    collective(c.collective);
  }
  captures_[id] = std::move(out_);
  out_ = std::move(before);
  return captures_[id];
}

void ArgsText::graph(const GraphNode& graph) {
  if (!graph.any()) return;
  number("graph id", graph.graph);
  number("graph node id", graph.node);
  if (graph.capture != 0) out_.append(", ").append(capture(graph.capture));
}

void ArgsText::collective(const Collective& c) {
  const auto word = [this](std::string_view name, std::string_view text, std::uint32_t value) {
    text.empty() ? number(name, value) : quoted(name, text);  // the number if there is no name yet
  };
  if ((c.has & Collective::kCommunicator) != 0) quoted("communicator", wide_hex(c.communicator));
  if (c.epoch != 0) number("epoch", c.epoch);
  if (c.ordinal != kNoOrdinal) number("ordinal", c.ordinal);
  if ((c.has & Collective::kReduction) != 0) word("reduction", reduction_name(c.reduction), c.reduction);
  if ((c.has & Collective::kPeer) != 0) signed_number("peer", c.peer);
  if ((c.has & Collective::kTypeAndCount) != 0) {
    word("data type", nccl_type_name(c.data_type), c.data_type);
    number("count", c.count);
  }
  if ((c.has & Collective::kStream) != 0) quoted("stream handle", wide_hex(c.stream));
}

void ArgsText::say(const Event&, const CallFacts& facts) {
  number("cbid", facts.cbid);
  if (facts.return_value != 0) number("return value", facts.return_value);
}

void ArgsText::say(const Event& event, const KernelFacts& facts) {
  place(event.track, facts.context);
  out_ += launch(facts.launch);
  if (const auto priority = catalog_->tracks[event.track].priority) signed_number("priority", *priority);
  graph(facts.graph);
}

void ArgsText::say(const Event&, const RangeFacts& facts) {
  if (facts.has_domain) string("domain", facts.domain);
  if (facts.category != 0) number("category", facts.category);
  if (facts.category_name != 0) string("category name", facts.category_name);
  if (facts.color_argb != 0) quoted("color", fmt::format("#{:08x}", facts.color_argb));
  if (const std::string text = payload_text(facts.payload_type, facts.payload); !text.empty()) {
    key("payload");
    out_ += text;
  }
}

void ArgsText::say(const Event&, const NcclFacts& facts) {
  quoted("domain", "NCCL");
  collective(facts.collective);
}

void ArgsText::say(const Event& event, const CopyFacts& facts) {
  if (facts.between_devices) {
    const Track& stream = catalog_->tracks[event.track];
    number("fromDevice", facts.from_device);
    signed_number("inDevice", stream.group);
    number("toDevice", facts.to_device);
    number("fromContext", facts.from_context);
    number("inContext", facts.context);
    number("toContext", facts.to_context);
    signed_number("stream", stream.id);
  } else {
    place(event.track, facts.context);
  }
  graph(facts.graph);
}

void ArgsText::say(const Event& event, const SetFacts& facts) {
  place(event.track, facts.context);
  if (facts.value_is_known) number("value", facts.value);
  graph(facts.graph);
}

void ArgsText::say(const Event&, const EventRecordFacts& facts) {
  number("cbid", facts.cbid);
  number("event_id", facts.event);
  number("event_stream", facts.stream);
}

// The names of a synchronization are Kineto's, with its -1 for unknown values.
void ArgsText::say(const Event&, const SyncFacts& facts) {
  quoted("cuda_sync_kind", sync_name(facts.type));
  number("device", facts.device);
  number("context", facts.context);
  if (facts.stream != kNoNumber) number("stream", facts.stream);
  if (facts.return_value != 0) number("return value", facts.return_value);
  if (facts.event == kNoNumber) return;
  const bool known = facts.producer_is_known;
  signed_number("wait_on_stream", known ? std::int64_t{facts.producer_stream} : -1);
  signed_number("wait_on_cuda_event_record_corr_id", known ? std::int64_t{facts.producer_correlation} : -1);
  number("wait_on_cuda_event_id", facts.event);
}

void ArgsText::say(const Event& event, const GraphLaunchFacts& facts) {
  place(event.track, facts.context);
  number("graph id", facts.graph);
}

void ArgsText::say(const Event&, const OverheadFacts& facts) {
  number("overhead", facts.overhead);
  if (facts.object <= 2 && facts.tid != 0) number("tid", facts.tid);
  if (facts.object >= 3) number("device", facts.device);
  if (facts.object >= 4) number("context", facts.context);
  if (facts.object >= 5) number("stream", facts.stream);
}

void ArgsText::say(const Event&, const MemoryFacts& facts) {
  number("device", facts.device);
  number("context", facts.context);
  if (facts.stream != kNoNumber) number("stream", facts.stream);
  quoted("address", fmt::format("{:#x}", facts.address));
  if (facts.asynchronous) {
    key("asynchronous");
    out_ += "true";
  }
  if (facts.pool_address != 0) quoted("pool address", fmt::format("{:#x}", facts.pool_address));
}

void ArgsText::say(const Event&, const PoolFacts& facts) {
  number("device", facts.device);
  quoted("pool address", fmt::format("{:#x}", facts.address));
  number("pool type", facts.pool);
  number("used bytes", facts.used_bytes);
  number("release threshold bytes", facts.release_threshold_bytes);
}

void ArgsText::say(const Event&, const NoticeFacts& facts) {
  if (facts.text != 0) string("text", facts.text);
  number("value", facts.value);
}

// Uses the terms of Kineto's events.
void ArgsText::say(const Event&, const AllocatorFacts& facts) {
  signed_number("Device Type", facts.device_type);
  if ((facts.has & AllocatorFacts::kDeviceId) != 0) signed_number("Device Id", facts.device);
  if ((facts.has & AllocatorFacts::kAllocated) != 0) signed_number("Total Allocated", facts.allocated_bytes);
  if ((facts.has & AllocatorFacts::kReserved) != 0) signed_number("Total Reserved", facts.reserved_bytes);
  if ((facts.has & AllocatorFacts::kAddress) != 0) number("Addr", facts.address);
  if ((facts.has & AllocatorFacts::kBytes) != 0) signed_number("Bytes", facts.bytes);
  if ((facts.has & AllocatorFacts::kFree) != 0) number("Device Free", facts.free_bytes);
  if ((facts.has & AllocatorFacts::kStream) != 0) number("Stream Id", facts.stream);
  called_by(facts.stack, true);
}

// PyTorch's terms, as for all data that only profiles have.
void ArgsText::collective_op(CollectiveOpId id, std::uint64_t sequence) {
  const auto word = [this](std::string_view key, StringId text) {
    if (text != 0) string(key, text);
  };
  const auto known = [this](std::string_view key, std::int64_t value) {
    if (value >= 0) signed_number(key, value);
  };
  const CollectiveOp& op = catalog_->collective_ops[id];
  word("Collective name", op.name);
  known("In msg nelems", op.in_elements);
  known("Out msg nelems", op.out_elements);
  known("Group size", op.group_size);
  word("dtype", op.data_type);
  known("Global rank start", op.group_first_rank);
  known("Global rank stride", op.group_rank_stride);
  known("Src Rank", op.source_rank);
  known("Dst Rank", op.destination_rank);
  word("Process Group Name", op.group_name);
  word("Process Group Description", op.group_description);
  word("Process Group Ranks", op.group_ranks);
  if (sequence != kNoOrdinal) number("Seq", sequence);
}

void ArgsText::inputs(OperatorInputId id) {
  if (id == 0) return;
  const InputsText text(*catalog_, id);
  const auto member = [this](std::string_view name, const std::string& json) {
    if (!json.empty()) {
      key(name);
      out_ += json;
    }
  };
  member("Input Dims", text.dims);
  member("Input Strides", text.strides);
  member("Input type", text.types);
  member("Concrete Inputs", text.values);
}

void ArgsText::called_by(StackId stack, bool with_module) {
  if (stack == 0) return;
  const auto [known, is_new] = stacks_.try_emplace(stack);
  if (is_new) known->second = {json_quoted(module_text(*catalog_, stack)), json_quoted(stack_text(*catalog_, stack))};
  const auto& [module, frames] = known->second;
  if (with_module && module != "\"\"") {
    key("Module Hierarchy");
    out_ += module;
  }
  key("Call stack");
  out_ += frames;
}

void ArgsText::say(const Event& event, const ProfiledKernelFacts& facts) {
  if (facts.external_id != 0) number("External id", facts.external_id);
  out_ += out_.empty() ? "" : ", ";
  say(event, static_cast<const KernelFacts&>(facts));
  collective_op(facts.collective_op, facts.sequence);
}

void ArgsText::say(const Event&, const OperatorFacts& facts) {
  if (facts.external_id != 0) number("External id", facts.external_id);
  if ((facts.has & OperatorFacts::kRecordFunction) != 0) number("Record function id", facts.record_function);
  if ((facts.has & OperatorFacts::kSequenceNumber) != 0) number("Sequence number", facts.sequence_number);
  if ((facts.has & OperatorFacts::kForwardThread) != 0) number("Fwd thread id", facts.forward_thread);
  if (facts.module != 0) string("Module Hierarchy", facts.module);
  called_by(facts.stack, facts.module == 0);
  inputs(facts.inputs);
  collective_op(facts.collective_op, facts.sequence);
}

void ArgsText::say(const Event&, const CounterFacts& facts) {
  out_ += json_quoted(catalog_->strings[facts.series]) + ": " + real(facts.value);
}

void ArgsText::say(const Event&, const StackFacts& facts) { called_by(facts.stack, true); }

void ArgsText::say(const Event&, const GarbageCollectionFacts& facts) {
  number("generation", facts.generation);
  number("collected", facts.collected);
  number("uncollectable", facts.uncollectable);
}

void ArgsText::say(const Event&, const FrameFacts& facts) {
  if (facts.parent_id != FrameFacts::kNone) signed_number("Python parent id", facts.parent_id);
  if (facts.id != FrameFacts::kNone) signed_number("Python id", facts.id);
  if (facts.module_id != FrameFacts::kNone) signed_number("Python module id", facts.module_id);
}

}  // namespace cli
