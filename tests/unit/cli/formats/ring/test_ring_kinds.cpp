// Every kind of record, without a list: a new one must become an event (or be none by intent) and be shown by dump.
#include "cli/formats/ring/reader.h"
#include "cli/formats/ring/translator.h"
#include "cli/trace/event.h"
#include "ring_recording.h"
#include "tests/unit/cli/commands/text_sink.h"

using namespace cli;
using namespace cli::ring;

namespace {

// A record with times and references that lead somewhere.
template <typename R>
R sample(Recording& recording) {
  R record = trace::make_record<R>();
  const std::uint32_t text = recording.name("text");
  if constexpr (requires { record.name_ref; }) record.name_ref = text;
  if constexpr (requires { record.text_ref; }) record.text_ref = text;
  if constexpr (requires { record.domain_ref; }) record.domain_ref = text;
  if constexpr (requires { record.range_ref; }) record.range_ref = record.nccl_name_ref = text;
  if constexpr (requires { record.shape_ref; }) record.shape_ref = recording.shape("kernel");
  if constexpr (std::is_same_v<R, trace::StackRecord>) record.stack_ref = recording.name("");
  if constexpr (requires { record.start_cupti_ns; }) record.start_cupti_ns = 9'500'000'000;
  if constexpr (requires { record.end_cupti_ns; }) record.end_cupti_ns = 9'600'000'000;
  if constexpr (requires { record.time_cupti_ns; }) record.time_cupti_ns = 9'500'000'000;
  if constexpr (requires { record.time_mono_ns; }) record.time_mono_ns = 5'500'000'000;
  if constexpr (requires { record.start_mono_ns; }) record.start_mono_ns = record.end_mono_ns = 5'500'000'000;
  return record;
}

}  // namespace

TEST_CASE("ring: each record of an event's kind is one event of it") {
  trace::for_each_record([]<typename R>(R*) {
    if constexpr (R::kKind >= trace::KernelRecord::kKind) {
      Recording recording;
      recording.add(sample<R>(recording));
      const std::size_t events = recording.read().all.size();
      const Kind kind = event_kind(static_cast<std::uint8_t>(R::kKind));
      INFO(R::kName);
      CHECK(events == (kind == Kind::count_ ? 0 : 1));
      if (events == 1) CHECK(recording.process().counts[static_cast<std::size_t>(kind)] == 1);
    }
  });
}

TEST_CASE("ring: dump shows every kind of record") {
  Recording recording(8);
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (R::kKind >= trace::KernelRecord::kKind) {
      recording.add(sample<R>(recording));
    } else if constexpr (R::kKind != trace::StringRecord::kKind) {
      recording.define(sample<R>(recording));
    }
  });
  TextSink sink;
  dump_ring(recording.write(recording.memory.size()), "shown name", sink);
  CHECK_THAT(sink.text, contains_text("# shown name\n"));
  trace::for_each_record([&]<typename R>(R*) {
    INFO(R::kName);
    CHECK(sink.text.find(": " + std::string(R::kName) + " ") != std::string::npos);
  });
}
