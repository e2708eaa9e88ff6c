// The file: packets one behind the other, in chunks of about a MiB that are compressed on a second thread. Readers take
// a chunk's packets as if they stood there themselves. The sink is written to by the caller's thread alone. One thread
// at a time; memory: two chunks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "cli/formats/export/format_options.h"
#include "cli/formats/perfetto/buffer.h"
#include "cli/base/background.h"
#include "cli/base/byte_sink.h"

namespace cli::perfetto {

class PacketStream {
 public:
  PacketStream(ByteSink& sink, PacketCompression compression);
  ~PacketStream();

  // Appends a packet whose fields are `body` and then `more`.
  void packet(std::string_view body, std::string_view more = {});
  // Writes what is left; the caller finishes the sink. Throws Error, as packet() does.
  void finish();
  // What the sink would have got by now without chunks and their compression, less what it has.
  std::uint64_t pending_bytes() const { return made_bytes_ + chunk_.size() - std::min(sunk_bytes_, made_bytes_); }

 private:
  class Compressor;
  void flush();
  void land();

  ByteSink& sink_;
  Buffer chunk_;
  std::uint64_t made_bytes_ = 0, sunk_bytes_ = 0;  // of chunks: before compression; what the sink has
  Buffer in_flight_;                        // the chunk that is being compressed
  std::unique_ptr<Compressor> compressor_;  // none: chunks go to the sink as they are
  std::optional<Background> background_;    // last: it uses the others
};

}  // namespace cli::perfetto
