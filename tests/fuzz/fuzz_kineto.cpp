// Any bytes as a Kineto trace: they are read or refused by an Error, and the fast parser agrees with the slow judge.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/error.h"
#include "cli/read/json_check.h"
#include "cli/read/kineto_event.h"
#include "cli/read/kineto_reader.h"
#include "cli/read/window.h"

namespace {

class NullSink : public cli::EventSink {
 public:
  void event(const cli::Event&, std::string_view args) override {
    if (!args.empty() && cli::find_json_fault("{" + std::string(args) + "}")) std::abort();
  }
};

void read_as_file(const std::uint8_t* data, std::size_t size, std::size_t window) {
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    cli::Catalog catalog;
    NullSink sink;
    cli::open_kineto("/proc/self/fd/" + std::to_string(fd), window)->read(catalog, sink);
  } catch (const cli::Error&) {
  }
  ::close(fd);
}

void parse_as_event(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(cli::Window::kPadding, '\0');
  const std::string_view event_text(text.data(), size);
  cli::KinetoEventParser parser;
  cli::KinetoEvent event;
  if (parser.parse(event_text, event) && cli::find_json_fault(event_text)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] == '{' && data[size - 1] == '}') parse_as_event(data, size);
  read_as_file(data + 1, size - 1, 1 + data[0]);  // the first byte is the window's size
  read_as_file(data, size, cli::JsonStream::kWindow);
  return 0;
}
