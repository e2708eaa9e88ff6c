// Where threads were, and what Python did besides its program's work: runs of its garbage collector.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "cli/formats/ring/ring_output.h"
#include "cli/formats/ring/ring_translator.h"

namespace cli {
namespace {

class PythonEvents : public RingTranslator {
 public:
  explicit PythonEvents(RingOutput& out) : out_(out) {}

  void translate(const trace::StackRecord& record, std::size_t at) {
    Event event;
    event.kind = Kind::stack;
    event.phase = 'i';
    event.track = out_.thread_track(record.tid);
    event.name = out_.catalog.strings.intern(record.reason == static_cast<std::uint8_t>(trace::StackReason::hang) ? "stack in a hang" : "stack of a call");
    event.start_ns = out_.axis.from_mono(record.time_mono_ns);
    event.correlation = record.correlation_id;
    StackFacts facts;
    facts.reason = record.reason;
    facts.stack = out_.definitions.stack(out_.names.bytes(record.stack_ref, at), at);
    out_.emit(event, facts);
  }

  void translate(const trace::GarbageCollectionRecord& record, std::size_t) {
    Event event;
    event.kind = Kind::garbage_collection;
    event.track = out_.thread_track(record.tid);
    event.name = name(record.generation);
    event.start_ns = out_.axis.from_mono(record.start_mono_ns);
    event.duration_ns = RingOutput::duration(record.start_mono_ns, record.end_mono_ns);
    GarbageCollectionFacts facts;
    facts.generation = record.generation;
    facts.collected = record.collected;
    facts.uncollectable = record.uncollectable;
    out_.emit(event, facts);
  }

 private:
  StringId name(std::uint8_t generation) {
    std::optional<StringId>& known = names_[generation];
    if (!known) known = out_.catalog.strings.intern(fmt::format("garbage collection (generation {})", generation));
    return *known;
  }

  RingOutput& out_;
  std::array<std::optional<StringId>, 256> names_;  // by generation
};

}  // namespace

std::unique_ptr<RingTranslator> python_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<PythonEvents>(out, handlers);
}

}  // namespace cli
