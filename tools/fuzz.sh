#!/usr/bin/env bash
# Runs every fuzz target of the module for the given seconds each, sharing the
# budget evenly when it does not suffice.
#   tools/fuzz.sh SECONDS_PER_TARGET BUDGET_SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

per_target=$1 budget=$2
targets=()
while read -r package; do
	while read -r target; do
		targets+=("$package $target")
	done < <(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
done < <(git grep -l '^func Fuzz' -- '*_test.go' | xargs -r -n1 dirname | sort -u | sed 's|^|./|')

count=${#targets[@]}
if ((count == 0)); then
	echo "no fuzz targets"
	exit 0
fi
seconds=$per_target
if ((count * per_target > budget)); then
	seconds=$((budget / count))
fi
((seconds > 0)) || seconds=1
echo "$count fuzz targets, ${seconds}s each"
for entry in "${targets[@]}"; do
	read -r package target <<<"$entry"
	echo "fuzz $package $target"
	if ! output=$(go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" -fuzzminimizetime 10s 2>&1); then
		echo "$output"
		exit 1
	fi
	tail -n 1 <<<"$output"
done
