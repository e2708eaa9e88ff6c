#include "cli/formats/perfetto/trace_attributes.h"

#include <fmt/format.h>

#include <string>

#include "cli/formats/perfetto/fields.h"
#include "cli/base/json_text.h"
#include "cli/trace/losses.h"
#include "cli/trace/version.h"

namespace cli::perfetto {
namespace {

std::string ranks_of(const Catalog& catalog) {
  std::string ranks;
  for (const Process& p : catalog.processes) {
    if (p.rank >= 0) ranks += (ranks.empty() ? "" : ",") + std::to_string(p.rank);
  }
  return ranks;
}

std::string clock_text(const ClockFit& fit) {
  const bool bounded = fit.bound_lo_ns && fit.bound_hi_ns;
  return fmt::format(
      "offset {} ns, drift {} ppm, {}, by {} from {} samples", fit.offset_ns, fit.drift_ppm,
      bounded ? fmt::format("between {} and {} ns", *fit.bound_lo_ns, *fit.bound_hi_ns) : "error unknown", fit.method,
      fit.samples);
}

void valid_text(Writer& out, Field field, std::string_view value) {
  std::string scratch;
  const std::string_view valid = valid_utf8(value, scratch);
  out.add_string(field, valid.data(), valid.size());
}

void add_attribute(Writer& attributes, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  Writer one(attributes, attribute::attribute);
  valid_text(one, attribute::key, key);
  valid_text(one, attribute::text, value);
}

std::string who(const Process& p) {
  if (p.rank < 0) return p.source;
  return p.phase.empty() ? fmt::format("rank {}", p.rank) : fmt::format("rank {} {}", p.rank, p.phase);
}

}  // namespace

Buffer trace_attributes(const Catalog& catalog, const std::vector<ClockFit>* fits) {
  Buffer content;
  Writer all(content);
  add_attribute(all, "tracetool_version", TRACETOOL_VERSION);
  add_attribute(all, "ranks", ranks_of(catalog));
  for (const Process& p : catalog.processes) {
    add_attribute(all, who(p) + " source", p.source);
    add_attribute(all, who(p) + " lost", loss_text(p));
  }
  for (const ClockFit& fit : fits != nullptr ? *fits : std::vector<ClockFit>()) {
    if (!fit.host.empty()) add_attribute(all, "clock of " + fit.host, clock_text(fit));
  }
  return content;
}

}  // namespace cli::perfetto
