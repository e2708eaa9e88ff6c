// The members before the events of a Kineto profile.
#pragma once
#include <cstdint>
#include <string>

#include "cli/trace/catalog.h"

namespace cli {

// What the times of this process are written relative to, ns since 1970: for a Kineto file its own base, 0 where it had
// none; for recordings the begin of Kineto's current interval (libkineto's output_json.h: a fixed quarter of a year
// since 1970), the same for all processes of the trace.
std::int64_t kineto_base_ns(const Catalog& catalog, const Process& process);

// From `{` to the bracket that opens the events. A Kineto file's own members come back as they stood; HTA reads the
// rank by the pattern `"rank":\s+\d+`, so it is put before them where that would find none, or another.
std::string kineto_head(const Catalog& catalog, const Process& process);

// From the bracket that closes the events on.
std::string kineto_tail(const Process& process);

}  // namespace cli
