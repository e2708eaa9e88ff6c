// Activity buffers. The client's memory is owned by CUPTI from its request until its completed callback. A record takes
// its place in the launching thread, so records of different streams stand in launch order, not in time order, and is
// filled when its work ends. Full buffers whose records have all ended are completed by a worker thread; partial ones
// only by cuptiActivityFlushAll: without force when all records have ended, with force in any case, unfinished records
// with end = 0.
// So a buffer that holds one unfinished record goes on filling, and cuptiActivityFlushAll(0) returns nothing of it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "state.h"

namespace sim {

// Whether the client's next record is emitted or dropped.
Fate admit(Client& client);
// A drop counts for the client once the truth has it: a process that ends in between tells neither.
void count_if_dropped(Client& client, Fate fate);
// A place for an admitted record of device work; adds its slot. May call the client's request callback.
void reserve(Client& client, CUpti_ActivityKind kind, DeviceEvent& event);
// The work ended. Nothing where there is no slot.
void finish(const DeviceEvent& event);
// An admitted API record, whole. May call the client's request callback.
void append(Client& client, CUpti_ActivityKind kind, const CallEvent& event);

// The same for what is told at once, and for what this library itself has to tell one client: admitted, its truth where it
// is the client that the truth is about, its record.
void append(Client& client, const Note& note);
void emit_to(Client& client, Note& note);

// Of all clients: there is no way to ask for one.
void flush_all(bool forced);
// Nothing more goes into or comes out of a client's buffers, which are its own again. What was in them is gone.
void abandon_buffers(Client& client);
// For an error that sticks: nothing more goes in or comes out.
void close_buffers();
bool callbacks_registered(const Client& client);
void reset_attributes(Client& client);

// Ends the process with one line that names the rule that the client broke.
[[noreturn]] void break_off(const char* rule);

}  // namespace sim
