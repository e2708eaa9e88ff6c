// Reads a merged file. Unlike other inputs it knows its catalogue before its first event, its events come in the order
// of time, it can be walked more than once, and a walk reads only the chunks that it needs.
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

// A merged file as chunks: checks the frame of the file (file.h) and hands out what is in each chunk. Memory:
// the index and one chunk as it is stored.
class MergedChunks {
 public:
  // Checks header, footer and index: chunks of possible sizes fill the file without gaps. Throws Error.
  explicit MergedChunks(const std::string& path);
  ~MergedChunks();
  MergedChunks(const MergedChunks&) = delete;
  MergedChunks& operator=(const MergedChunks&) = delete;

  const std::vector<IndexEntry>& index() const { return index_; }
  std::uint64_t events() const { return events_; }

  // The decompressed content in place of what `raw` held. One thread at a time. Throws Error.
  void load(const IndexEntry& entry, std::string& raw);

  // Throws Error (bad_content) with the file, this offset and what to do.
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

// By the magic of the file. False also for what cannot be opened.
bool is_merged_file(const std::string& path);

class MergedReader : public Reader {
 public:
  explicit MergedReader(const std::string& path);  // throws Error

  void read(Catalog& catalog, EventSink& sink) override;

  // Or in two steps: the lists into `catalog`, which may hold other traces; then the events, any number of times.
  void read_lists(Catalog& catalog);
  // All of what is wanted, and what lies in one chunk with it. Memory: a chunk of each stream, as columns, and
  // what walk.h says. `ahead`: large ones are read by another thread; the sink is called by this one.
  NotRead read_events(EventSink& sink, const Wanted& wanted, bool ahead = true);
  // The same at the times of each process's own clock, by which `wanted` is, too: one process after the other, so that memory
  // is that of one, and what is known of a process is at hand in the processor.
  NotRead read_own_times(EventSink& sink, const Wanted& wanted, bool ahead = true);

  // After read_lists.
  const std::vector<ClockFit>& fits() const { return fits_; }
  // By each process's own clock, by ProcessId less the first of the file's; empty: nobody looked for steps.
  const std::vector<ProcessSteps>& own_steps() const { return steps_; }
  // The same on the axis.
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
  std::vector<const ClockFit*> process_fits_;  // by the file's numbers; null: on the axis
  std::vector<ProcessSteps> steps_;
};

}  // namespace cli::ttrace
