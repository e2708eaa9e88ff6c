// Recordings (`*.ring`) as a source of events.
#pragma once
#include <memory>
#include <string>

#include "cli/formats/reading/reader.h"

namespace cli {

std::unique_ptr<Reader> open_ring(const std::string& path, std::size_t threads = 1);

}  // namespace cli
