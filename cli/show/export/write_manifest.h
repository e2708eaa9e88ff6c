// A TAR archive written front to back (POSIX ustar; sizes of 8 GiB or more are base-256, as in GNU tar).
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

  // Begins a member with a name of at most 99 bytes. Then write() exactly `size` bytes, in any number of pieces.
  void member(std::string_view name, std::uint64_t size);
  void write(std::string_view bytes) { out_.write(bytes); }

  // Call it once, at the end. Does not finish the sink.
  void finish();

 private:
  void pad();

  ByteSink& out_;
  std::uint64_t size_ = 0;  // of the current member
};

// Exports into one TAR for Perfetto v58 or newer: a file per process and perfetto_manifest.json, which contains the
// host of each. Format: Perfetto's docs/reference/perfetto-manifest.md, version 1.
//
// All files are on one axis, so no offset is needed. Native files contain the wall clock, which Perfetto assumes to be
// the same on all machines. JSON has no clock, so all JSON files count from one moment and are aligned with the first
// file's timeline.
//
// "-" is stdout. The TAR is compressed if its name ends in ".gz" or the job requests it; its members are not. Members
// are stored in `scratch` until they are complete, because a TAR contains sizes first. A process without kept events
// has no member. Throws Error.
ExportReport write_manifest(const ExportJob& job, const std::string& output, const std::string& scratch);

}  // namespace cli
