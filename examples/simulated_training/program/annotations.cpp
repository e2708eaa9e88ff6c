#include "annotations.h"

#include <cuda.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <atomic>
#include <charconv>
#include <string>

#include "../standin/work.h"
#include "nvtx.h"

namespace sim {
namespace {

constexpr std::uint32_t kLoading = 7, kModel = 8, kAnywhere = 3;

struct Annotation {
  const char* domain;  // "": the default one
  std::string name;
  bool is_registered = false;
  std::uint32_t color = 0, category = 0;
  std::int32_t payload_type = NVTX_PAYLOAD_UNKNOWN;
  nvtxEventAttributes_t::payload_t payload{};
};

nvtxDomainHandle_t domain_of(const Annotation& of) {
  static nvtxDomainHandle_t const app = nvtxDomainCreateA("app");
  return of.domain[0] == '\0' ? nullptr : app;
}

nvtxStringHandle_t registered(const Annotation& of) {
  static nvtxStringHandle_t const prefetch = nvtxDomainRegisterStringA(domain_of(of), "prefetch batch");
  return prefetch;
}

nvtxEventAttributes_t attributes_of(const Annotation& of) {
  nvtxEventAttributes_t made{};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.category = of.category;
  made.colorType = of.color != 0 ? NVTX_COLOR_ARGB : NVTX_COLOR_UNKNOWN;
  made.color = of.color;
  made.payloadType = of.payload_type;
  made.payload = of.payload;
  made.messageType = of.is_registered ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (of.is_registered) {
    made.message.registered = registered(of);
  } else {
    made.message.ascii = of.name.c_str();
  }
  return made;
}

template <typename Number>
std::string text_of(Number number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

std::string payload_text(const Annotation& of) {
  switch (of.payload_type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return text_of(of.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return text_of(of.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return text_of(of.payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return text_of(of.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return text_of(of.payload.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return text_of(static_cast<double>(of.payload.fValue));
    default:
      return "null";
  }
}

Line describe(std::string_view kind, const Annotation& of) {
  Line line = host_line(kind);
  line.text("domain", of.domain).text("name", of.name).number("color", of.color).number("category", of.category);
  line.number("payload_type", of.payload_type).json("payload", payload_text(of));
  return line;
}

void push(const Annotation& of) {
  const nvtxEventAttributes_t attributes = attributes_of(of);
  Line line = describe("nvtx_push", of);
  say(line);
  nvtxDomainRangePushEx(domain_of(of), &attributes);
}

void pop(const Annotation& of) {
  Line line = host_line("nvtx_pop");
  say(line.text("domain", of.domain));
  nvtxDomainRangePop(domain_of(of));
}

void mark(const Annotation& of) {
  const nvtxEventAttributes_t attributes = attributes_of(of);
  Line line = describe("nvtx_mark", of);
  say(line);
  nvtxDomainMarkEx(domain_of(of), &attributes);
}

void start_and_end(const Annotation& of) {
  static std::atomic<std::uint64_t> s_number{1u << 20};  // nvtx.cpp counts from 1
  const std::uint64_t number = ++s_number;
  const nvtxEventAttributes_t attributes = attributes_of(of);
  Line line = describe("nvtx_start", of);
  say(line.number("range", number));
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain_of(of), &attributes);
  Line end = host_line("nvtx_end");
  say(end.number("range", number));
  nvtxDomainRangeEnd(domain_of(of), id);
}

template <typename Set>
Annotation with_payload(Annotation of, std::int32_t type, Set&& set) {
  of.payload_type = type;
  set(of.payload);
  return of;
}

void name_category(const char* domain, std::uint32_t category, const char* name) {
  Line line("nvtx_category");
  line.number("seq", simulated_next_seq()).text("domain", domain).number("category", category);
  say(line.text("name", name));
  nvtxDomainNameCategoryA(domain_of({domain, ""}), category, name);
}

void name_stream(cudaStream_t stream, const char* name) {
  std::uint32_t id = 0, context = 0;
  simulated_stream(stream, &id, &context);
  say_name("stream", name, id, context, stream);
  nvtxNameCudaStreamA(stream, name);
}

}  // namespace

void name_things(cudaStream_t compute, cudaStream_t communication, int device) {
  name_stream(compute, "compute");
  name_stream(communication, "communication");
  say_name("device", "first GPU", static_cast<std::uint64_t>(device), 0, nullptr);
  nvtxNameCudaDeviceA(device, "first GPU");
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  std::uint32_t stream = 0, number = 0;
  simulated_stream(compute, &stream, &number);
  say_name("context", "training", number, 0, context);
  nvtxNameCuContextA(context, "training");
  name_category("app", kLoading, "loading");
  name_category("app", kModel, "model");
  name_category("", kAnywhere, "anywhere");
}

void annotate(int step) {
  const std::string number = std::to_string(step);
  const Annotation outer{"app", "prefetch batch", true, 0xff00c080, kLoading};
  push(with_payload(outer, NVTX_PAYLOAD_TYPE_INT64, [&](auto& value) { value.llValue = -1 - step; }));
  const Annotation inner{"", "tokens of step " + number, false, 0xffc00000, kAnywhere};
  push(with_payload(inner, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [&](auto& value) { value.ullValue = 1ull << 63 | 5u; }));
  const Annotation loss{"app", "loss", false, 0, kModel};
  mark(with_payload(loss, NVTX_PAYLOAD_TYPE_DOUBLE, [&](auto& value) { value.dValue = 2.5 / (step + 1); }));
  const Annotation skipped{"", "skipped", false, 0xff101010, 0};
  mark(with_payload(skipped, NVTX_PAYLOAD_TYPE_INT32, [&](auto& value) { value.iValue = -step; }));
  pop(inner);
  pop(outer);
  const Annotation reading{"app", "reading shard " + number, false, 0xff0000ff, kLoading};
  start_and_end(with_payload(reading, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [&](auto& value) { value.uiValue = 42; }));
  const Annotation rate{"", "rate", false, 0, kAnywhere};
  start_and_end(with_payload(rate, NVTX_PAYLOAD_TYPE_FLOAT, [&](auto& value) { value.fValue = 0.375f; }));
}

}  // namespace sim
