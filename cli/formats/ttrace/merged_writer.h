// Writes a merged file (cli/formats/ttrace/merged_file.h).
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/byte_sink.h"
#include "cli/base/zstd_codec.h"
#include "cli/formats/ttrace/chunk_writer.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"
#include "cli/trace/steps.h"
#include "cli/formats/ttrace/merged_file.h"

namespace cli {

// The file itself: the chunks of several inputs, which are made at once and lie in the order of inputs. Memory: some MiB of
// each input whose turn has not come.
class MergedOutput {
 public:
  MergedOutput(ByteSink& out, std::size_t inputs);

  // Chunks of an input. Any thread, one at a time for each input; blocks while much waits before its turn. Throws Error
  // (cannot_open).
  void put(std::size_t input, std::string_view bytes);
  // All chunks of this input were put.
  void done(std::size_t input, InputChunks chunks);
  // An input failed: those behind it wait for their turn no more.
  void give_up(std::size_t input);

  // When all are done: the lists, the index and the footer. `steps` by ProcessId; empty: nobody looked for them. Processes
  // in the index have become those of the catalogue before. Does not finish the sink.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});
  // To change what the index says of them.
  InputChunks& chunks(std::size_t input) { return parts_[input].chunks; }

  std::uint64_t events() const { return events_; }  // after finish()

 private:
  struct Part {
    std::string waiting;
    InputChunks chunks;
    std::uint64_t begin = 0;  // in the file
    bool is_done = false;
  };

  void begin_part();
  template <typename List, typename Append>
  void write_list(ChunkKind kind, const List& list, Append&& append);
  void write_chunk(ChunkKind kind, std::size_t count, std::string_view raw);
  void write_index();
  void write_bytes(std::string_view bytes);
  template <typename T>
  void write_struct(const T& value) {
    write_bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }

  ByteSink& out_;
  std::mutex mutex_;  // of what follows, until all inputs are done
  std::condition_variable changed_;
  std::vector<Part> parts_;  // by input
  std::size_t turn_ = 0;     // the input whose chunks are written
  std::size_t failed_;       // the first input that failed; as many as there are: none
  std::uint64_t offset_ = 0;

  ZstdCompressor zstd_{kChunkZstdLevel};
  std::string packed_;
  std::vector<IndexEntry> index_;
  std::uint64_t list_bytes_ = 0;  // of all lists, before they are packed
  std::uint64_t events_ = 0;
};

// A file of events that come one by one.
class MergedWriter : public EventSink {
 public:
  // With the tracks and processes of the events; it outlives this.
  MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events = kHeldEvents);

  // As of ChunkWriter. Throws Error (cannot_open) of an earlier chunk, too.
  void event(const Event& event, const Facts& facts) override { chunks_.event(event, facts); }
  // As of MergedOutput.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});

 private:
  MergedOutput output_;
  ChunkWriter chunks_;  // last: its thread uses the other
};

}  // namespace cli
