#include "cli/formats/perfetto/render_stages.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "cli/base/json_text.h"
#include "cli/formats/perfetto/arguments.h"

namespace cli::perfetto {
namespace {

constexpr std::uint32_t kFirstQueue = 16;                  // numbers of queues, after those of stages
constexpr std::uint64_t kLonely = std::uint64_t{1} << 63;  // ids of stages without a flow
constexpr std::array<std::string_view, 4> kStages{"kernel", "copy", "set", "graph"};

std::uint32_t stage_of(Kind kind) {
  return kind == Kind::kernel ? 1 : kind == Kind::memcpy ? 2 : kind == Kind::memset ? 3 : 4;
}

// "[288, 1, 1]"
bool three(std::string_view text, std::array<std::uint32_t, 3>& dims) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint32_t& dim : dims) {
    while (at < end && (*at < '0' || *at > '9')) ++at;
    const auto [behind, error] = std::from_chars(at, end, dim);
    if (error != std::errc()) return false;
    at = behind;
  }
  return true;
}

void add_dims(Buffer& buffer, Field field, std::string_view text) {
  std::array<std::uint32_t, 3> dims{};
  if (!three(text, dims)) return;
  Writer out(buffer);
  Writer shape(out, field);
  for (Field i = 0; i < 3; ++i) shape.add_uint32(i + 1, dims[i]);
}

void describe(Writer& gpu, const Device& device, const Process& process) {
  const std::string name = fmt::format("rank {} GPU {}", process.rank, device.device);
  gpu.add_string(gpu_info::name, name);
  gpu.add_string(gpu_info::vendor, device.name.find("AMD") == device.name.npos ? "NVIDIA" : "AMD");
  if (!device.name.empty()) gpu.add_string(gpu_info::model, device.name);
  if (device.compute_major > 0) {
    gpu.add_string(gpu_info::architecture, fmt::format("sm_{}{}", device.compute_major, device.compute_minor));
  }
  if (!device.pci_bus_id.empty()) gpu.add_string(gpu_info::pci, device.pci_bus_id);
}

const Device* find(const Process& process, std::int64_t device) {
  for (const Device& d : process.devices) {
    if (d.device == device) return &d;
  }
  return nullptr;
}

}  // namespace

void RenderStages::begin(std::int64_t origin_ns) {
  origin_ns_ = origin_ns;
  for (const Track& t : catalog_.tracks) {
    if (t.kind == TrackKind::stream) gpus_.emplace(Gpu{t.process, t.group}, 0);
  }
  Buffer content;
  Writer info(content);
  std::int32_t number = 0;
  for (auto& [gpu, id] : gpus_) {
    id = number++;
    Writer described(info, gpu_info::gpus);
    const Device* const device = find(catalog_.processes[gpu.first], gpu.second);
    Device unknown;
    unknown.device = gpu.second;
    describe(described, device != nullptr ? *device : unknown, catalog_.processes[gpu.first]);
  }
  if (!gpus_.empty()) tracks_.describe(packet::gpu_info, content);
}

void RenderStages::write(const Event& event, std::int64_t end_ns, std::string_view name, std::string_view args,
                         const FlowIds& flows) {
  const Track& track = catalog_.tracks[event.track];
  packets_.start();
  Sequence& sequence = queue(event, name);
  Writer out(packets_.event());
  out.add_uint64(stage::event_id, flows.empty() ? kLonely | ++lonely_ : flows[0]);
  out.add_uint64(stage::duration, static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(event.start_ns));
  out.add_uint64(stage::context, track.process + 1);
  out.add_int32(stage::gpu, gpus_.at({track.process, track.group}));
  out.add_uint64(stage::queue, kFirstQueue + event.track);
  out.add_uint64(stage::stage, stage_of(event.kind));
  const std::uint32_t shown = vocabulary_.name(event, sequence);
  out.add_uint64(stage::name, shown);
  if (event.kind == Kind::kernel) kernel(event, shown, out, sequence);
  launch(event, args, sequence);
  packets_.finish(sequence, event.start_ns, packet::gpu_render_stage_event);
}

Sequence& RenderStages::queue(const Event& event, std::string_view name) {
  Sequence*& found = queues_[event.track];
  if (found != nullptr) return *found;
  found = &sequences_.emplace_back();
  found->id = static_cast<std::uint32_t>(sequences_.size() + 1);
  packets_.open(*found, 0, origin_ns_);
  define_queue(event.track, name);
  define_stages();
  define_context(catalog_.tracks[event.track].process);
  return *found;
}

void RenderStages::define_queue(TrackId track, std::string_view name) {
  std::string scratch;
  packets_.define(interned::gpu_specifications, kFirstQueue + track, valid_utf8(name, scratch));
}

void RenderStages::define_stages() {
  Writer out(packets_.interned());
  for (std::uint32_t i = 0; i < kStages.size(); ++i) {
    Writer stage(out, interned::gpu_specifications);
    stage.add_uint64(interned::iid, i + 1);
    stage.add_string(interned::text, kStages[i].data(), kStages[i].size());
    stage.add_uint32(interned::specification_category, interned::category_compute);
  }
}

void RenderStages::define_context(ProcessId process) {
  Writer out(packets_.interned());
  Writer context(out, interned::graphics_contexts);
  context.add_uint64(interned::iid, process + 1);
  context.add_int32(interned::context_pid, static_cast<std::int32_t>(tracks_.pid(process)));
  context.add_uint32(interned::context_api, interned::api_cuda);
}

void RenderStages::kernel(const Event& event, std::uint32_t name, Writer& out, Sequence& sequence) {
  out.add_uint64(stage::kernel, name);
  if (!kernels_[&sequence].insert(name)) return;
  std::string scratch;
  Writer defined(packets_.interned());
  Writer entry(defined, interned::kernels);
  entry.add_uint64(interned::iid, name);
  const std::string_view shown = valid_utf8(vocabulary_.shown_name(event), scratch);
  entry.add_string(interned::text, shown.data(), shown.size());
  const std::string_view full = valid_utf8(vocabulary_.full_name(event), scratch);
  if (!full.empty()) entry.add_string(interned::kernel_demangled, full.data(), full.size());
}

void RenderStages::launch(const Event& event, std::string_view args, Sequence& sequence) {
  launch_.clear();
  JsonMembers members(args);
  for (Member member; members.next(member);) {
    if (member.key == "grid") add_dims(launch_, stage::grid, member.value);
    if (member.key == "block") add_dims(launch_, stage::block, member.value);
  }
  add_arguments(event, args, "", arguments_, sequence, launch_);
  Writer(packets_.event()).add_message(stage::launch, launch_.view().data(), launch_.size());
}

void StageEnds::prepare(const Event& event) {
  if (event.start_ns != now_ns_) moment_.clear();
  now_ns_ = event.start_ns;
  if (event.kind != Kind::flow) moment_.add(event, {}, {});
}

bool StageEnds::takes(const Event& flow, TrackId track) {
  if (catalog_.tracks[track].kind != TrackKind::stream) return true;
  Moment::Held* const starting = moment_.find(flow, track);
  if (starting == nullptr) return false;
  if (!stages_.draws(starting->event)) return true;
  if (flow.phase == 's' || flows_.by_correlation(starting->event)) return false;
  return !std::exchange(starting->taken, true);
}

}  // namespace cli::perfetto
