#!/usr/bin/env bash
# The tests of .ci/run, many times, while "stress" keeps every core busy: a test that fails here waits for a time and not
# for a fact. Usage: scripts/test/under-stress.sh [runs, 10] [command that tests, instead of those of .ci/run]
# Prints what failed, how often, and with which seeds; the whole output of each run stays in the folder it names.
set -uo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-10}
shift || true
command -v stress >/dev/null || { echo 'Install "stress" first (apt-get install stress).' >&2; exit 1; }
logs=$(mktemp -d "${TMPDIR:-/tmp}/offerdeck-under-stress.XXXXXX")
stress --cpu "$(nproc)" >/dev/null &
stress_pid=$!
trap 'kill "$stress_pid"' EXIT

run_tests() {
  if [ $# -gt 0 ]; then "$@"; else npm test -- --looks && npm run test:all -- --short; fi
}

failed=0
for ((run = 1; run <= runs; run++)); do
  started=$SECONDS
  if run_tests "$@" >"$logs/$run.log" 2>&1; then result=passed; else result=FAILED failed=$((failed + 1)); fi
  echo "run $run of $runs: $result after $((SECONDS - started)) s"
done
echo
echo "$failed of $runs runs failed; their output is in $logs"
[ "$failed" -eq 0 ] && exit
echo 'How often each failed:'
grep -h '^✖ .*: ' "$logs"/*.log | sort | uniq -c | sort -rn
echo 'Seeds:'
grep -H -o 'seed: -\?[0-9]*.*' "$logs"/*.log | cut -c1-300
exit 1
