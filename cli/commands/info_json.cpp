#include "cli/commands/info_json.h"

#include <optional>

#include "cli/commands/clock_report.h"
#include "cli/commands/info_recorder.h"
#include "cli/commands/launch_summary.h"
#include "cli/base/json_writer.h"
#include "cli/trace/beside_ranks.h"
#include "cli/trace/kinds.h"
#include "cli/trace/totals.h"

namespace cli {
namespace {

void write_counts(JsonWriter& json, std::string_view key, const KindCounts& counts, std::size_t always) {
  json.open('{', key);
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (kind < always || counts[kind] != 0) json.number(kKinds[kind].name, counts[kind]);
  }
  json.close('}');
}

void write_streams(JsonWriter& json, const Catalog& catalog, ProcessId id) {
  json.open('[', "streams");
  for (const Track& track : catalog.tracks) {
    if (track.process != id || track.kind != TrackKind::stream) continue;
    json.open('{');
    json.number("device", track.group);
    json.number("stream", track.id);
    json.text("name", track.name);
    json.number("priority", track.priority);
    json.close('}');
  }
  json.close(']');
}

void write_launches(JsonWriter& json, const LaunchSummary& launches) {
  json.open('{', "launches");
  json.number("configurations", launches.configurations);
  json.number("cooperative", launches.cooperative);
  json.number("clustered", launches.clustered);
  json.number("most_cluster_blocks", launches.most_cluster_blocks);
  json.number("most_local_bytes_per_thread", launches.most_local_bytes_per_thread);
  json.close('}');
}

void write_process(JsonWriter& json, const Catalog& catalog, ProcessId id) {
  const Process& process = catalog.processes[id];
  json.open('{');
  json.number("rank", known_number(process.rank));
  json.text("host", process.host);
  json.number("pid", known_number(process.pid));
  json.text("source", process.source);
  json.text("format", process.format == SourceFormat::ring ? "ring" : "kineto");
  json.text("phase", process.phase);
  json.text("rank_source", word(process.rank_source));
  json.number("local_rank", known_number(process.local_rank));
  json.number("world_size", known_number(process.world_size));
  json.text("run_id", process.run_id);
  json.text("program", process.program);
  json.text("device", process.device_name);
  json.text("state", word(process.state));
  json.number("start_ns", process.first_ns);
  json.number("span_ns", process.last_ns - process.first_ns);
  write_counts(json, "counts", process.counts, kRecordedKinds);
  json.number("overwritten", total(process.overwritten));
  write_counts(json, "overwritten_by_kind", process.overwritten, 0);
  json.number("lost", total(process.lost) + process.lost_unknown_kind);
  write_counts(json, "lost_by_kind", process.lost, 0);
  json.number("lost_unknown_kind", process.lost_unknown_kind);
  json.open('[', "notes");
  for (const std::string& note : process.notes) json.text({}, note);
  json.close(']');
  write_recorder(json, process);
  write_streams(json, catalog, id);
  json.close('}');
}

void write_processes(JsonWriter& json, const Catalog& catalog, const std::vector<bool>& beside, bool are_beside) {
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
    if (beside[id] == are_beside) write_process(json, catalog, id);
  }
}

}  // namespace

void write_info_json(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<std::string>& notes, ByteSink& sink) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  json.open('[', "ranks");
  const std::vector<bool> beside = beside_ranks(catalog);
  write_processes(json, catalog, beside, false);
  json.close(']');
  json.open('[', "beside_ranks");
  write_processes(json, catalog, beside, true);
  json.close(']');
  write_clocks("clocks", fits, json);
  write_launches(json, launch_summary(catalog));
  json.open('[', "notes");
  for (const std::string& note : notes) json.text({}, note);
  json.close(']');
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli
