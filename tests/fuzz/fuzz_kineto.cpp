// Any bytes as a Kineto trace: they are read or refused by an Error, what is read is valid and counted, the events
// before damage are untouched, the fast parser agrees with the slow judge, an event says the same where its form is known as
// where it is parsed.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/reader.h"

namespace {

constexpr std::size_t kWholeInput =
    1 << 16;  // a window that any input lies in; the usual one is cleared many times a second

struct Checked : cli::EventSink {
  void event(const cli::Event& event, const cli::Facts& facts) override {
    if (facts.has_foreign() && cli::find_json_fault("{" + cli::KeptFacts(facts).args + "}")) std::abort();
    good += event.start_ns == 1234567 && event.duration_ns == 7654321 && good == events;
    ++events;
    for (const std::uint64_t field :
         {static_cast<std::uint64_t>(event.start_ns), static_cast<std::uint64_t>(event.duration_ns), event.correlation,
          event.bytes, std::uint64_t{event.track}, std::uint64_t{event.name}, std::uint64_t{event.category},
          static_cast<std::uint64_t>(event.kind), static_cast<std::uint64_t>(event.phase),
          static_cast<std::uint64_t>(event.json.scope),
          std::uint64_t{event.has_bytes} << 4 | std::uint64_t{event.json.no_category} << 3 |
              std::uint64_t{event.json.encloses} << 2 | std::uint64_t{event.json.second_ids} << 1 |
              std::uint64_t{event.json.args_complete},
          std::uint64_t{facts.tag()}, std::hash<std::string>{}(cli::KeptFacts(facts).args)}) {
      hash = (hash ^ field) * 0x100000001b3u;
    }
  }
  std::uint64_t events = 0, good = 0;  // good: from the first on
  std::uint64_t hash = 0;              // of all
  bool whole = false;                  // nothing was damaged
  std::string said;                    // of damage, or why it was refused
};

void check(const cli::Process& process, const Checked& sink, std::size_t size) {
  const auto counted = std::accumulate(process.counts.begin(), process.counts.end(), std::uint64_t{0});
  if (counted != sink.events || counted + process.lost_unknown_kind > size) std::abort();
  if (process.lost_unknown_kind > 0 && (process.state != cli::RecordingState::recovered || process.notes.empty()))
    std::abort();
  if (process.notes.size() > 64) std::abort();
}

Checked read_path(const std::string& path, std::size_t size, std::size_t window) {
  Checked sink;
  try {
    cli::Catalog catalog;
    cli::kineto::open(path, window)->read(catalog, sink);
    check(catalog.processes.at(0), sink, size);
    sink.whole = catalog.processes[0].state == cli::RecordingState::clean;
    for (const std::string& note : catalog.processes[0].notes) sink.said += note + "\n";
  } catch (const cli::Error& error) {
    sink.said = error.what();
  }
  return sink;
}

Checked read_as_file(std::string_view bytes, std::size_t window) {
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  Checked read = read_path(path, bytes.size(), window);
  ::close(fd);
  return read;
}

void parse_as_event(std::string_view bytes) {
  std::string text(bytes);
  text.append(cli::Window::kPadding, '\0');
  const std::string_view event_text(text.data(), bytes.size());
  cli::kineto::EventParser parser;
  cli::kineto::RawEvent event;
  if (parser.parse(event_text, event) && cli::find_json_fault(event_text)) std::abort();
}

// In the place of an event: the two before it stay, whatever it is.
void read_among_good_ones(std::string_view bytes, std::size_t window) {
  const std::string good = "  {\n    \"ph\": \"X\", \"name\": \"good\", \"ts\": 1234.567, \"dur\": 7654.321\n  }";
  const std::string text = "{\"baseTimeNanoseconds\": 0, \"traceEvents\": [\n" + good + ",\n" + good + ",\n  {" +
                           std::string(bytes) + ",\n" + good + ",\n" + good + "\n  ]}";
  if (read_as_file(text, window).good < 2) std::abort();
}

// As an event, three times; of `alike` ones the form is known, for the first member is of the same name.
Checked read_thrice(std::string_view bytes, bool alike) {
  std::string text = "{\"traceEvents\": [";
  for (const char name : {'1', alike ? '1' : '2', alike ? '1' : '3'}) {
    text += std::string(text.back() == '[' ? "" : ",\n") + "{\"" + name + "\": 0, " + std::string(bytes);
  }
  return read_as_file(text + "]}", kWholeInput);
}

void read_known(std::string_view bytes) {
  const Checked known = read_thrice(bytes, true), parsed = read_thrice(bytes, false);
  if (known.whole != parsed.whole) std::abort();
  if (known.whole && (known.hash != parsed.hash || known.events != parsed.events)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.front() == '{' && bytes.back() == '}') parse_as_event(bytes);
  read_as_file(bytes.substr(1), 1 + data[0]);  // the first byte is the window's size
  read_as_file(bytes, kWholeInput);
  read_among_good_ones(bytes.substr(1), 1 + data[0]);
  read_known(bytes.substr(1));
  return 0;
}
