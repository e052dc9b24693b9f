#!/usr/bin/env bash
# Writes the generated Go files beside their .proto files. With --check it only
# says whether the ones in the tree are current.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t inputs < <(git ls-files '*.proto')
if [[ ${1:-} != --check ]]; then
	(cd tools && go run ./protogen -root .. "${inputs[@]}")
	exit 0
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
cp --parents "${inputs[@]}" "$fresh"
(cd tools && go run ./protogen -root "$fresh" "${inputs[@]}")
stale=0
while read -r file; do
	if ! cmp -s "$fresh/$file" "$file"; then
		echo "not current: $file; run make generate"
		stale=1
	fi
done < <(cd "$fresh" && find . -name '*_gen.go' -printf '%P\n' | sort)
exit "$stale"
