// NVTX as programs use it, and as none should: nvtx_calls WHAT [COUNT]. A push in a domain "NCCL" that looks like
// NCCL's opens the recording, as it does where CUPTI cannot be had.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

nvtxEventAttributes_t named(const char* name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  return event;
}

struct AllReduce {
  std::uint64_t communicator, bytes;
  std::uint32_t op;
};

nvtxDomainHandle_t nccl() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  return domain;
}

void push_all_reduce(std::uint64_t communicator) {
  static const nvtxStringHandle_t name = nvtxDomainRegisterStringA(nccl(), "ncclAllReduce");
  const AllReduce call{communicator, 4096, 0};
  const nvtxPayloadData_t payload{(1u << 24) + 5, sizeof(call), &call};
  nvtxEventAttributes_t event = named(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);
  nvtxDomainRangePushEx(nccl(), &event);
}

void open_recording() {
  push_all_reduce(0x77);
  nvtxDomainRangePop(nccl());
}

void values() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("worker");
  nvtxEventAttributes_t event = named("colored");
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.category = 7;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 2.5;
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.ullValue = ~0ull;
  event.payload.iValue = -3;
  nvtxDomainMarkEx(domain, &event);
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = ~0ull;
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
  nvtxDomainDestroy(domain);
  event = named("after destroy");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangePushA("plain");
  nvtxRangePop();
  nvtxRangePushW(L"gr\u00fc\u00dfe \U0001f600");
  nvtxRangePop();
  nvtxMarkA("mark");
  nvtxRangeEnd(nvtxRangeStartA("start"));
}

void names() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("worker");
  nvtxNameCategoryA(3, "io");
  nvtxDomainNameCategoryW(domain, 7, L"compute");
  for (int i = 0; i < 1000; ++i) nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), "main thread");
  nvtxNameCuDeviceA(1, "second");
  nvtxNameCudaDeviceW(0, L"first");
  nvtxNameCuStreamA(reinterpret_cast<CUstream>(0x1234), "copies");
  nvtxNameCuContextA(reinterpret_cast<CUcontext>(0x2345), "context");
  nvtxNameCudaEventA(reinterpret_cast<cudaEvent_t>(0x3456), "event");
  nvtxResourceAttributes_t resource{};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_CUDART_STREAM;
  resource.identifier.ullValue = 0x4567;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "by resource";
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
}

// Each is a mistake that does nothing without a tool.
void hostile() {
  nvtxRangePushA(nullptr);
  nvtxRangePop();
  for (int i = 0; i < 5; ++i) nvtxRangePop();
  nvtxRangePushEx(nullptr);
  nvtxMarkEx(nullptr);
  nvtxRangePushW(nullptr);
  nvtxNameCategoryA(1, nullptr);
  nvtxNameOsThreadA(1, nullptr);
  nvtxDomainResourceCreate(nullptr, nullptr);
  nvtxDomainDestroy(nullptr);
  nvtxDomainCreateA(nullptr);
  auto* garbage = reinterpret_cast<nvtxDomainHandle_t>(0x1357);
  nvtxEventAttributes_t event = named("garbage domain");
  nvtxDomainRangePushEx(garbage, &event);
  nvtxDomainRangePop(garbage);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = reinterpret_cast<nvtxStringHandle_t>(0x7fff00001357);
  nvtxMarkEx(&event);
  event.messageType = 99;
  nvtxMarkEx(&event);
  event = named("short struct");
  event.size = 8;
  nvtxMarkEx(&event);
  event = named("unknown payload");
  event.payloadType = 1234;
  event.payload.ullValue = 1;
  nvtxMarkEx(&event);
  const std::string longest(100'000, 'x');
  nvtxMarkA(longest.c_str());
  const wchar_t surrogate[] = {0xd800, static_cast<wchar_t>(0x7fffffff), L'a', 0};
  nvtxMarkW(surrogate);
  for (int i = 0; i < 200; ++i) nvtxRangePushA("deep");
  for (int i = 0; i < 200; ++i) nvtxRangePop();
  for (int i = 0; i < 2000; ++i) nvtxDomainCreateA(("domain " + std::to_string(i)).c_str());
  nvtxPayloadData_t broken{(1u << 24) + 5, 24, nullptr};
  event = named("ncclAllReduce");
  event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&broken);
  nvtxDomainRangePushEx(nccl(), &event);
  nvtxDomainRangePop(nccl());
}

// Two pages, the second of which nobody can read.
char* page_at_the_edge() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + page, page, PROT_NONE);
  return pages + page;
}

