#include "compiler/base/result.h"

namespace tilec {

int exitCode(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Program:
    return 1;
  case ErrorKind::Usage:
    return 2;
  case ErrorKind::NoDevice:
    return 3;
  case ErrorKind::Internal:
    return 101;
  }
  return 101;
}

} // namespace tilec
