// For the tests of cli/read: files that vanish, sources in memory, and a sink that keeps what it gets.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/error.h"
#include "cli/read/byte_source.h"
#include "cli/read/kineto_reader.h"

namespace cli {

// A folder of its own under $TMPDIR, removed with all that is in it.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tracetool-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test");
    path_ = pattern;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Hands out a text in pieces of at most `piece` bytes.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text, std::size_t piece = 1 << 20) : text_(std::move(text)), piece_(piece) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, text_.size() - at_});
    text_.copy(out, count, at_);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t piece_, at_ = 0;
};

struct KeptEvent {
  Event event;
  std::string args;
  KeptFacts facts;
};

struct KeptTrace : EventSink {
  Catalog catalog;
  std::vector<KeptEvent> events;
  void event(const Event& event, const Facts& facts) override { events.push_back({event, KeptFacts(facts).args, facts}); }

  const Process& process() const { return catalog.processes.at(0); }
  const Track& track(std::size_t i) const { return catalog.tracks.at(events.at(i).event.track); }
  std::string_view name(std::size_t i) const { return catalog.strings[events.at(i).event.name]; }
  std::string_view category(std::size_t i) const { return catalog.strings[events.at(i).event.category]; }
};

inline std::unique_ptr<KeptTrace> read_kineto(std::string_view json, const std::string& name = "trace.json",
                                              std::size_t window = JsonStream::kWindow) {
  const TestFolder folder;
  auto trace = std::make_unique<KeptTrace>();
  open_kineto(folder.write(name, json), window)->read(trace->catalog, *trace);
  return trace;
}

// {"traceEvents": [EVENTS]}
inline std::unique_ptr<KeptTrace> read_events(const std::string& events) {
  return read_kineto("{\"traceEvents\": [" + events + "]}");
}

// What the error says; "" when there was none.
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace cli
