#include "tuner/process.h"
#include "compiler/base/text.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace tilec::tuner {

Result<Process> Process::spawn(const std::string &path, const std::vector<std::string> &arguments) {
  Process p;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return internalError("cannot make a socket: {}", std::strerror(errno));
  p.socket = ends[0];
  // Standard error goes to memory: it is read only when the child fails.
  p.errors = memfd_create("tilec-worker-errors", MFD_CLOEXEC);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (p.errors >= 0)
    posix_spawn_file_actions_adddup2(&actions, p.errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int code = posix_spawn(&p.pid, path.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (code != 0) {
    p.pid = -1;
    return internalError("cannot start {}: {}", path, std::strerror(code));
  }
  return p;
}

Process &Process::operator=(Process &&other) noexcept {
  std::swap(pid, other.pid);
  std::swap(socket, other.socket);
  std::swap(errors, other.errors);
  std::swap(pending, other.pending);
  return *this;
}

Process::~Process() {
  if (pid > 0)
    finish();
  if (socket >= 0)
    close(socket);
  if (errors >= 0)
    close(errors);
}

bool Process::send(std::string_view line) {
  std::string text = std::string(line) + "\n";
  for (size_t sent = 0; sent < text.size();) {
    // No SIGPIPE: a child that died is an answer, not the end of this process.
    ssize_t n = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    sent += size_t(n);
  }
  return true;
}

Process::Answer Process::receive(std::string &line, double timeoutSeconds) {
  using Clock = std::chrono::steady_clock;
  auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeoutSeconds));
  for (;;) {
    if (size_t end = pending.find('\n'); end != std::string::npos) {
      line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return Answer::Line;
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return Answer::TimedOut;
    pollfd waiting{socket, POLLIN, 0};
    int ready = poll(&waiting, 1, int(std::min<long>(left, 1000)));
    if (ready <= 0)
      continue;
    char buffer[65536];
    ssize_t n = read(socket, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return Answer::Closed;
    pending.append(buffer, size_t(n));
  }
}

std::string Process::finish() {
  if (pid <= 0)
    return "was not running";
  // A child that closed its end is given a moment to say how it ended.
  int status = 0;
  pid_t done = 0;
  for (int i = 0; i < 20 && (done = waitpid(pid, &status, WNOHANG)) == 0; ++i)
    usleep(5000);
  kill(-pid, SIGKILL);
  bool killedHere = done == 0;
  while (done == 0 && (done = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
    done = 0;
  pid = -1;
  std::string text = killedHere ? "was killed"
                     : WIFSIGNALED(status)
                         ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                         : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  if (errors < 0)
    return text;
  off_t size = lseek(errors, 0, SEEK_END);
  std::string tail(size_t(std::min<off_t>(size, 2000)), '\0');
  if (pread(errors, tail.data(), tail.size(), size - off_t(tail.size())) == ssize_t(tail.size()))
    if (std::string_view words = trim(tail); !words.empty())
      text += ": " + validUtf8(words);
  return text;
}

} // namespace tilec::tuner
