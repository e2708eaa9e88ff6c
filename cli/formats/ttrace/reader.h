// Reads a merged file. Unlike other inputs, its catalogue is complete before the first event, its events are ordered by
// time, it can be walked repeatedly, and a walk reads only the chunks that it needs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/zstd_codec.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/file.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"
#include "cli/trace/steps.h"

namespace cli::ttrace {

// A merged file as chunks. Checks the structure of the file (file.h) and returns the content of each chunk.
// Memory: the index and one compressed chunk.
class MergedChunks {
 public:
  // Checks header, footer and index: chunks of valid sizes have to fill the file without gaps. Throws Error.
  explicit MergedChunks(const std::string& path);
  ~MergedChunks();
  MergedChunks(const MergedChunks&) = delete;
  MergedChunks& operator=(const MergedChunks&) = delete;

  const std::vector<IndexEntry>& index() const { return index_; }
  std::uint64_t events() const { return events_; }

  // Replaces the content of `raw` with the decompressed chunk. One thread at a time. Throws Error.
  void load(const IndexEntry& entry, std::string& raw);

  // Throws Error (bad_content) with the file, this offset and advice.
  [[noreturn]] void refuse(std::uint64_t offset, std::string_view what) const;

 private:
  void open();
  void check_header();
  void load_index();
  void check_index(std::uint64_t end) const;
  void read(std::uint64_t offset, void* to, std::size_t size) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t chunks_begin_ = 0;
  std::uint64_t events_ = 0;
  std::vector<IndexEntry> index_;
  ZstdDecompressor zstd_;
  std::string packed_;
};

// Returns true if the file begins with the magic of a merged file; false also if it cannot be opened.
bool is_merged_file(const std::string& path);

class MergedReader : public Reader {
 public:
  explicit MergedReader(const std::string& path);  // throws Error

  void read(Catalog& catalog, EventSink& sink) override;

  // Reading in two steps: first read_lists() into `catalog`, which may contain other traces; then the events, any
  // number of times.
  void read_lists(Catalog& catalog);
  // Reads all wanted events, and others of the same chunks. Memory: a chunk of each stream as columns, in addition to
  // that of walk.h. If `ahead`, another thread reads large files; the sink is always called by this thread.
  NotRead read_events(EventSink& sink, const Wanted& wanted, bool ahead = true);
  // Reads events on each process's own clock, which `wanted` uses, too. Processes are read one after the other, so only
  // one is in memory, and its data stays in the processor's caches.
  NotRead read_own_times(EventSink& sink, const Wanted& wanted, bool ahead = true);

  // After read_lists.
  const std::vector<ClockFit>& fits() const { return fits_; }
  // Returns the steps on each process's own clock, by ProcessId minus the first one of the file; empty if steps were
  // not searched.
  const std::vector<ProcessSteps>& own_steps() const { return steps_; }
  // Returns the steps on the axis.
  std::vector<ProcessSteps> steps() const;
  std::uint64_t events() const { return chunks_.events(); }

 private:
  template <typename F>
  void for_each_entry(ChunkKind kind, F&& f);
  void read_processes(Catalog& catalog);
  void read_tracks(Catalog& catalog);
  void read_interned(Catalog& catalog);
  void read_steps();
  class Stream;
  std::vector<const IndexEntry*> choose(const Wanted& wanted, bool own_times, NotRead& not_read) const;
  bool is_events(const IndexEntry& chunk) const;
  bool holds(const IndexEntry& chunk, const KindSet& kinds) const;
  NotRead read_chosen(EventSink& sink, const Wanted& wanted, bool own_times, bool ahead);

  MergedChunks chunks_;
  std::vector<Kind> kinds_;  // by the file's numbers
  IdMap ids_;
  std::vector<ProcessId> processes_;
  std::vector<ClockFit> fits_;
  std::vector<const ClockFit*> process_fits_;  // by the file's numbers; null if on the axis
  std::vector<ProcessSteps> steps_;
};

}  // namespace cli::ttrace
