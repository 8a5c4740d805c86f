// SPDX-License-Identifier: Apache-2.0
//
// A step of a network for tables as one CUDA graph.
#pragma once

#include "dfcl/nn/cuda/card_memory.h"
#include "dfcl/nn/cuda/table_job.h"

namespace dfcl::nn::cuda {

// Made anew where the step's job changes.
class StepGraph {
 public:
  StepGraph() = default;
  ~StepGraph() { clear(); }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // `record` starts the step's kernels on the stream.
  template <class Record>
  void set(const TableJob& job, cudaStream_t stream, Record&& record) {
    if (made_ != nullptr && job == job_) return;
    clear();
    // Other threads may use the card meanwhile.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a step");
    cudaGraph_t graph = nullptr;
    try {
      record();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "recording a step");
    const cudaError_t status = cudaGraphInstantiate(&made_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "making a graph");
    job_ = job;
  }
  bool is_set() const { return made_ != nullptr; }
  const TableJob& job() const { return job_; }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(made_, stream), "starting a step"); }

 private:
  void clear() {
    if (made_ != nullptr) cudaGraphExecDestroy(made_);
    made_ = nullptr;
  }
  cudaGraphExec_t made_ = nullptr;
  TableJob job_{};
};

}  // namespace dfcl::nn::cuda