// Pointers and sizes that lie. Without a tool nobody looks at them.
void lying() {
  char* edge = page_at_the_edge();
  std::memcpy(edge - 8, "no end!!", 8);
  std::memcpy(edge - 12, L"x", 4);
  const auto bad = [](std::uintptr_t at) { return reinterpret_cast<const char*>(at); };
  for (const char* text : {bad(1), bad(0x1000), bad(0xdead'beef'0000), bad(~std::uintptr_t{0}),
                           static_cast<const char*>(edge), const_cast<const char*>(edge - 8)}) {
    const auto* wide = reinterpret_cast<const wchar_t*>(text);
    nvtxRangePushA(text);
    nvtxRangePushW(wide);
    nvtxRangePop();
    nvtxRangePop();
    nvtxMarkA(text);
    nvtxMarkW(wide);
    nvtxRangeEnd(nvtxRangeStartA(text));
    nvtxRangeEnd(nvtxRangeStartW(wide));
    nvtxNameCategoryA(3, text);
    nvtxNameCategoryW(3, wide);
    nvtxNameOsThreadA(3, text);
    nvtxNameCuDeviceA(3, text);
    nvtxDomainCreateA(text);
    nvtxDomainCreateW(wide);
    nvtxDomainRegisterStringA(nullptr, text);
    nvtxDomainRegisterStringW(nullptr, wide);
    nvtxEventAttributes_t event = named(text);
    nvtxMarkEx(&event);
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    nvtxMarkEx(&event);
    nvtxMarkEx(reinterpret_cast<const nvtxEventAttributes_t*>(text));
    nvtxDomainResourceCreate(nullptr, reinterpret_cast<nvtxResourceAttributes_t*>(const_cast<char*>(text)));
    event = named("ncclAllReduce");
    event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
    event.reserved0 = 1;
    event.payload.ullValue = reinterpret_cast<std::uint64_t>(text);
    nvtxDomainRangePushEx(nccl(), &event);
    nvtxDomainRangePop(nccl());
    for (const std::size_t size : {std::size_t{24}, ~std::size_t{0}}) {
      const nvtxPayloadData_t payload{(1u << 24) + 5, size, text};
      event.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);
      nvtxDomainRangePushEx(nccl(), &event);
      const nvtxPayloadData_t init{1u << 24, size, text};
      nvtxRangePopPayload(nccl(), &init, 1);
      nvtxRangePushPayload(nullptr, &init, 1);
      nvtxRangePopPayload(nccl(), reinterpret_cast<const nvtxPayloadData_t*>(text), 1);
      nvtxRangePopPayload(nccl(), &init, ~std::size_t{0});
    }
  }
  nvtxEventAttributes_t newer = named("a newer header");
  newer.version = 0xffff;
  newer.size = 0xffff;
  nvtxMarkEx(&newer);
  const std::string megabyte(1 << 20, 'm');
  nvtxMarkA(megabyte.c_str());
  for (int i = 0; i < 100'000; ++i) nvtxRangePushA("never popped");
}

void distinct(long count) {
  char name[64];
  for (long i = 0; i < count; ++i) {
    snprintf(name, sizeof(name), "step %ld of a training that never ends", i);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

void registered(long count) {
  char name[64];
  nvtxEventAttributes_t event = named(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  for (long i = 0; i < count; ++i) {
    snprintf(name, sizeof(name), "registered %ld", i);
    event.message.registered = nvtxDomainRegisterStringA(nullptr, name);
    nvtxMarkEx(&event);
  }
}

void categories(long count) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("worker");
  for (long i = 0; i < count; ++i) {
    nvtxDomainNameCategoryA(domain, static_cast<std::uint32_t>(i), ("category " + std::to_string(i)).c_str());
  }
}

// 500 threads write one range each and sleep, while one writes `count`.
void sleepers(long count) {
  std::vector<std::thread> threads;
  volatile bool done = false;
  for (int i = 0; i < 500; ++i) {
    threads.emplace_back([&, i] {
      nvtxRangePushA(("sleeper " + std::to_string(i)).c_str());
      while (!done) usleep(20'000);
    });
  }
  usleep(200'000);
  distinct(count);
  done = true;
  for (std::thread& thread : threads) thread.join();
}

long resident_kb() {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%ld %ld", &pages, &resident) != 2) exit(3);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? atol(argv[2]) : 0;
  if (what == "early") {  // before there is a recording
    values();
    names();
    open_recording();
    return 0;
  }
  if (what == "killed in the first call") {
    push_all_reduce(0x99);
    raise(SIGKILL);
  }
  open_recording();
  if (what == "killed") {
    push_all_reduce(0x99);
    raise(SIGKILL);
  }
  if (what == "values") values();
  if (what == "names") names();
  if (what == "hostile") hostile();
  if (what == "lying") lying();
  if (what == "sleepers") sleepers(count);
  if (what == "categories") categories(count);
  if (what == "distinct" || what == "registered") {
    const auto run = what == "distinct" ? distinct : registered;
    run(count / 4);
    const long before = resident_kb();
    run(count - count / 4);
    printf("%ld\n", resident_kb() - before);
  }
  return 0;
}
