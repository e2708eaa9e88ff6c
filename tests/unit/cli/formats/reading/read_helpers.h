// For the tests of cli/formats: files that vanish, sources in memory, and a sink that keeps what it gets.
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

#include "cli/base/error.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/kineto/reader.h"
#include "cli/trace/catalog.h"

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
  void event(const Event& event, const Facts& facts) override {
    events.push_back({event, KeptFacts(facts).args, facts});
  }

  const Process& process() const { return catalog.processes.at(0); }
  const Track& track(std::size_t i) const { return catalog.tracks.at(events.at(i).event.track); }
  std::string_view name(std::size_t i) const { return catalog.strings[events.at(i).event.name]; }
  std::string_view category(std::size_t i) const { return catalog.strings[events.at(i).event.category]; }
};

inline std::unique_ptr<KeptTrace> read_kineto(std::string_view json, const std::string& name = "trace.json",
                                              std::size_t window = JsonStream::kWindow) {
  const TestFolder folder;
  auto trace = std::make_unique<KeptTrace>();
  kineto::open(folder.write(name, json), window)->read(trace->catalog, *trace);
  return trace;
}

// One event in full, as a text.
inline std::string told(const KeptTrace& trace, std::size_t i) {
  const Event& e = trace.events[i].event;
  std::string text;
  for (const std::int64_t number :
       {e.start_ns, e.duration_ns, static_cast<std::int64_t>(e.correlation), static_cast<std::int64_t>(e.bytes),
        static_cast<std::int64_t>(e.track), static_cast<std::int64_t>(e.kind), static_cast<std::int64_t>(e.has_bytes),
        static_cast<std::int64_t>(e.json.args_complete), static_cast<std::int64_t>(e.json.no_category),
        static_cast<std::int64_t>(e.json.encloses), static_cast<std::int64_t>(e.json.second_ids),
        static_cast<std::int64_t>(e.json.scope), static_cast<std::int64_t>(e.phase),
        static_cast<std::int64_t>(trace.events[i].facts.tag())}) {
    text += std::to_string(number) + " ";
  }
  return text.append(trace.name(i)).append("|").append(trace.category(i)).append("|") + trace.events[i].args;
}

// All of it.
inline std::string told(const KeptTrace& trace) {
  std::string text;
  for (std::size_t i = 0; i < trace.events.size(); ++i) text += told(trace, i) + "\n";
  for (const Track& track : trace.catalog.tracks) text += track.kineto_ids + "\n";
  for (const std::uint64_t count : trace.process().counts) text += std::to_string(count) + " ";
  for (const std::string& note : trace.process().notes) text += note + "\n";
  for (std::size_t i = 0; i < trace.catalog.strings.size(); ++i)
    text.append(trace.catalog.strings[static_cast<StringId>(i)]).append("\n");
  const Process& p = trace.process();
  text += p.cut + "\n" + (p.damage ? std::to_string(p.damage->byte) + p.damage->what : "") + "\n" + p.kineto_metadata +
          "\n";
  for (const std::uint64_t number :
       {p.lost_unknown_kind, p.text_bytes, p.unread_bytes, static_cast<std::uint64_t>(p.first_ns)})
    text += std::to_string(number) + " ";
  return text;
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
