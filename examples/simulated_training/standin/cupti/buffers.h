// Activity buffers. The client's memory is owned by CUPTI from its request until its completed callback. A record takes
// its place in the launching thread, so records of different streams stand in launch order, not in time order, and is
// filled when its work ends. Full buffers whose records have all ended are completed by a worker thread; partial ones
// only by cuptiActivityFlushAll: without force when all records have ended, with force in any case, unfinished records
// with end = 0.
// So a buffer that holds one unfinished record goes on filling, and cuptiActivityFlushAll(0) returns nothing of it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "exports.h"

namespace sim {

// Whether the next record is emitted or dropped.
Fate admit();
// A drop counts for the client once the truth has it: a process that ends in between tells neither.
void count_if_dropped(Fate fate);
// A place for an admitted record of device work; sets its slot. May call the client's request callback.
void reserve(CUpti_ActivityKind kind, DeviceEvent& event);
// The work ended. Nothing where there is no slot.
void finish(const DeviceEvent& event);
// An admitted API record, whole. May call the client's request callback.
void append(CUpti_ActivityKind kind, const CallEvent& event);

// The same for what is told at once, and for what this library itself has to tell: admitted, its truth, its record.
void append(const Note& note);
void emit(Note& note);

void flush_all(bool forced);
// For an error that sticks: nothing more goes in or comes out.
void close_buffers();
std::size_t take_dropped();
bool callbacks_registered();

void set_per_thread_buffers(bool per_thread);
bool per_thread_buffers();
void set_zeroed_by_client(bool zeroed);
bool zeroed_by_client();

// Ends the process with one line that names the rule that the client broke.
[[noreturn]] void break_off(const char* rule);

}  // namespace sim
