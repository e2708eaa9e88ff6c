// Reads PyTorch's profiler traces (Kineto's Chrome JSON, plain or gzip), and Chrome JSON of other writers: an object
// with `traceEvents`, or an array of events.
//
// One pass in a window of 1 MiB. Only when `baseTimeNanoseconds` is not found before the events and their times are
// too small to be absolute is the file scanned once more, for the members behind the events.
#pragma once
#include <memory>
#include <string>

#include "cli/formats/kineto/forms_ahead.h"
#include "cli/formats/json/json_stream.h"
#include "cli/formats/reading/reader.h"

namespace cli {

// Throws Error (cannot_open). What is read is the same on any number of threads. `window`: bytes read at once. `memory` and
// `foreign`: as in ReaderOptions.
std::unique_ptr<Reader> open_kineto(const std::string& path, ReadingThreads threads = {}, std::size_t window = JsonStream::kWindow,
                                    ReaderMemory* memory = nullptr, bool foreign = true);

}  // namespace cli
