// An export into one TAR for Perfetto v58 or newer: a file per process and perfetto_manifest.json, which says of which
// host each is. Format: Perfetto's docs/reference/perfetto-manifest.md, version 1.
//
// All files lie on one axis, so no offset is needed: native ones hold the wall clock, which Perfetto takes to be the
// same on all machines; JSON has none, so each counts from one moment and is pinned to the first file's timeline.
#pragma once
#include <string>

#include "cli/show/export/export_report.h"

namespace cli {

// "-" is stdout. The TAR is compressed where its name ends in ".gz" or the job says so; members are not. They wait in
// `scratch` until they are whole, as a TAR tells their sizes first. A process without a kept event has no member.
// Throws Error.
ExportReport write_manifest(const ExportJob& job, const std::string& output, const std::string& scratch);

}  // namespace cli
