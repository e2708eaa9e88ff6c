// Reads PyTorch's profiler traces (Kineto's Chrome JSON, plain or gzip), and Chrome JSON of other writers: an object
// with `traceEvents`, or an array of events.
//
// Reads the file in one pass with a window of 1 MiB. It is scanned a second time, for the members after the events,
// only if `baseTimeNanoseconds` is not before the events and their times are too small to be absolute.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cli/formats/json/json_stream.h"
#include "cli/formats/kineto/facts.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/forms.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/formats/reading/reader.h"
#include "cli/trace/catalog.h"

namespace cli::kineto {

// Data learnt from the events of one file that speeds up reading the next, which is usually of another rank of the same
// run: forms of events, shapes of their arguments, facts in these, and the tables to which all of them refer by number.
//
// The next file's catalogue continues these tables, so every number keeps its meaning. Results are the same as without
// it: entries used only by earlier files are in the trace already, because catalogues are joined in the order of their
// files.
struct Memory {
  // `foreign` is ReaderOptions::foreign.
  Memory(Catalog& catalog, bool foreign);

  const std::unique_ptr<Shapes> own_shapes;  // replaces the catalogue's shapes; null if those are used
  Categories categories;
  ArgumentShapes shapes;
  Forms forms;
  std::unique_ptr<EventFacts> facts;

  // Keeps the tables of the catalogue of a file that was read completely.
  void end(const Catalog& catalog);
  // Moves those tables to the catalogue of another file, which must not have entries yet.
  void go_on_in(Catalog& catalog);
  // Returns false if continuing is not worthwhile: files have little in common, so tables would grow with each, or a
  // table was full.
  bool helps() const;

 private:
  Shapes& shapes_of(Catalog& catalog) const { return own_shapes ? *own_shapes : catalog.shapes; }
  std::size_t entries() const { return tables_->strings.size() + (own_shapes ? *own_shapes : tables_->shapes).size(); }

  std::optional<InternedTables> tables_;
  std::size_t entries_of_first_ = 0;  // number of entries after the first file
};

// Throws Error (cannot_open). Results are the same for any number of threads. `window` is the number of bytes read at
// once. `memory` and `foreign` are those of ReaderOptions.
std::unique_ptr<Reader> open(const std::string& path, std::size_t window = JsonStream::kWindow,
                             ReaderMemory* memory = nullptr, bool foreign = true);

}  // namespace cli::kineto
