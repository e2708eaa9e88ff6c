// A source of events. Opening reads only the identity of the trace; read() streams every event once. A new input format
// is a Reader in a room of its own and one line in input_formats() (input_formats.cpp).
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

class Reader {
 public:
  virtual ~Reader() = default;

  // Streams all events into `sink`, registering processes, tracks and strings in `catalog` before the event that uses
  // them. When it returns, the Process entries contain counts, losses, first and last time, state and notes. Throws
  // Error (bad content: file, byte offset, what was expected, advice). Memory: bounded by the catalogue and a window,
  // independent of the number of events. Called once.
  virtual void read(Catalog& catalog, EventSink& sink) = 0;
};

namespace kineto {
struct Memory;
}

// Data that readers learn from one input and use for the next. Inputs read in sequence, each into its own catalogue,
// may share it if the catalogues are joined in the same order. The results are the same as without it.
struct ReaderMemory {
  ReaderMemory();
  ~ReaderMemory();
  std::unique_ptr<kineto::Memory> kineto_memory;  // null if nothing was learnt
};

struct ReaderOptions {
  // Number of threads, including the calling one. Events and errors are the same for any number, and are delivered on
  // the calling thread.
  std::size_t threads = 1;
  ReaderMemory* memory = nullptr;  // null if none is shared
  bool foreign = true;  // if false, foreign arguments are not needed, and their shapes need not be in the catalogue
};

// Opens a file by its content (ring, merged, JSON, gzip of JSON), not by its name. Throws Error.
std::unique_ptr<Reader> open_trace(const std::string& path, const ReaderOptions& options = {});

}  // namespace cli
