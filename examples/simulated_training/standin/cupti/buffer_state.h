// The buffers' insides, shared by buffers.cpp (places) and deliver.cpp (handing over).
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exports.h"

namespace sim {

struct Buffer;
struct Client;

struct RequestInfo;    // CUpti_BufferCallbackRequestInfo: size_t structSize
struct CompletedInfo;  // CUpti_BufferCallbackCompleteInfo, the same and more
using OnRequest2 = void (*)(std::uint8_t**, std::size_t*, std::size_t*, RequestInfo*);
using OnCompleted2 = void (*)(std::uint8_t*, std::size_t, std::size_t, CompletedInfo*);

// An event has one for each client that asked for it.
struct Slot {
  Buffer* buffer;  // null: a forced flush took the record as it was
  std::size_t offset;
  std::size_t index;  // in Buffer::pending
  std::uint64_t seq;
  Client* client;
  Slot* next;  // of the same event
};

struct Buffer {
  std::uint8_t* memory = nullptr;
  std::size_t size = 0, used = 0, records = 0, max_records = 0;
  std::size_t others = 0;  // records other than of overhead
  bool full = false;
  std::vector<Slot*> pending;                                 // records that have not ended
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seqs;  // ranges, first and last, in order of their places
  std::vector<std::uint64_t> unfinished;                      // what a forced flush took before its end
};

// Of one client. All but the atomics is guarded by `mutex`, which is never held while a client's function runs.
struct BufferState {
  std::atomic<CUpti_BuffersCallbackRequestFunc> request{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> completed{nullptr};
  std::atomic<OnRequest2> request_2{nullptr};  // of version 2
  std::atomic<OnCompleted2> completed_2{nullptr};
  std::atomic<bool> per_thread{SIM_BUFFER_PER_THREAD}, zeroed_by_client{false};

  std::mutex mutex;
  std::mutex request_mutex;  // taken before `mutex`: one request at a time where threads share a buffer
  std::condition_variable worker_wake, delivered;
  std::map<std::uint32_t, std::unique_ptr<Buffer>> open;  // by thread; key 0: shared
  std::vector<std::unique_ptr<Buffer>> closed;
  std::vector<const Buffer*> owned;
  std::size_t delivering = 0;  // hand-overs in progress on the worker
  std::size_t dropped = 0;
  std::uint64_t admitted = 0;
  bool worker_runs = false;
};

// Starts the client's worker thread at its first call.
void start_worker(Client& client);

}  // namespace sim
