#include "cli/formats/ring/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/base/error.h"

namespace cli::ring {
namespace {

constexpr int kMostClones = 8;  // a graph is captured, instantiated, perhaps cloned; a cycle is damage

// Directories with symbol files, in addition to the location from which the code was loaded.
std::vector<std::string> symbol_directories() {
  std::vector<std::string> directories;
  const char* named = std::getenv("TRACETOOL_SYMBOLS");
  for (std::string_view left = named != nullptr ? named : ""; !left.empty();) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end > 0) directories.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return directories;
}

std::string uuid_text(const std::uint8_t (&uuid)[16]) {
  if (std::all_of(std::begin(uuid), std::end(uuid), [](std::uint8_t byte) { return byte == 0; })) return {};
  std::string text = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace

RingDefinitions::RingDefinitions(const RingFile& file, Catalog& catalog, ProcessId process, RingNames& names)
    : file_(file), catalog_(catalog), process_(process), names_(names) {
  read_region();
}

void RingDefinitions::read_region() {
  is_in_block_ = false;
  names_.enter_region();
  const auto& region = file_.definitions();
  const std::size_t end = walk_records(
      region, [&](std::size_t at, std::uint8_t kind, std::size_t size) { note(region, kind, at, size); }, region_read_);
  if (end != region.size()) {
    throw Error(Exit::bad_content, fmt::format("{}: byte {}: not a definition; the file is damaged", file_.path(),
                                               file_.header().definitions_offset + end));
  }
  region_read_ = end;
}

void RingDefinitions::enter_block(const RingBlock& block) {
  if (file_.definitions().size() > region_read_) read_region();
  names_.enter_block(block);
  block_frames_.clear();
  is_in_block_ = true;
}

void RingDefinitions::note(const std::vector<std::byte>& bytes, std::uint8_t kind, std::size_t at, std::size_t size) {
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (requires(R record) { add(record, at); }) {
      if (static_cast<std::uint8_t>(R::kKind) == kind) add(record_at<R>(bytes, at, size), at);
    }
  });
}

void RingDefinitions::add(const trace::IdentityRecord& identity, std::size_t) {
  Process& p = process();
  if (identity.rank >= 0) p.rank = identity.rank;
  if (identity.local_rank >= 0) p.local_rank = identity.local_rank;
  if (identity.world_size >= 0) p.world_size = identity.world_size;
  if (identity.source == static_cast<std::uint8_t>(trace::IdentitySource::nccl_init)) nccl_device_ = identity.device;
  if (p.rank >= 0) p.rank_source = RankSource::content;
}

Device& RingDefinitions::device(std::uint32_t number) {
  Device& found = devices_[number];
  found.device = number;
  return found;
}

void RingDefinitions::add(const trace::DeviceRecord& record, std::size_t) {
  Device& d = device(record.device);
  d.name = terminated(record.name);
  d.uuid = uuid_text(record.uuid);
  d.pci_bus_id = terminated(record.pci_bus_id);
  d.memory_bytes = record.memory_bytes;
  d.memory_bandwidth_kbps = record.memory_bandwidth_kbps;
  d.multiprocessors = record.multiprocessors;
  d.compute_major = record.compute_major;
  d.compute_minor = record.compute_minor;
  d.core_clock_khz = record.core_clock_khz;
  d.l2_bytes = record.l2_bytes;
  d.threads_per_warp = record.threads_per_warp;
  d.max_threads_per_block = record.max_threads_per_block;
  d.max_warps_per_multiprocessor = record.max_warps_per_multiprocessor;
  d.max_blocks_per_multiprocessor = record.max_blocks_per_multiprocessor;
  d.max_registers_per_block = record.max_registers_per_block;
  d.max_registers_per_multiprocessor = record.max_registers_per_multiprocessor;
  d.max_shared_bytes_per_block = record.max_shared_bytes_per_block;
  d.max_shared_bytes_per_multiprocessor = record.max_shared_bytes_per_multiprocessor;
  d.copy_engines = record.copy_engines;
}

void RingDefinitions::add(const trace::ContextRecord& record, std::size_t) {
  devices_of_[record.context] = record.device;
  null_streams_[record.context] = record.null_stream;
}

void RingDefinitions::add(const trace::StreamRecord& record, std::size_t) {
  priorities_[{record.context, record.stream}] = record.priority;
}

void RingDefinitions::add(const trace::ThreadNameRecord& record, std::size_t) {
  if (record.name[0] != '\0') threads_[record.tid] = terminated(record.name);
}

