#pragma once
// The process that owns the CUDA context: `tilec __worker`.

namespace tilec::tuner {
/// Answers requests (protocol.h) from one descriptor on the other until the first is closed; the exit code.
int workerMain(int in, int out);
} // namespace tilec::tuner
