// Reads a merged file. Unlike other inputs it knows its catalogue before its first event, its events come in the order
// of time, and it can be walked more than once.
#pragma once
#include <string>
#include <vector>

#include "cli/model/clock_fit.h"
#include "cli/read/merged_batch.h"
#include "cli/read/merged_chunks.h"
#include "cli/read/reader.h"

namespace cli {

class MergedReader : public Reader {
 public:
  explicit MergedReader(const std::string& path);  // throws Error

  void read(Catalog& catalog, EventSink& sink) override;

  // Or in two steps: the lists into `catalog`, which may hold other traces; then the events, any number of times.
  void read_lists(Catalog& catalog);
  void read_events(EventSink& sink);

  const std::vector<ClockFit>& fits() const { return fits_; }  // after read_lists
  std::uint64_t events() const { return chunks_.events(); }

 private:
  struct Translate;
  template <typename F>
  void for_each_entry(ChunkKind kind, F&& f);
  void read_processes(Catalog& catalog);
  void read_tracks(Catalog& catalog);
  void read_interned(Catalog& catalog);
  bool translate(EventBatch& batch, std::size_t index) const;
  void send(const IndexEntry& chunk, EventBatch& batch, EventSink& sink);

  MergedChunks chunks_;
  std::vector<Kind> kinds_;  // by the file's numbers
  std::vector<StringId> strings_;
  std::vector<LaunchId> launches_;
  std::vector<CaptureId> captures_;
  std::vector<ProcessId> processes_;
  std::vector<TrackId> tracks_;
  std::vector<ClockFit> fits_;
  std::int64_t last_start_ns_ = 0;
};

}  // namespace cli
