// Writes a merged file (cli/read/merged_file.h). Chunks are packed and written by a second thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/io/background.h"
#include "cli/io/byte_sink.h"
#include "cli/io/zstd_codec.h"
#include "cli/model/catalog.h"
#include "cli/model/clock_fit.h"
#include "cli/read/merged_batch.h"
#include "cli/read/merged_file.h"

namespace cli {

class MergedWriter : public EventSink {
 public:
  explicit MergedWriter(ByteSink& out);
  ~MergedWriter() override;

  // In the order of time. Throws Error (cannot_open) of an earlier chunk; (bad_content) for an event that ends beyond
  // 2^63 ns, or whose arguments are longer than a chunk.
  void event(const Event& event, const Facts& facts) override;

  // The lists, the index and the footer. Does not finish the sink.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits);

  std::uint64_t events() const { return events_; }

 private:
  template <typename List, typename Append>
  void write_list(ChunkKind kind, const List& list, Append&& append);
  void hand_over();
  void write_chunk(ChunkKind kind, std::size_t count, std::string_view raw, std::int64_t first_ns = 0,
                   std::int64_t last_ns = 0);
  void write_index();
  void write_bytes(std::string_view bytes);
  template <typename T>
  void write_struct(const T& value) {
    write_bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }

  ByteSink& out_;
  ZstdCompressor zstd_;
  std::string raw_, packed_;
  std::vector<IndexEntry> index_;
  std::uint64_t offset_ = 0;
  std::uint64_t events_ = 0;
  std::shared_ptr<EventBatch> batch_;
  Background background_;  // last: what it does uses the rest
};

}  // namespace cli
