// CUPTI's buffers and NCCL's payloads as libraw_capture.so kept them, through the translation: every *.rawcapture in
// fixtures/ is read, whatever machine it comes from. docs/gpu/README.md says how one is added.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "agent/nccl/nccl_payload.h"
#include "tests/unit/agent/raw_capture.h"
#include "tests/unit/agent/translated.h"

namespace {

std::vector<std::filesystem::path> captures() {
  const char* tests = std::getenv("TRACETOOL_TESTS");
  REQUIRE(tests != nullptr);
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(tests) / "unit/agent/fixtures"))
    if (entry.path().extension() == ".rawcapture") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Pointers of the captured process to texts of this one.
void mend_name(const RawCapture& capture, std::string& record) {
  auto& kernel = *reinterpret_cast<CUpti_ActivityKernel5*>(record.data());
  if (kernel.kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel.name == nullptr) return;
  const auto text = capture.texts.find(reinterpret_cast<std::uintptr_t>(kernel.name));
  REQUIRE(text != capture.texts.end());
  kernel.name = text->second.c_str();
}

// Every record, as CUPTI would hand it over. Returns how many there are of each kind of activity.
std::map<std::uint32_t, std::size_t> feed(const RawCapture& capture, Translated& out) {
  std::map<std::uint32_t, std::size_t> kinds;
  for (const RawBuffer& buffer : capture.buffers) {
    for (std::size_t i = 0; i < buffer.places.size(); ++i) {
      std::string record = buffer.bytes.substr(buffer.places[i].offset, buffer.size_of(i));
      REQUIRE(reinterpret_cast<const CUpti_Activity*>(record.data())->kind == buffer.places[i].kind);
      mend_name(capture, record);
      out.add(record.data(), record.size());
      ++kinds[buffer.places[i].kind];
    }
  }
  return kinds;
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string found = status == 0 ? text : name;
  std::free(text);
  return found;
}

struct Seen {
  std::string name;
  std::uint64_t bytes, start_ns, end_ns;
};
using SeenByKind = std::map<std::string, std::vector<Seen>>;

std::uint64_t end_ns(const trace::KernelRecord& kernel) { return kernel.start_cupti_ns + kernel.duration_ns; }
std::uint64_t end_ns(const trace::KernelWideRecord& kernel) { return kernel.end_cupti_ns; }

template <typename Kernel>
void add_kernels(const Translated& out, SeenByKind& seen) {
  const auto kernels = out.in_blocks<Kernel>();
  const auto names = out.names_in_blocks<Kernel>();
  for (std::size_t i = 0; i < kernels.size(); ++i)
    seen["kernel"].push_back({names[i], 0, kernels[i].start_cupti_ns, end_ns(kernels[i])});
}

template <typename Record>
void add_moved(const Translated& out, const char* kind, SeenByKind& seen) {
  for (const Record& record : out.in_blocks<Record>())
    seen[kind].push_back({"", record.bytes, record.start_cupti_ns, record.end_cupti_ns});
}

template <typename Record>
void add_counted(const Translated& out, const char* kind, SeenByKind& seen) {
  seen[kind].resize(seen[kind].size() + out.in_blocks<Record>().size());
}

void add_nccl(const RawCapture& capture, SeenByKind& seen) {
  for (const RawNvtx& call : capture.nvtx) {
    const agent::NcclOperation* row = agent::find_nccl_operation(call.message);
    if (row == nullptr || call.part.call != raw_capture::NvtxCall::push) continue;
    auto record = trace::make_record<trace::NcclCallRecord>();
    agent::decode_nccl_call(record, *row, call.payload.data(), call.payload.size());
    CHECK((record.has & trace::kHasBytes) != 0);
    seen["nccl"].push_back({call.message, record.bytes, 0, 0});
  }
}

SeenByKind look_at(const RawCapture& capture, const Translated& out) {
  SeenByKind seen;
  add_kernels<trace::KernelRecord>(out, seen);
  add_kernels<trace::KernelWideRecord>(out, seen);
  add_moved<trace::MemcpyRecord>(out, "memcpy", seen);
  add_moved<trace::MemsetRecord>(out, "memset", seen);
  add_moved<trace::MemcpyPeerRecord>(out, "memcpy_peer", seen);
  add_counted<trace::RuntimeRecord>(out, "runtime", seen);
  add_counted<trace::RuntimeWideRecord>(out, "runtime", seen);
  add_counted<trace::DriverRecord>(out, "driver", seen);
  add_counted<trace::DriverWideRecord>(out, "driver", seen);
  add_counted<trace::SyncRecord>(out, "sync", seen);
  add_counted<trace::OverheadRecord>(out, "overhead", seen);
  add_counted<trace::MemoryRecord>(out, "memory", seen);
  add_counted<trace::MemoryPoolRecord>(out, "memory_pool", seen);
  add_nccl(capture, seen);
  return seen;
}

bool is_meant(const Expected& expected, const Seen& seen) {
  return expected.name == "-" || demangled(seen.name).find(expected.name) != std::string::npos;
}

void check_expected(const Expected& expected, const std::vector<Seen>& seen) {
  INFO(expected.kind << " " << expected.name);
  std::uint64_t count = 0, bytes = 0;
  for (const Seen& each : seen) {
    if (!is_meant(expected, each)) continue;
    ++count;
    bytes += each.bytes;
  }
  if (expected.count != "-") CHECK(std::to_string(count) == expected.count);
  if (expected.bytes != "-") CHECK(std::to_string(bytes) == expected.bytes);
}

// CUPTI's clock was read before the first and after the last: what lies beyond was read from the wrong place.
void check_times(const RawCapture& capture, const SeenByKind& seen) {
  REQUIRE(capture.clocks.size() >= 2);
  const std::uint64_t first_ns = capture.clocks.front().cupti_ns, last_ns = capture.clocks.back().cupti_ns;
  for (const char* kind : {"kernel", "memcpy", "memcpy_peer", "memset"}) {
    const auto found = seen.find(kind);
    if (found == seen.end()) continue;
    for (const Seen& each : found->second) {
      INFO(kind << " " << each.name);
      CHECK((first_ns < each.start_ns && each.start_ns <= each.end_ns && each.end_ns < last_ns));
    }
  }
}

void check_capture(const RawCapture& capture) {
  CHECK(capture.totals.buffers == capture.buffers.size());
  CHECK(capture.totals.nvtx == capture.nvtx.size());
  CHECK(capture.totals.cupti_dropped == 0);
  Translated out("all", capture.header.cupti_version);
  auto kinds = feed(capture, out);
  CHECK(out.unknown() == 0);
  CHECK(out.invalid_timestamps() == 0);
  SeenByKind seen = look_at(capture, out);
  CHECK(seen["kernel"].size() == kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
  CHECK(seen["sync"].size() == kinds[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]);
  check_times(capture, seen);
  REQUIRE(!capture.expected.empty());
  for (const Expected& each : capture.expected) check_expected(each, seen[each.kind]);
}

}  // namespace

TEST_CASE("captured buffers and payloads say what their program did, of the stand-ins and of hardware") {
  const auto found = captures();
  REQUIRE(!found.empty());
  for (const auto& path : found) {
    const RawCapture capture(path);
    INFO(path.filename().string() << ": " << capture.device << (capture.is_of_hardware() ? ", hardware" : ""));
    check_capture(capture);
  }
}
