// What NVTX and NCCL add to their ranges, names of threads, and what happened to the recording itself.
#include <bit>
#include <limits>

#include "cli/base/error.h"
#include "ring_recording.h"

using namespace cli;

namespace {

constexpr std::uint64_t kTime = 5'000'000'100;

trace::NvtxMarkRecord mark(std::uint32_t name) {
  auto record = trace::make_record<trace::NvtxMarkRecord>();
  record.tid = 1, record.time_mono_ns = kTime, record.name_ref = name, record.domain_ref = trace::kNoRef;
  return record;
}

std::string payload_of(std::uint8_t type, std::uint64_t payload) {
  Recording recording;
  auto record = mark(recording.name("m"));
  record.payload_type = type, record.payload = payload;
  recording.add(record);
  return recording.one().args;
}

trace::NoticeRecord notice(trace::NoticeCode code, std::uint64_t start, std::uint64_t end, std::uint32_t text) {
  auto record = trace::make_record<trace::NoticeRecord>();
  record.code = static_cast<std::uint8_t>(code);
  record.start_mono_ns = start, record.end_mono_ns = end, record.text_ref = text;
  return record;
}

}  // namespace

TEST_CASE("ring: NVTX payloads in their own types") {
  CHECK(payload_of(0, 5).empty());
  CHECK(payload_of(1, ~0ull) == "\"payload\": 18446744073709551615");
  CHECK(payload_of(2, ~0ull) == "\"payload\": -1");
  CHECK(payload_of(3, std::bit_cast<std::uint64_t>(0.25)) == "\"payload\": 0.25");
  CHECK(payload_of(3, std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity())) == "\"payload\": \"inf\"");
  CHECK(payload_of(4, 0xffffffffu) == "\"payload\": 4294967295");
  CHECK(payload_of(5, 0xffffffffu) == "\"payload\": -1");
  CHECK(payload_of(6, std::bit_cast<std::uint32_t>(1.5f)) == "\"payload\": 1.5");
  CHECK(payload_of(99, 1).empty());
}

TEST_CASE("ring: a mark of an older writer, without the payload, is read") {
  Recording recording;
  auto record = mark(recording.name("m"));
  record.size_words = 4;
  record.category = 0;
  recording.add(&record, 32);
  CHECK(recording.one().args.empty());
}

TEST_CASE("ring: categories have names per domain, colours are shown") {
  Recording recording;
  auto category = trace::make_record<trace::NvtxCategoryRecord>();
  category.domain_ref = recording.name("torch"), category.category = 3, category.name_ref = recording.name("forward");
  recording.define(category);
  auto record = mark(recording.name("m"));
  record.category = 3, record.color_argb = 0xff00ff00;
  recording.add(record);  // the default domain has no such category
  record.domain_ref = category.domain_ref;
  recording.add(record);
  const auto all = recording.read().all;
  REQUIRE(all.size() == 2);
  CHECK(all[0].args == "\"category\": 3, \"color\": \"#ff00ff00\"");
  CHECK(all[1].args ==
        "\"domain\": \"torch\", \"category\": 3, \"category name\": \"forward\", \"color\": \"#ff00ff00\"");
}

TEST_CASE("ring: an NCCL call with what interposition adds") {
  Recording recording;
  auto call = trace::make_record<trace::NcclCallRecord>();
  call.tid = 1, call.time_mono_ns = kTime, call.name_ref = recording.name("ncclReduce");
  call.domain_ref = recording.name("NCCL"), call.nccl_class = 1, call.has = 63, call.communicator = 0xab;
  call.bytes = 400, call.ordinal = 3, call.epoch = 1, call.reduction_op = 4, call.peer = 2;
  call.data_type = 7, call.count = 100, call.stream = 0x1234;
  recording.add(call);
  const KeptRecord kept = recording.one();
  CHECK((kept.event.has_bytes && kept.event.bytes == 400 && kept.event.kind == Kind::nccl));
  CHECK(kept.args ==
        "\"domain\": \"NCCL\", \"communicator\": \"0x00000000000000ab\", \"epoch\": 1, \"ordinal\": 3, \"reduction\": "
        "\"avg\", \"peer\": 2, \"data type\": \"ncclFloat32\", \"count\": 100, \"stream handle\": "
        "\"0x0000000000001234\"");
}

