// Any bytes as the spool of a good ring: what is whole in it is read, the rest left out. The checksums of the chunks'
// heads are made right, or nothing behind them would ever be looked at.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/ring/reader.h"
#include "common/spool_format.h"
#include "tests/unit/common/small_ring.h"

namespace {

struct Files {
  Files() {
    char name[] = "/tmp/tracetool-fuzz-XXXXXX";
    folder = mkdtemp(name);
    trace::SmallRing memory(4, 4096);
    memory.header()->created_real_ns = 12345;
    memory.header()->pid = 77;
    std::ofstream(ring(), std::ios::binary).write(memory.bytes(), static_cast<std::streamsize>(memory.size()));
  }
  ~Files() {
    unlink(ring().c_str());
    unlink(spool().c_str());
    rmdir(folder.c_str());
  }
  std::string ring() const { return folder + "/x.ring"; }
  std::string spool() const { return folder + "/x.spool"; }
  std::string folder;
};

void mend(std::string& bytes) {
  trace::SpoolHeader head{};
  std::memcpy(head.magic, trace::kSpoolMagic, sizeof(head.magic));
  head.version = trace::kSpoolVersion;
  head.header_bytes = sizeof(head);
  head.chunk_header_bytes = sizeof(trace::SpoolChunk);
  head.created_real_ns = 12345;
  head.pid = 77;
  if (bytes.size() >= sizeof(head)) std::memcpy(bytes.data(), &head, sizeof(head));
  trace::SpoolChunk chunk;
  for (std::size_t at = sizeof(head); at + sizeof(chunk) <= bytes.size(); at += 8) {
    std::memcpy(&chunk, bytes.data() + at, sizeof(chunk));
    if (std::memcmp(chunk.magic, trace::kChunkMagic, sizeof(chunk.magic)) != 0) continue;
    chunk.header_crc32 = trace::crc32_of(chunk);
    std::memcpy(bytes.data() + at, &chunk, sizeof(chunk));
  }
}

void read(const Files& files, const std::string& bytes) {
  struct : cli::ByteSink {
    void write(std::string_view) override {}
    void finish() override {}
  } nowhere;
  std::ofstream(files.spool(), std::ios::binary) << bytes;
  try {
    cli::ring::dump_ring(files.ring(), "fuzz", nowhere);
  } catch (const cli::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files files;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read(files, bytes);
  mend(bytes);
  read(files, bytes);
  return 0;
}
