#include "cli/commands/clock_report.h"

#include "cli/io/json_writer.h"

namespace cli {
namespace {

void write_fit(const ClockFit& fit, JsonWriter& json) {
  json.open('{');
  json.text("host", fit.host);
  json.text("boot_id", fit.boot_id);
  json.open('[', "ranks");
  for (const std::int64_t rank : fit.ranks) json.number({}, rank);
  json.close(']');
  json.number("offset_ns", fit.offset_ns);
  json.number("drift_ppm", fit.drift_ppm);
  json.number("samples", fit.samples);
  json.number("mad_ns", fit.mad_ns);
  json.open('[', "bound_ns");
  json.number({}, fit.bound_lo_ns);
  json.number({}, fit.bound_hi_ns);
  json.close(']');
  json.text("method", fit.method);
  json.close('}');
}

}  // namespace

void write_clock_report(const std::vector<ClockFit>& fits, ByteSink& sink) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  json.open('[', "hosts");
  for (const ClockFit& fit : fits) write_fit(fit, json);
  json.close(']');
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli
