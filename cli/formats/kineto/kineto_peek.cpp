#include "cli/formats/kineto/kineto_peek.h"

#include "cli/formats/json/decimal.h"
#include "cli/formats/kineto/kineto_event.h"
#include "cli/formats/kineto/kineto_header.h"
#include "cli/formats/kineto/kineto_translate.h"

namespace cli {
namespace {

// What is looked for is mostly in the first few thousand bytes; of a compressed file little more than this is made.
constexpr std::size_t kPeekWindow = 128 << 10;

// Takes events up to the first with a time of its own. Those at time 0 are what Kineto clamps to its base.
void look_at_events(JsonStream& stream, const KinetoHeader& header, KinetoPeek& peek) {
  KinetoEventParser parser;
  KinetoEvent event;
  std::string_view text;
  while (stream.next_element(text)) {
    if (!parser.parse(text, event)) {
      stream.refuse(0, "an event");
      continue;
    }
    const char phase = kineto_phase(event);
    peek.is_trace = peek.is_trace || phase != '\0';
    const auto ts = micros_to_ns(event.ts.text);
    if (phase == '\0' || phase == 'M' || !ts || *ts == 0) continue;
    std::int64_t start_ns = *ts;
    if (start_ns < kSurelyAbsoluteNs) {
      if (!header.base_ns) return;
      if (__builtin_add_overflow(*header.base_ns, *ts, &start_ns)) continue;  // the reader refuses such an event, too
    }
    peek.start_ns = start_ns;
    return;
  }
}

}  // namespace

KinetoPeek peek_kineto(const std::string& path) {
  KinetoPeek peek;
  KinetoHeader header;
  JsonStream stream(open_byte_source(path), path, kPeekWindow);
  if (stream.open() == '[') {
    look_at_events(stream, header, peek);
    return peek;
  }
  std::string key;
  while (stream.next_member(key)) {
    if (key != "traceEvents") {
      header.take(stream, key);
      continue;
    }
    peek.is_trace = true;
    peek.mark = find_export_mark(header.members);
    stream.enter_array();
    look_at_events(stream, header, peek);
    return peek;
  }
  peek.is_trace = stream.damage().is_cut() && header.is_of_a_trace();
  return peek;
}

}  // namespace cli
