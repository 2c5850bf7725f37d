#pragma once
// A child process spoken to in lines. It has a process group of its own, so that Ctrl-C at the terminal is the parent's
// affair, and it dies with its parent.
#include "compiler/base/result.h"
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tilec::tuner {

class Process {
public:
  /// Starts `path arguments…` with one socket as its standard input and output. Error: Internal.
  static Result<Process> spawn(const std::string &path, const std::vector<std::string> &arguments);
  Process(Process &&other) noexcept { *this = std::move(other); }
  Process &operator=(Process &&other) noexcept;
  /// Kills the whole group.
  ~Process();

  /// False: the child is gone.
  bool send(std::string_view line);
  enum class Answer { Line, Closed, TimedOut };
  /// Waits for one line; without its line end.
  Answer receive(std::string &line, double timeoutSeconds);
  /// Kills the group, waits, and says how the child ended: `was killed by signal 11 (Segmentation fault)`, with the
  /// last lines of its standard error.
  std::string finish();
  pid_t id() const { return pid; }

private:
  Process() = default;
  pid_t pid = -1;
  int socket = -1, errors = -1;
  std::string pending;
};

} // namespace tilec::tuner
