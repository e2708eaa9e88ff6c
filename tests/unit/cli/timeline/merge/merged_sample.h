// A merged file with something in every field.
#pragma once
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/formats/ttrace/writer.h"
#include "cli/trace/operator_inputs.h"
#include "collect.h"

namespace cli {

inline Process sample_process(std::int64_t rank) {
  Process p;
  p.source = "traces/rank" + std::to_string(rank), p.format = SourceFormat::kineto;
  p.rank = rank, p.local_rank = rank % 4, p.world_size = 8, p.pid = 1000 + rank, p.rank_source = RankSource::content;
  p.host = "node", p.boot_id = "b-1", p.run_id = "job.0", p.program = "train.py", p.device_name = "H100";
  p.state = RecordingState::recovered, p.lost_unknown_kind = 3, p.first_ns = -5, p.last_ns = 77,
  p.explicit_flows = true;
  for (std::size_t kind = 0; kind < p.counts.size(); ++kind) {
    p.counts[kind] = kind * 1'000'000'007, p.overwritten[kind] = kind + 1, p.lost[kind] = kind * kind;
  }
  p.notes = {"12 blocks changed", ""};
  p.recorder.agent_version = "1.2.3", p.recorder.cupti_state = trace::SourceState::taken, p.recorder.cupti_error = -39;
  p.recorder.heartbeat_ns = 1'760'000'000'000'000'001, p.recorder.agent_cpu_ns = 1ull << 63,
  p.recorder.stacks_left_out = 6;
  p.recorder.operators_without_stack = 7, p.recorder.module_names_missed = 8;
  Device device;
  device.device = 3, device.name = "NVIDIA H100", device.memory_bytes = 80ull << 30, device.copy_engines = 7;
  p.devices = {device, {}};
  p.communicators = {{0xc0ffee00c0ffee00, 5, 1, 8, 3, -1, 2, 4}, {}};
  p.notices = {{trace::NoticeCode::gap, -5, 7, 4'000'000'000, "somebody"}, {}};
  return p;
}

inline Catalog sample_catalog() {
  Catalog catalog;
  for (const char* name : {"one", "two", "three \"quoted\"\n", "four"}) catalog.strings.intern(name);
  for (std::uint32_t blocks : {1, 2}) {
    Launch launch;
    launch.grid[0] = blocks;
    catalog.launches.intern(launch);
  }
  Capture capture;
  capture.known = true;
  catalog.captures.intern(capture);
  CollectiveOp op;
  op.name = 3, op.in_elements = 1 << 20, op.group_size = 8;
  catalog.collective_ops.intern(op);
  OperatorInput input;
  input.type = 2, input.dims = intern_dims(catalog, {3}), input.strides = input.dims;
  intern_inputs(catalog, {input});
  StackFrame outer, inner;
  outer.what = StackFrame::kPython, outer.name = 1, outer.file = 2, outer.line = 7;
  inner.what = StackFrame::kModule, inner.name = 4, inner.path = 3, inner.instance = 0xfedcba9876543210;
  inner.outer = catalog.stacks.intern(outer);
  catalog.stacks.intern(inner);
  const ProcessId first = catalog.add_process(sample_process(0));
  const ProcessId second = catalog.add_process(sample_process(1));
  catalog.track(first, TrackKind::thread, 1000, -7);
  catalog.track(first, TrackKind::stream, 0, 7);
  catalog.track(second, TrackKind::other, -1, 3, "Spans");
  catalog.tracks[1].name = "stream 7 compute";
  catalog.tracks[1].priority = -5;
  catalog.tracks[1].kineto_ids = "\"pid\": 0";
  return catalog;
}

inline std::vector<ClockFit> sample_fits() {
  ClockFit known{{-123, 456, 1.25},
                 "node",
                 "b-1",
                 {0, 1},
                 99,
                 7,
                 -10,
                 20,
                 "collectives",
                 {{{-100, 2'000'000, 0}, 1'500'000, 1'499'900, -30, {}}}};
  ClockFit unknown;
  unknown.method = "wall_clock";
  return {known, unknown};
}

// `events` must be in the order of time; the chunks are small. `known_tracks`: that the events may name, else those of
// the catalogue.
inline void write_merged(const std::string& path, const Catalog& catalog, const std::vector<Collected>& events,
                         const std::vector<ProcessSteps>& steps = {}, const Catalog* known_tracks = nullptr) {
  OutputFile out(path);
  ttrace::MergedWriter writer(out, known_tracks == nullptr ? catalog : *known_tracks, 4000);
  for (const Collected& e : events) writer.event(e.event, e.facts);
  writer.finish(catalog, sample_fits(), steps);
  out.finish();
}

// The same with shapes for arguments that random_events makes; they become the catalogue's.
inline void write_shaped(const std::string& path, Catalog& catalog, const std::vector<Collected>& events) {
  OutputFile out(path);
  ttrace::MergedWriter writer(out, catalog, 4000);
  std::int64_t integer = 0;
  for (const Collected& e : events) writer.event(e.event, with_shape(e, catalog.shapes, integer));
  writer.finish(catalog, sample_fits());
  out.finish();
}

}  // namespace cli
