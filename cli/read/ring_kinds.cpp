#include "cli/read/ring_kinds.h"

#include "common/record.h"

namespace cli {

Kind event_kind(std::uint8_t record_kind) {
  switch (static_cast<trace::RecordKind>(record_kind)) {
    case trace::RecordKind::kernel:
    case trace::RecordKind::kernel_wide:
      return Kind::kernel;
    case trace::RecordKind::memcpy:
    case trace::RecordKind::memcpy_peer:
      return Kind::memcpy;
    case trace::RecordKind::memset:
      return Kind::memset;
    case trace::RecordKind::graph_launch:
      return Kind::graph;
    case trace::RecordKind::runtime:
    case trace::RecordKind::runtime_wide:
      return Kind::runtime;
    case trace::RecordKind::driver:
    case trace::RecordKind::driver_wide:
      return Kind::driver;
    case trace::RecordKind::sync:
      return Kind::sync;
    case trace::RecordKind::overhead:
      return Kind::overhead;
    case trace::RecordKind::memory:
    case trace::RecordKind::memory_pool:
      return Kind::memory;
    case trace::RecordKind::nvtx_push:
    case trace::RecordKind::nvtx_start:
    case trace::RecordKind::nvtx_mark:
      return Kind::nvtx;
    case trace::RecordKind::nccl_call:
      return Kind::nccl;
    case trace::RecordKind::notice:
      return Kind::notice;
    default:
      return Kind::count_;
  }
}

}  // namespace cli
