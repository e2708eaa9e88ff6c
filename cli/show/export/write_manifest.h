// A TAR archive (POSIX ustar; a size of 8 GiB or more as base-256, as GNU tar writes it), written front to back.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/base/output_file.h"
#include "cli/show/export/export_job.h"

namespace cli {

class TarWriter {
 public:
  explicit TarWriter(ByteSink& out) : out_(out) {}

  // Of at most 99 bytes. Then write() exactly `size` bytes, in any number of pieces.
  void member(std::string_view name, std::uint64_t size);
  void write(std::string_view bytes);

  // Once, last. Does not finish the sink.
  void finish();

 private:
  void pad();

  ByteSink& out_;
  std::uint64_t size_ = 0;  // of the member that is written
};

// An export into one TAR for Perfetto v58 or newer: a file per process and perfetto_manifest.json, which says of which
// host each is. Format: Perfetto's docs/reference/perfetto-manifest.md, version 1.
//
// All files lie on one axis, so no offset is needed: native ones hold the wall clock, which Perfetto takes to be the
// same on all machines; JSON has none, so each counts from one moment and is pinned to the first file's timeline.

// "-" is stdout. The TAR is compressed where its name ends in ".gz" or the job says so; members are not. They wait in
// `scratch` until they are whole, as a TAR tells their sizes first. A process without a kept event has no member.
// Throws Error.
ExportReport write_manifest(const ExportJob& job, const std::string& output, const std::string& scratch);

}  // namespace cli
