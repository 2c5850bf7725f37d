#include "compiler/driver/isolate.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilec::driver {

std::string ChildFailure::text() const {
  switch (kind) {
  case Kind::Signal:
    return fmt::format("was killed by signal {} ({})", code, strsignal(code));
  case Kind::Exit:
    return fmt::format("ended with status {} before it had finished", code);
  case Kind::Timeout:
    return fmt::format("did not finish in {} s", code);
  case Kind::System:
    return fmt::format("could not be started: {}", strerror(code));
  }
  return "failed";
}

bool ChildFailure::isTransient() const { return kind == Kind::System || (kind == Kind::Signal && code == SIGKILL); }

namespace {

/// Between the making of a child's pipes and the closing of its ends here, no other child may be forked: it would keep
/// them open, and the first child's death would go unseen for as long as the other lives.
std::mutex forking;

struct Pipe {
  int fds[2] = {-1, -1};
  bool open() { return pipe2(fds, O_CLOEXEC) == 0; }
  void close(int end) {
    if (fds[end] >= 0)
      ::close(fds[end]);
    fds[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

bool writeAll(int fd, const std::string &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += size_t(n);
  }
  return true;
}

/// An answer ends with this, so that a child that dies while writing is not taken at its word.
constexpr char endMark = 'E';

[[noreturn]] void childMain(const std::function<std::string()> &work, Pipe &answer, Pipe &log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  int null = ::open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  dup2(log.fds[1], 2);
  // A crash below must end this child by its signal, whatever handlers the tool has installed.
  for (int s : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGINT, SIGTERM})
    signal(s, SIG_DFL);
  std::string bytes = work();
  bytes.push_back(endMark);
  bool ok = writeAll(answer.fds[1], bytes);
  // _exit: the parent's atexit handlers and stdio buffers are not this child's.
  _exit(ok ? 0 : 1);
}

} // namespace

std::expected<std::string, ChildFailure> runIsolated(const std::function<std::string()> &work, double timeoutSeconds) {
  using Kind = ChildFailure::Kind;
  Pipe answer, log;
  pid_t child;
  {
    std::lock_guard lock(forking);
    if (!answer.open() || !log.open())
      return std::unexpected(ChildFailure{Kind::System, errno, ""});
    fflush(nullptr);
    pid_t parent = getpid();
    child = fork();
    if (child < 0)
      return std::unexpected(ChildFailure{Kind::System, errno, ""});
    if (child == 0)
      childMain(work, answer, log, parent);
    answer.close(1);
    log.close(1);
  }

  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration<double>(timeoutSeconds);
  std::string bytes, output;
  pollfd polls[2] = {{answer.fds[0], POLLIN, 0}, {log.fds[0], POLLIN, 0}};
  std::string *sinks[2] = {&bytes, &output};
  bool timedOut = false, lost = false;
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    int wait = -1;
    if (timeoutSeconds > 0) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        timedOut = true;
        break;
      }
      wait = int(std::min<long>(left, 60'000)) + 1;
    }
    if (poll(polls, 2, wait) < 0) {
      if (errno == EINTR)
        continue; // what the call left in `polls` is not to be read
      lost = true;
      break;
    }
    for (int i = 0; i < 2; ++i) {
      if (polls[i].fd < 0 || !polls[i].revents)
        continue;
      char buffer[65536];
      ssize_t n = ::read(polls[i].fd, buffer, sizeof buffer);
      if (n > 0)
        sinks[i]->append(buffer, size_t(n));
      else if (n == 0 || errno != EINTR)
        polls[i].fd = -1;
    }
    if (output.size() > (1 << 16))
      output.erase(0, output.size() - (1 << 14));
  }
  // A child that nobody listens to any more might wait for a reader for ever.
  if (timedOut || lost)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (output.size() > (1 << 14))
    output.erase(0, output.size() - (1 << 14));
  if (timedOut)
    return std::unexpected(ChildFailure{Kind::Timeout, int(timeoutSeconds), output});
  if (WIFSIGNALED(status))
    return std::unexpected(ChildFailure{Kind::Signal, WTERMSIG(status), output});
  if (WEXITSTATUS(status) != 0 || bytes.empty() || bytes.back() != endMark)
    return std::unexpected(ChildFailure{Kind::Exit, WEXITSTATUS(status), output});
  bytes.pop_back();
  return bytes;
}

} // namespace tilec::driver
