// A CUPTI with faults, for TRACETOOL_CUPTI: it stands before the stand-in's libcupti, on which it depends, so that
// every function that is not here is found there. The faults come from the environment:
//
//   ODD_FAIL="NAME=CODE ..."   these functions answer with the code
//   ODD_REFUSE=KIND            this kind cannot be enabled, nor can its API functions one by one
//   ODD_FLUSH_MS=N ODD_FLUSH_FROM=M   cuptiActivityFlushAll takes N ms longer, from its Mth call on
//   ODD_DEAF=CBID              this driver function seems to be enabled, and is not
//   ODD_STOP=CODE ODD_STOP_AFTER=N  of each buffer N records can be read, then the iterator answers with the code
//   ODD_RECORDS=1              changes records as odd_cupti.h says
//   ODD_LOG=FILE               one line for each kind that was asked for: its number
//   ODD_CALLBACKS=FILE         one line for each domain of callbacks of which any was asked for: its number
#include "odd_cupti.h"

#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using programs::Oddity;

constexpr auto kUnknownKind = static_cast<CUpti_ActivityKind>(250);

std::uint64_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

// The library behind this one.
void* behind() {
  static void* const library = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&cuptiGetResultString), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return library;
}

template <typename Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(behind(), name));
}
#define REAL(name) real(&name, #name)

CUptiResult planned(const char* name) {
  const char* plan = std::getenv("ODD_FAIL");
  const char* found = plan != nullptr ? std::strstr(plan, name) : nullptr;
  if (found == nullptr || found[std::strlen(name)] != '=') return CUPTI_SUCCESS;
  return static_cast<CUptiResult>(std::atoi(found + std::strlen(name) + 1));
}

void note(const char* variable, int number) {
  const char* path = std::getenv(variable);
  const int file = path != nullptr ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  dprintf(file, "%d\n", number);
  close(file);
}

void note(CUpti_ActivityKind kind) { note("ODD_LOG", static_cast<int>(kind)); }

CUptiResult refused(CUpti_ActivityKind kind) {
  return number_of("ODD_REFUSE") == static_cast<std::uint64_t>(kind) ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

// The record that was handed out last, if its kind was changed: the real library must find it as it was.
thread_local CUpti_Activity* t_changed = nullptr;
thread_local CUpti_ActivityKind t_kind = CUPTI_ACTIVITY_KIND_INVALID;

void change_kind(CUpti_Activity* record, CUpti_ActivityKind kind) {
  t_changed = record;
  t_kind = record->kind;
  record->kind = kind;
}

void change(CUpti_Activity* record) {
  if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->kind != CUPTI_ACTIVITY_KIND_KERNEL) return;
  auto& kernel = *reinterpret_cast<CUpti_ActivityKernel5*>(record);
  switch (static_cast<Oddity>(kernel.gridZ)) {
    case Oddity::none:
      return;
    case Oddity::almost_wide:
      kernel.end = kernel.start + 0xffff'ffffu;
      return;
    case Oddity::wide:
      kernel.end = kernel.start + 0x1'0000'0000u;
      return;
    case Oddity::ends_before_start:
      kernel.end = kernel.start - 1'000;
      return;
    case Oddity::no_end:
      kernel.end = 0;
      return;
    case Oddity::no_times:
      kernel.start = kernel.end = 0;
      return;
    case Oddity::unknown_kind:
      return change_kind(record, kUnknownKind);
    case Oddity::external_correlation:
      return change_kind(record, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  }
}

}  // namespace

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  const CUptiResult result = planned("cuptiGetVersion");
  return result != CUPTI_SUCCESS ? result : REAL(cuptiGetVersion)(version);
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user) {
  const CUptiResult result = planned("cuptiSubscribe");
  return result != CUPTI_SUCCESS ? result : REAL(cuptiSubscribe)(handle, callback, user);
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  note("ODD_CALLBACKS", static_cast<int>(domain));
  const CUptiResult result = planned("cuptiEnableCallback");
  return result != CUPTI_SUCCESS ? result : REAL(cuptiEnableCallback)(enable, handle, domain, id);
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain) {
  note("ODD_CALLBACKS", static_cast<int>(domain));
  return REAL(cuptiEnableDomain)(enable, handle, domain);
}

CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle handle) {
  note("ODD_CALLBACKS", CUPTI_CB_DOMAIN_RUNTIME_API);
  return REAL(cuptiEnableAllDomains)(enable, handle);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  const CUptiResult result = planned("cuptiActivityRegisterCallbacks");
  return result != CUPTI_SUCCESS ? result : REAL(cuptiActivityRegisterCallbacks)(request, completed);
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  const CUptiResult result = planned("cuptiActivitySetAttribute");
  return result != CUPTI_SUCCESS ? result : REAL(cuptiActivitySetAttribute)(id, size, value);
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  note(kind);
  if (const CUptiResult result = planned("cuptiActivityEnable"); result != CUPTI_SUCCESS) return result;
  return refused(kind) != CUPTI_SUCCESS ? refused(kind) : REAL(cuptiActivityEnable)(kind);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  note(kind);
  if (const CUptiResult result = planned("cuptiActivityEnable"); result != CUPTI_SUCCESS) return result;
  return refused(kind) != CUPTI_SUCCESS ? refused(kind) : REAL(cuptiActivityEnableAndDump)(kind);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  note(CUPTI_ACTIVITY_KIND_DRIVER);
  if (number_of("ODD_DEAF") == id) return CUPTI_SUCCESS;
  if (const CUptiResult result = planned("cuptiActivityEnableDriverApi"); result != CUPTI_SUCCESS) return result;
  const CUptiResult result = refused(CUPTI_ACTIVITY_KIND_DRIVER);
  return result != CUPTI_SUCCESS ? result : REAL(cuptiActivityEnableDriverApi)(id, enable);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  note(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (const CUptiResult result = planned("cuptiActivityEnableRuntimeApi"); result != CUPTI_SUCCESS) return result;
  const CUptiResult result = refused(CUPTI_ACTIVITY_KIND_RUNTIME);
  return result != CUPTI_SUCCESS ? result : REAL(cuptiActivityEnableRuntimeApi)(id, enable);
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  static std::atomic<std::uint64_t> s_calls{0};
  const CUptiResult result = REAL(cuptiActivityFlushAll)(flag);
  const std::uint64_t ms = number_of("ODD_FLUSH_MS");
  if (ms != 0 && ++s_calls >= number_of("ODD_FLUSH_FROM")) {
    const timespec time{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
    nanosleep(&time, nullptr);
  }
  return result;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  static const bool s_odd = number_of("ODD_RECORDS") != 0;
  if (*record != nullptr && *record == t_changed) (*record)->kind = t_kind;
  t_changed = nullptr;
  thread_local std::uint64_t t_read = 0;
  if (*record == nullptr) t_read = 0;
  if (number_of("ODD_STOP") != 0 && t_read++ == number_of("ODD_STOP_AFTER"))
    return static_cast<CUptiResult>(number_of("ODD_STOP"));
  const CUptiResult result = REAL(cuptiActivityGetNextRecord)(buffer, valid, record);
  if (s_odd && result == CUPTI_SUCCESS) change(*record);
  return result;
}

// Functions of version 2, which older headers lack: names of their own, and CUPTI's for the linker.
#define ODD_CALLED(name) __asm__(name) __attribute__((visibility("default")))

template <typename... Arguments>
CUptiResult pass_on(const char* name, Arguments... arguments) {
  if (const CUptiResult result = planned(name); result != CUPTI_SUCCESS) return result;
  return reinterpret_cast<CUptiResult (*)(Arguments...)>(dlsym(behind(), name))(arguments...);
}

CUptiResult subscribe_2(void* handle, void* callback, void* user, void* params) ODD_CALLED("cuptiSubscribe_v2");
CUptiResult subscribe_2(void* handle, void* callback, void* user, void* params) {
  return pass_on("cuptiSubscribe_v2", handle, callback, user, params);
}

CUptiResult timestamp_2(void* handle, void* time) ODD_CALLED("cuptiGetTimestamp_v2");
CUptiResult timestamp_2(void* handle, void* time) { return pass_on("cuptiGetTimestamp_v2", handle, time); }

CUptiResult set_attribute_2(void* handle, CUpti_ActivityAttribute id, void* size, void* value)
    ODD_CALLED("cuptiActivitySetAttribute_v2");
CUptiResult set_attribute_2(void* handle, CUpti_ActivityAttribute id, void* size, void* value) {
  return pass_on("cuptiActivitySetAttribute_v2", handle, id, size, value);
}

CUptiResult register_2(void* handle, void* request, void* completed) ODD_CALLED("cuptiActivityRegisterCallbacks_v2");
CUptiResult register_2(void* handle, void* request, void* completed) {
  return pass_on("cuptiActivityRegisterCallbacks_v2", handle, request, completed);
}
