#include "cli/commands/info_json.h"

#include <optional>

#include "cli/commands/info_recorder.h"
#include "cli/io/json_writer.h"
#include "cli/model/kinds.h"
#include "cli/model/totals.h"

namespace cli {
namespace {

void write_counts(JsonWriter& json, std::string_view key, const KindCounts& counts, std::size_t always) {
  json.open('{', key);
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (kind < always || counts[kind] != 0) json.number(kKinds[kind].name, counts[kind]);
  }
  json.close('}');
}

void write_process(JsonWriter& json, const Process& process) {
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
  json.close('}');
}

}  // namespace

void write_info_json(const Catalog& catalog, const std::vector<std::string>& notes, ByteSink& sink) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  json.open('[', "ranks");
  for (const Process& process : catalog.processes) write_process(json, process);
  json.close(']');
  json.open('[', "notes");
  for (const std::string& note : notes) json.text({}, note);
  json.close(']');
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli
