// The private talk between the two stand-ins, as the real driver and CUPTI have one. libcupti attaches itself, once,
// when its first function is called and libcuda.so.1 is in the process; libcuda never loads libcupti.
#pragma once
#include "events.h"

namespace sim {

// CUPTI's side. All functions may be called from any thread and hold none of CUPTI's locks while client code runs.
struct Bridge {
  // A moment of the true clock as CUPTI tells it.
  std::uint64_t (*to_cupti)(std::uint64_t true_ns);
  // The times of ended work as CUPTI tells them: wrong where the library is set to that.
  void (*tell_times)(DeviceEvent&);
  // In the launching thread: takes a place in a buffer (this may request one) and sets fate and slot.
  void (*reserve_device)(DeviceEvent&);
  // The work ended and the truth is written: fills the place. Also where fate is not emitted.
  void (*finish_device)(const DeviceEvent&);
  // CUPTI_API_ENTER callbacks.
  void (*enter_call)(CallEvent&);
  // CUPTI_API_EXIT callbacks; sets fate.
  void (*exit_call)(CallEvent&);
  // The truth is written: the record goes into a buffer.
  void (*finish_call)(const CallEvent&);
  // Sets times and fate; the truth is written between the two.
  void (*admit_note)(Note&);
  void (*finish_note)(const Note&);
  // CUPTI_CB_DOMAIN_RESOURCE callbacks of graphs.
  void (*graph)(std::uint32_t cbid, void* context, const GraphEvent&);
  // An error that sticks: CUPTI says so and ends itself.
  void (*fatal)();
  // CUPTI_CB_DOMAIN_RESOURCE callbacks; `stream` may be null.
  void (*resource)(std::uint32_t cbid, void* context, void* stream);
  // CUPTI_CB_DOMAIN_SYNCHRONIZE callbacks.
  void (*synchronized)(std::uint32_t cbid, void* context, void* stream);
  // The driver is being torn down, because the process leaves: nobody may call CUPTI from here on.
  void (*torn_down)();
  // Delivers the records of SIM_CUPTI_REPLAY; false if that is not possible.
  bool (*replay)();
};

// The driver's side.
struct Driver {
  void (*truth)(const char* line, std::size_t size);  // without the newline
  void (*flush_truth)();                              // what was said is in the file when it returns
  bool (*context_ids)(void* context, std::uint32_t& context_id, std::uint32_t& device);  // null: the current one
  bool (*stream_id)(void* stream, std::uint32_t& id);
  bool (*graph_id)(void* graph, std::uint32_t& id);
  bool (*graph_exec_id)(void* exec, std::uint32_t& id);
  bool (*graph_node_id)(void* node, std::uint64_t& id);
  const DeviceFacts* (*device_facts)(std::uint32_t device);  // null: no such device
  // What exists now, for cuptiActivityEnableAndDump: notes of one kind (device, context, stream), one after the other.
  void (*each)(NoteKind kind, void (*take)(Note&));
  void (*truth_of)(const Note&);
  std::uint64_t (*next_seq)();
};

}  // namespace sim

// Exported by libcuda.so.1.
extern "C" const sim::Driver* simulated_driver_attach(const sim::Bridge* bridge);
