#!/usr/bin/env bash
# Runs the GPU tests with a tool that is carried compressed: run_all.sh TILEC[.xz] [TEST…]
set -u
cd "$(dirname "$0")/../.."
tool=$1; shift
case "$tool" in *.xz) xz -dkc "$tool" >/tmp/tilec && chmod +x /tmp/tilec && tool=/tmp/tilec ;; esac
"$tool" info
status=0
for t in "${@:-}"; do
  for script in tests/gpu/test_*$t*.py; do
    echo "== $script"; python3 "$script" "$tool" || status=1
  done
done
exit $status