TEST_CASE("ring: threads by the program's name, communicators once, and those without a name apart") {
  Recording recording;
  auto named = trace::make_record<trace::ResourceNameRecord>();
  named.resource = static_cast<std::uint8_t>(trace::ResourceKind::thread), named.id = 1;
  named.name_ref = recording.name("a name longer than fifteen bytes");
  recording.define(named);
  auto communicator = trace::make_record<trace::CommunicatorRecord>();
  communicator.communicator = 0xc0ffee, communicator.rank = 3, communicator.ranks = 8, communicator.epoch = 1;
  recording.define(communicator);
  recording.define(communicator);
  communicator.communicator = 0, communicator.epoch = 0, communicator.ranks = 4;
  for (const std::uint64_t made_ns : {7, 8, 8}) {
    communicator.time_mono_ns = made_ns;
    recording.define(communicator);
  }
  recording.add(mark(recording.name("m")));
  const KeptRecord kept = recording.one();
  CHECK(recording.track_of(kept.event).name == "a name longer than fifteen bytes");
  REQUIRE(recording.process().communicators.size() == 3);
  CHECK(recording.process().communicators[0].ranks == 8);
  CHECK(recording.process().communicators[2].communicator == 0);
}

TEST_CASE("ring: a gap lasts to the notice that ends it, or to the end") {
  Recording recording;
  const std::uint32_t text = recording.name("another user of CUPTI");
  recording.add(notice(trace::NoticeCode::gap, kTime, 0, text));
  recording.add(notice(trace::NoticeCode::source_on, kTime, kTime + 50, text));
  recording.add(notice(trace::NoticeCode::gap, kTime + 70, 0, trace::kNoRef));
  recording.add(notice(trace::NoticeCode::reduced_to_light, kTime + 60, kTime + 60, trace::kNoRef));
  const auto all = recording.read().all;
  REQUIRE(all.size() == 4);
  CHECK(recording.process().counts[static_cast<std::size_t>(Kind::notice)] == 4);
  CHECK((recording.name_of(all[0].event) == "gap" && all[0].event.duration_ns == 50));
  CHECK(all[0].args == "\"text\": \"another user of CUPTI\", \"value\": 0");
  CHECK((recording.name_of(all[1].event) == "source_on" && all[1].event.phase == 'i'));
  CHECK(all[1].event.start_ns == 10'000'000'150);
  CHECK((recording.name_of(all[2].event) == "reduced_to_light" && all[2].event.phase == 'i'));
  CHECK(all[3].event.duration_ns == kUnknownDuration);
  const auto& notices = recording.process().notices;
  REQUIRE(notices.size() == 4);
  CHECK((notices[0].code == trace::NoticeCode::gap && notices[0].end_ns - notices[0].start_ns == 50));
  CHECK(notices[3].end_ns == 0);
}

TEST_CASE("ring: the header says how it was recorded") {
  Recording recording;
  trace::FileHeader& header = *recording.memory.header();
  header.cupti_state = static_cast<std::uint32_t>(trace::SourceState::taken);
  header.nccl_version = 22809, header.truncated_names = 2, header.discarded_buffers = 1, header.stacks_left_out = 7;
  header.operators_without_stack = 8, header.module_names_missed = 9;
  std::snprintf(header.cupti_holder, sizeof(header.cupti_holder), "Nsight Systems");
  std::snprintf(header.events, sizeof(header.events), "light");
  recording.read();
  const Process& process = recording.process();
  CHECK((process.recorder.cupti_state == trace::SourceState::taken && process.recorder.events == "light"));
  CHECK((process.recorder.mode == RecordingMode::ring && process.recorder.nccl_version == 22809));
  REQUIRE(process.notes.size() == 6);
  CHECK((process.notes[4].starts_with("8 operators have no Python stack: ") &&
         process.notes[5].starts_with("9 modules have no name: ")));
  CHECK((process.recorder.stacks_left_out == 7 && process.notes[3].starts_with("7 calls have no stack: ")));
  CHECK(process.notes[0] == "CUPTI was in use by Nsight Systems: GPU work was not recorded");
}

TEST_CASE("ring: a definition in the region that refers into a block is refused, not followed") {
  Recording recording;
  auto named = trace::make_record<trace::ResourceNameRecord>();
  named.resource = static_cast<std::uint8_t>(trace::ResourceKind::thread), named.name_ref = trace::kLocalRef | 1;
  recording.define(named);
  recording.add(mark(trace::kNoRef));
  CHECK_THROWS_AS(recording.read(), Error);
}