void RingDefinitions::add(const trace::ResourceNameRecord& record, std::size_t at) {
  constexpr std::uint32_t kUnknown = 0xffffffff;
  const std::string name(catalog_.strings[names_.string(record.name_ref, at)]);
  if (name.empty() || record.id == kUnknown) return;
  switch (static_cast<trace::ResourceKind>(record.resource)) {
    case trace::ResourceKind::thread:
      threads_[record.id] = name;
      break;
    case trace::ResourceKind::stream:
      stream_names_[{record.context, record.id}] = name;
      break;
    case trace::ResourceKind::device:
      device(record.id).given_name = name;
      break;
    default:  // contexts and events have no track in an export
      break;
  }
}

void RingDefinitions::add(const trace::NvtxCategoryRecord& record, std::size_t at) {
  const std::uint64_t domain = names_.string(record.domain_ref, at);
  categories_[domain << 32 | record.category] = names_.string(record.name_ref, at);
}

void RingDefinitions::add(const trace::CommunicatorRecord& record, std::size_t) {
  // A communicator without a name from NCCL is identified by the time when it was made.
  const std::uint64_t which = record.communicator != 0 ? record.communicator : record.time_mono_ns;
  if (!communicators_.emplace(which, record.epoch, record.rank).second) return;
  process().communicators.push_back({record.communicator, record.parent, record.rank, record.ranks, record.device,
                                     record.color, record.key, record.epoch});
}

void RingDefinitions::add(const trace::GraphNodeRecord& record, std::size_t at) {
  Node node{record.captured_node};
  if (record.captured_node == 0) {
    Capture capture;
    capture.known = true;
    capture.has_range = record.range_ref != trace::kNoRef;
    capture.has_domain = record.domain_ref != trace::kNoRef;
    if (capture.has_range) capture.range = names_.string(record.range_ref, at);
    if (capture.has_range && capture.has_domain) capture.domain = names_.string(record.domain_ref, at);
    if (record.nccl_class != 0) {
      capture.in_call = true;
      capture.has_call = record.nccl_name_ref != trace::kNoRef;
      if (capture.has_call) capture.call = names_.string(record.nccl_name_ref, at);
      capture.bytes = record.bytes;
      capture.first_of_group = (record.has & trace::kHasFirstOf) != 0;
      Collective& c = capture.collective;
      constexpr int kTold = Collective::kCommunicator | Collective::kBytes | Collective::kReduction | Collective::kPeer;
      c.has = static_cast<std::uint8_t>(record.has & kTold);
      c.nccl_class = record.nccl_class;
      c.communicator = record.communicator;
      c.epoch = record.epoch;
      c.ordinal = record.ordinal;
      c.reduction = record.reduction_op;
      c.peer = static_cast<std::int32_t>(record.peer);
    }
    node.capture = catalog_.captures.intern(capture);
  }
  nodes_[record.node] = node;
}

void RingDefinitions::add(const trace::FrameRecord& record, std::size_t at) {
  StackFrame frame;
  frame.what = record.what;
  frame.line = record.line;
  frame.instance = record.instance;
  frame.name = names_.string(record.name_ref, at);
  frame.file = names_.string(record.file_ref, at);
  const auto ref = static_cast<std::uint32_t>(at / 8);
  Frame& known = is_in_block_ ? block_frames_[ref | trace::kLocalRef] : frames_[ref];
  known.frame = frame;
  if (frame.what == StackFrame::kNative)
    known.code = {std::string(catalog_.strings[frame.file]), build_ids_[frame.file]};
}

void RingDefinitions::add(const trace::ObjectRecord& record, std::size_t at) {
  const std::size_t bytes = std::min<std::size_t>(record.build_id_bytes, sizeof(record.build_id));
  build_ids_[names_.string(record.path_ref, at)].assign(reinterpret_cast<const char*>(record.build_id), bytes);
}

// Includes functions inlined there, each within the enclosing one.
StackId RingDefinitions::native(StackId outer, const Frame& known) {
  StackFrame frame = known.frame;
  if (!symbols_) symbols_.emplace(symbol_directories());
  const std::vector<SourcePlace>& places = symbols_->look_up(known.code, frame.instance);
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    frame.outer = outer;
    frame.name = catalog_.strings.intern(place->function);
    frame.file = place->file.empty() ? frame.file : catalog_.strings.intern(place->file);
    frame.line = place->line;
    outer = catalog_.stacks.intern(frame);
  }
  frame.outer = outer;
  return places.empty() ? catalog_.stacks.intern(frame) : outer;
}

void RingDefinitions::add(const trace::ModuleNameRecord& record, std::size_t at) {
  module_paths_[record.instance] = names_.string(record.name_ref, at);
}

