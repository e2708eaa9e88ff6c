#include "cli/formats/json/json_stream.h"

#include <fmt/format.h>

#include <utility>

#include "cli/trace/characters.h"
#include "cli/trace/error.h"
#include "cli/formats/json/foreign_file.h"
#include "cli/formats/json/json_resume.h"

namespace cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr std::size_t kCutToken = 12;  // a fault this close to the end of what is held may only be a cut token


}  // namespace

JsonStream::JsonStream(std::unique_ptr<ByteSource> source, std::string path, std::size_t window)
    : window_(std::move(source), window), path_(std::move(path)) {}

char JsonStream::open() {
  while (window_.size() < kByteOrderMark.size() && window_.more()) continue;
  if (std::string_view(window_.begin(), window_.size()).starts_with(kByteOrderMark)) window_.skip(3);
  const char bracket = peek();
  bare_array_ = bracket == '[';
  if (bracket == '{' || bracket == '[') {
    window_.skip(1);
    return bracket;
  }
  const std::string ends = !ended()                   ? ""
                           : window_.damage().empty() ? "the JSON text ends here: "
                                                      : window_.damage() + ": ";
  while (window_.offset() == 0 && window_.size() < kForeignBytes && window_.more()) continue;
  const std::string_view what = window_.offset() == 0 ? foreign_file({window_.begin(), window_.size()}) : std::string_view();
  if (!what.empty()) throw Error(Exit::bad_content, fmt::format("{}: not a trace, but {}", path_, what));
  throw Error(Exit::bad_content, path_ + ": byte " + std::to_string(window_.offset()) + ": " + ends +
                                     "expected '{' or '[': a trace in JSON; copy or record it again");
}

// '\0' at the end, where ended() says so.
char JsonStream::peek() {
  for (;;) {
    const char *at = window_.begin(), *end = window_.end();
    while (at < end && is_json_space(*at)) ++at;
    window_.skip(static_cast<std::size_t>(at - window_.begin()));
    if (at < end) return *at;
    if (!window_.more()) return '\0';
  }
}

void JsonStream::settle() {
  const Pending pending = std::exchange(pending_, Pending::none);
  if (pending == Pending::pass_large) pass_large();
  if (pending == Pending::find_event) go_on_at_event();
  if (pending == Pending::pass_lost) lose_whole();
  if (pending == Pending::find_member) comma_seen_ = resume_members(window_);
  if (pending != Pending::pass && pending != Pending::pass_to_element && pending != Pending::pass_to_member) return;
  window_.skip(text_size_ + (pending == Pending::pass_to_element ? gap_.size() : 0));
  comma_seen_ = pending != Pending::pass;
}

void JsonStream::finish() {
  settle();
  peek();
  if (!ended()) damage_.lose_member("", window_.offset(), "the end of the file");
  do window_.skip(window_.size());
  while (window_.more());
  if (!damage_.is_cut() && !window_.damage().empty()) damage_.doubt(window_.damage());
}

void JsonStream::cut(std::string_view expected) {
  damage_.cut(window_.offset() + window_.size(), expected, window_.damage());
  window_.skip(window_.size());
}

// What is wrong with a text of which perhaps only the begin is here.
std::optional<JsonFault> JsonStream::judge_begun(std::size_t size) const {
  const auto fault = find_json_fault({window_.begin(), size});
  return fault && fault->at + kCutToken < size ? fault : std::nullopt;
}

}  // namespace cli
