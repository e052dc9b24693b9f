#!/usr/bin/env bash
# The containers world: an engine of our own, local images, the features.
#   tools/containers.sh images   build the images and stop
#   tools/containers.sh test     build the images and run the features
# Where no engine can run, the reason is printed and the exit status is 0, or 1
# when REQUIRE_CONTAINERS is set: a job that promises containers sets it.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=$1
cache=$PWD/.cache/containers
mkdir -p "$cache" .cache/bin
engine_pid=

skip() {
	echo "containers: skipped: $*"
	[[ -z ${REQUIRE_CONTAINERS:-} ]] || exit 1
	exit 0
}

finish() {
	if [[ -n $engine_pid ]]; then
		docker ps -aq --filter label=org.testcontainers | xargs -r docker rm -f >/dev/null 2>&1 || true
		kill "$engine_pid" 2>/dev/null || true
		wait "$engine_pid" 2>/dev/null || true
	fi
}
trap finish EXIT

# start_engine uses the engine DOCKER_HOST names, or starts one by hand on a
# socket and a data directory of its own.
start_engine() {
	if [[ -n ${DOCKER_HOST:-} ]] && docker info >/dev/null 2>&1; then
		echo "containers: using the engine at $DOCKER_HOST"
		return
	fi
	[[ $(id -u) == 0 ]] || skip "no engine is reachable and starting one needs root"
	if ! command -v dockerd >/dev/null; then
		command -v apt-get >/dev/null || skip "dockerd is not installed"
		echo "containers: installing docker.io"
		tools/install-servers.sh docker.io iptables || skip "docker.io cannot be installed"
	fi
	command -v dockerd >/dev/null || skip "dockerd is not installed"
	command -v docker >/dev/null || skip "the docker client is not installed"
	export DOCKER_HOST=unix://$cache/docker.sock
	dockerd --data-root "$cache/data" --exec-root "$cache/exec" -H "$DOCKER_HOST" \
		--pidfile "$cache/docker.pid" >"$cache/dockerd.log" 2>&1 &
	engine_pid=$!
	for ((tries = 0; tries < 100; tries++)); do
		if docker info >/dev/null 2>&1; then
			echo "containers: engine started (pid $engine_pid)"
			return
		fi
		kill -0 "$engine_pid" 2>/dev/null || break
		sleep 0.2
	done
	reason=$(grep -E 'failed|error' "$cache/dockerd.log" | tail -n 1 || true)
	skip "the engine does not come up: ${reason:-see $cache/dockerd.log}"
}

# import_image makes an image of the files, with the libraries they are linked to.
#   import_image NAME CMD FILE...
import_image() {
	local name=$1 cmd=$2 files=() file
	shift 2
	for file in "$@"; do
		files+=("$file")
		while read -r library; do
			files+=("$library")
		done < <(ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | sort -u || true)
	done
	tar -C / -ch "${files[@]#/}" | docker import --change "CMD $cmd" - "$name" >/dev/null
	echo "containers: built image $name"
}

build_images() {
	tools/install-servers.sh || true
	(cd tools && CGO_ENABLED=0 go build -o ../.cache/bin/natsserver-static ./natsserver)
	# The first image also shows whether the engine can unpack one at all: inside a
	# chroot, for example, it cannot.
	local problem
	problem=$(tar -C .cache/bin -c natsserver-static |
		docker import --change 'CMD ["/natsserver-static","-host","0.0.0.0","-port","4222","-store","/store"]' - plexus-test/nats:local 2>&1 >/dev/null) ||
		skip "the engine cannot import an image: $problem"
	echo "containers: built image plexus-test/nats:local"
	local redis
	if redis=$(command -v redis-server); then
		import_image plexus-test/redis:local '["'"$redis"'","--save","","--appendonly","no","--protected-mode","no"]' "$redis"
	else
		echo "containers: no image of redis: redis-server is not installed"
	fi
}

start_engine
build_images
[[ $mode == test ]] || exit 0

export TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
go test ./features -count=1 -world=containers -nodes="${NODES:-1,3}" -scenarios="${TAGS:-~@slow}" -job="${JOB:-}" \
	-skips="$PWD/.cache/skips-containers.txt" -keep="$PWD/.cache/artifacts" -timeout 30m
cat .cache/skips-containers.txt