StackId RingDefinitions::stack(std::string_view refs, std::size_t record_at) {
  StackId outer;
  for (std::size_t at = refs.size() / sizeof(std::uint32_t); at > 0; --at) {
    std::uint32_t ref = 0;
    std::memcpy(&ref, refs.data() + (at - 1) * sizeof(ref), sizeof(ref));
    const Frames& frames = trace::is_local(ref) ? block_frames_ : frames_;
    const auto found = frames.find(ref);
    if (found == frames.end()) throw names_.bad_reference(ref, trace::FrameRecord::kKind, record_at);
    if (found->second.frame.what == StackFrame::kNative) {
      outer = native(outer, found->second);
      continue;
    }
    StackFrame frame = found->second.frame;
    frame.outer = outer;
    if (const auto path = module_paths_.find(frame.instance);
        frame.what == StackFrame::kModule && path != module_paths_.end())
      frame.path = path->second;
    outer = catalog_.stacks.intern(frame);
  }
  return outer;
}

std::uint32_t RingDefinitions::device_of(std::uint32_t context) const {
  const auto found = devices_of_.find(context);
  return found == devices_of_.end() ? 0 : found->second;
}

std::optional<std::int32_t> RingDefinitions::priority_of(std::uint32_t context, std::uint32_t stream) const {
  const auto found = priorities_.find({context, stream});
  return found == priorities_.end() ? std::nullopt : std::optional(found->second);
}

const Device* RingDefinitions::limits_of(std::uint32_t device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

CaptureId RingDefinitions::captured(std::uint64_t graph_node) const {
  auto node = nodes_.find(graph_node);
  for (int hops = 0; node != nodes_.end() && node->second.captured_node != 0; ++hops) {
    if (hops == kMostClones) return 0;
    node = nodes_.find(node->second.captured_node);
  }
  return node == nodes_.end() ? CaptureId() : node->second.capture;
}

StringId RingDefinitions::category(StringId domain, std::uint32_t category) const {
  const auto found = categories_.find(std::uint64_t{domain} << 32 | category);
  return found == categories_.end() ? 0 : found->second;
}

void RingDefinitions::finish() {
  for (Track& track : catalog_.tracks) {
    if (track.process != process_) continue;
    if (track.kind == TrackKind::thread) name_thread(track);
    if (track.kind == TrackKind::stream) name_stream(track);
  }
  name_device();
  for (auto& [number, device] : devices_) process().devices.push_back(std::move(device));
  devices_.clear();
}

void RingDefinitions::name_thread(Track& track) const {
  const auto name = threads_.find(static_cast<std::uint32_t>(track.id));
  if (name != threads_.end()) track.name = name->second;
}

// A track is a stream of a device; names and priorities belong to streams of contexts.
void RingDefinitions::name_stream(Track& track) const {
  const auto stream = static_cast<std::uint32_t>(track.id);
  for (const auto& [context, device] : devices_of_) {
    if (device != static_cast<std::uint32_t>(track.group)) continue;
    if (const auto null = null_streams_.find(context); null != null_streams_.end() && null->second == stream) {
      if (track.name.empty()) track.name = "default";
    }
    if (const auto name = stream_names_.find({context, stream}); name != stream_names_.end()) track.name = name->second;
    if (const auto p = priorities_.find({context, stream}); p != priorities_.end()) track.priority = p->second;
  }
  if (const auto name = stream_names_.find({0, stream}); name != stream_names_.end()) track.name = name->second;
}

// The devices on which it launched work; otherwise those of its contexts.
std::vector<std::int64_t> RingDefinitions::devices_used() const {
  std::set<std::int64_t> used;
  for (const Track& track : catalog_.tracks) {
    if (track.process == process_ && track.kind == TrackKind::stream) used.insert(track.group);
  }
  if (!used.empty()) return {used.begin(), used.end()};
  if (nccl_device_ >= 0) return {nccl_device_};
  for (const auto& [context, device] : devices_of_) used.insert(device);
  return {used.begin(), used.end()};
}

void RingDefinitions::name_device() {
  const std::vector<std::int64_t> used = devices_used();
  std::set<std::string> names;
  for (const auto& [number, d] : devices_) {
    const bool counts = used.empty() || std::find(used.begin(), used.end(), number) != used.end();
    if (counts && !d.name.empty()) names.insert(d.name);
  }
  std::string& text = process().device_name;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  if (names.size() == 1 && used.size() > 1) text = fmt::format("{} x {}", used.size(), text);
}

}  // namespace cli::ring
