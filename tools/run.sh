#!/usr/bin/env bash
# Runs one node on its embedded defaults with the first example pipeline and
# prints the rows that leave it, until Ctrl-C. Everything it started ends with it.
set -euo pipefail
cd "$(dirname "$0")/.."
# Until the node has written its password, the client would ask for one on a
# terminal, and wait there.
exec </dev/null

data=plexus-data
created=0
[[ -e $data ]] || created=1
log=$(mktemp)
pids=()

finish() {
	trap - EXIT INT TERM
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
	done
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		wait "${pids[i]}" 2>/dev/null || true
	done
	rm -f "$log"
	if ((created)); then
		rm -rf "$data"
		echo "stopped; the data directory this run made is removed"
	else
		echo "stopped; $data is kept as it was here before"
	fi
}
trap 'finish; exit "${status:-0}"' EXIT
trap 'exit 0' INT TERM

bin/plexusd --data-dir "$data" >"$log" 2>&1 &
node=$!
pids+=("$node")
for ((tries = 0; ; tries++)); do
	if ! kill -0 "$node" 2>/dev/null; then
		echo "the node did not start:"
		cat "$log"
		status=1
		exit 1
	fi
	if bin/plexus exec 'SHOW CLUSTER STATUS' >/dev/null 2>&1; then
		break
	fi
	if ((tries == 150)); then
		echo "the node is not ready after 30 s:"
		cat "$log"
		status=1
		exit 1
	fi
	sleep 0.2
done
cat "$log"

# A data directory from an earlier run holds the pipeline, and its domain runs.
if ! bin/plexus --domain demo exec 'DESCRIBE DOMAIN' >/dev/null 2>&1; then
	bin/plexus exec -f examples/first-pipeline.nspl
fi
cat <<'TEXT'

The node runs. Random readings flow through a junction that filters and maps them;
these are the rows that leave it. In a second terminal, in this directory:

  bin/plexus --domain demo subscribe mine posted
  curl -d '{"author":"me","message":"hello"}' http://127.0.0.1:8080/notes
  bin/plexus --domain demo exec 'DESCRIBE INGESTOR generator'

Ctrl-C ends everything.

TEXT
bin/plexus --domain demo subscribe rows alerts &
pids+=("$!")
# The first of the two that ends ends the run.
wait -n "${pids[@]}" || status=$?
if kill -0 "$node" 2>/dev/null; then
	echo "the subscription ended"
else
	echo "the node ended:"
	tail -n 20 "$log"
fi
