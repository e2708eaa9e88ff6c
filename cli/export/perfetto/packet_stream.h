// The file: packets one behind the other, in chunks of about a MiB that are compressed on a second thread. Readers take
// a chunk's packets as if they stood there themselves. One thread at a time; memory: three chunks.
#pragma once
#include <memory>
#include <optional>

#include "cli/export/formats.h"
#include "cli/export/perfetto/buffer.h"
#include "cli/io/background.h"
#include "cli/io/byte_sink.h"

namespace cli::perfetto {

class PacketStream {
 public:
  PacketStream(ByteSink& sink, PacketCompression compression);
  ~PacketStream();

  // Appends a packet whose fields are `body` and then `more`.
  void packet(std::string_view body, std::string_view more = {});
  // Writes what is left; the caller finishes the sink. Throws Error, as packet() does.
  void finish();

 private:
  class Compressor;
  void flush();

  ByteSink& sink_;
  Buffer chunk_;
  std::unique_ptr<Compressor> compressor_;  // none: chunks go to the sink as they are
  std::optional<Background> background_;    // last: it uses the others
};

}  // namespace cli::perfetto
