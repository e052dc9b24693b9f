#!/usr/bin/env bash
# Installs the servers of the local world from Debian's packages when this is a
# Debian machine, we are root and they are missing. No service starts: a policy
# file refuses that while packages are unpacked.
set -euo pipefail

packages=()
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || packages+=(redis-server)
for extra in "$@"; do
	dpkg-query -W -f '${Status}' "$extra" 2>/dev/null | grep -q 'ok installed' || packages+=("$extra")
done
((${#packages[@]})) || exit 0

if ! command -v apt-get >/dev/null || [[ $(id -u) != 0 ]]; then
	echo "not installed (needs root on Debian): ${packages[*]}"
	exit 0
fi
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
echo "installing ${packages[*]}"
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
