// Capturing.
#include "graph.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "graph_objects.h"
#include "line.h"
#include "truth.h"

namespace sim {
namespace {

// Guards Stream::capture, Event::capture and the captures; never held while a client's callback runs.
std::mutex s_mutex;

void write_truth_of_node(const GraphNode& node) {
  Line line("graph_node");
  line.number("seq", next_seq()).number("tid", syscall(SYS_gettid)).number("graph", node.graph->id);
  line.number("node", node.id).number("captured_node", node.original != nullptr ? node.original->id : 0);
  write_truth(line.close());
}

std::size_t branch_of(const Capture& capture, const Stream& stream) {
  const auto found = std::find(capture.streams.begin(), capture.streams.end(), &stream);
  return static_cast<std::size_t>(found - capture.streams.begin());
}

void join(const std::shared_ptr<Capture>& capture, Stream& stream) {
  stream.capture = capture;
  capture->streams.push_back(&stream);
  capture->last.push_back(nullptr);
  capture->graph->branches = capture->streams.size();
}

CUresult begin(Stream* stream) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream == stream->context->default_stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  GraphEvent event{};
  {
    const std::lock_guard lock(s_mutex);
    if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    const auto capture = std::make_shared<Capture>(Capture{make_graph(), stream, {}, {}});
    join(capture, *stream);
    event.graph = capture->graph;
  }
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CREATED, event);
  return CUDA_SUCCESS;
}

CUresult end(Stream* stream, CUgraph* graph) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(s_mutex);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr || capture->origin != stream) return CUDA_ERROR_ILLEGAL_STATE;
  capture->ended = true;
  for (Stream* each : capture->streams) each->capture = nullptr;
  *graph = reinterpret_cast<CUgraph>(capture->graph);
  return CUDA_SUCCESS;
}

GraphEvent describe(GraphNode& node) {
  GraphEvent event{};
  event.graph = node.graph;
  event.node = &node;
  event.dependency = node.dependency;
  event.node_type = node.type;
  return event;
}

}  // namespace

bool is_capturing(const Stream& stream) {
  const std::lock_guard lock(s_mutex);
  return stream.capture != nullptr;
}

bool capture_work(Stream& stream, const Op& op) {
  std::unique_lock lock(s_mutex);
  if (stream.capture == nullptr) return false;
  Capture& capture = *stream.capture;
  const std::size_t branch = branch_of(capture, stream);
  GraphNode* node = add_node(*capture.graph, op, nullptr, capture.last[branch]);
  capture.last[branch] = node;
  capture.graph->steps.push_back({OpKind::work, branch, 0, node});
  lock.unlock();
  write_truth_of_node(*node);
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, describe(*node));
  return true;
}

bool capture_record(Stream& stream, Event& event) {
  const std::lock_guard lock(s_mutex);
  event.capture.reset();
  if (stream.capture == nullptr) return false;
  Capture& capture = *stream.capture;
  event.capture = stream.capture;
  event.captured_mark = capture.graph->marks++;
  capture.graph->steps.push_back({OpKind::record, branch_of(capture, stream), event.captured_mark, nullptr});
  return true;
}

bool capture_wait(Stream& stream, Event& event) {
  const std::lock_guard lock(s_mutex);
  const std::shared_ptr<Capture> of_event = event.capture.lock();
  const bool joins = of_event != nullptr && !of_event->ended;
  if (!joins) return stream.capture != nullptr;  // done before the capture: no dependency
  if (stream.capture == nullptr) join(of_event, stream);
  of_event->graph->steps.push_back({OpKind::wait, branch_of(*of_event, stream), event.captured_mark, nullptr});
  return true;
}

void tell_clone(GraphNode& node) {
  write_truth_of_node(node);
  GraphEvent event = describe(node);
  event.original_graph = node.original->graph;
  event.original_node = node.original;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, event);
}

}  // namespace sim

using namespace sim;

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  SIM_DRIVER_CALL(cuStreamBeginCapture_v2);
  return call.end(begin(find_stream(stream)));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  SIM_DRIVER_CALL(cuStreamEndCapture);
  return call.end(end(find_stream(stream), graph));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  SIM_DRIVER_CALL(cuStreamIsCapturing);
  const Stream* found = find_stream(stream);
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  *status = is_capturing(*found) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return call.end(CUDA_SUCCESS);
}
