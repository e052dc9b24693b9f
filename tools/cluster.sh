#!/usr/bin/env bash
# Runs a cluster of three nodes on loopback with the first example pipeline, shows
# who does what and the rows that leave it, until Ctrl-C. Everything it started
# ends with it.
#
#   tools/cluster.sh [directory]    keeps the data directories in it; without one
#                                   they are temporary
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

nodes=3
if (($# > 0)); then
	base=$1
	mkdir -p "$base"
	temporary=0
else
	base=$(mktemp -d)
	temporary=1
fi
password=$base/password
[[ -e $password ]] || (umask 077 && head -c 18 /dev/urandom | base64 >"$password")
export PLEXUS_INIT_PASSWORD_FILE=$password
pids=()
status=0

# again tells whether the process that a node's script noted runs.
again() { # number of the node
	[[ -e $base/node-$1.pid ]] && tr '\0' ' ' 2>/dev/null <"/proc/$(<"$base/node-$1.pid")/cmdline" | grep -q -- "--data-dir $base/node-$1 "
}

finish() {
	trap - EXIT INT TERM
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
	done
	# Nodes that were started again by hand belong to it as well.
	for ((i = nodes; i >= 1; i--)); do
		again "$i" && kill "$(<"$base/node-$i.pid")" 2>/dev/null || true
	done
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		wait "${pids[i]}" 2>/dev/null || true
	done
	for ((i = 1; i <= nodes; i++)); do
		while again "$i"; do sleep 0.1; done
	done
	if ((temporary)); then
		rm -rf "$base"
		echo "stopped; the data directories are removed"
	else
		echo "stopped; the data directories stay in $base"
	fi
}
trap 'finish; exit "$status"' EXIT
trap 'exit 0' INT TERM

client=() # URL of each node
for ((i = 1; i <= nodes; i++)); do
	client+=("http://127.0.0.1:$((16390 + i * 1000))")
done
servers=$(
	IFS=,
	echo "${client[*]}"
)
plexus() { bin/plexus --server "$servers" --password-file "$password" "$@"; }

start() { # number of the node
	local i=$1 port=$((16390 + $1 * 1000)) join=()
	((i == 1)) || join=(--join "127.0.0.1:$((16390 + 1000 + 4))")
	# A script of its own, so that a node that was killed can be started again.
	cat >"$base/node-$i.sh" <<SCRIPT
#!/bin/sh
echo \$\$ >"$base/node-$i.pid"
cd "$PWD" && PLEXUS_INIT_PASSWORD_FILE=$password exec bin/plexusd --data-dir "$base/node-$i" --node-id node-$i ${join[*]} \\
	--client-listen 127.0.0.1:$port --interconnect-listen 127.0.0.1:$((port + 4)) \\
	--http-listen 127.0.0.1:$((port + 2)) --observability-listen 127.0.0.1:$((port + 3))
SCRIPT
	chmod +x "$base/node-$i.sh"
	"$base/node-$i.sh" >"$base/node-$i.log" 2>&1 &
	pids+=("$!")
}

# ready waits until the node serves sessions.
ready() { # number of the node
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		if ! kill -0 "${pids[$1 - 1]}" 2>/dev/null; then
			break
		fi
		if bin/plexus --server "${client[$1 - 1]}" --password-file "$password" exec 'SHOW CLUSTER STATUS' >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.2
	done
	echo "node-$1 did not become ready:"
	tail -n 20 "$base/node-$1.log"
	status=1
	exit 1
}

for ((i = 1; i <= nodes; i++)); do
	start "$i"
	ready "$i"
	echo "node-$i serves clients at ${client[i - 1]} (log $base/node-$i.log)"
done
if ! plexus --domain demo exec 'DESCRIBE DOMAIN' >/dev/null 2>&1; then
	plexus exec -f examples/first-pipeline.nspl >/dev/null
fi
echo
plexus status
cat <<TEXT

Three nodes run one pipeline; the rows that leave it follow. In a second terminal,
in this directory:

  export PLEXUS_SERVER=$servers PLEXUS_PASSWORD=\$(cat $password)
  bin/plexus status
  bin/plexus exec 'DRAIN NODE \`node-2\`'
  kill -9 ${pids[2]}        # node-3; its work moves to the others within 15 s
  $base/node-3.sh        # and it comes back, until Ctrl-C there

Ctrl-C ends everything.

TEXT
while true; do
	plexus --domain demo subscribe rows alerts && break
	# The node that served the subscription may have been the one that was killed.
	sleep 1
done
