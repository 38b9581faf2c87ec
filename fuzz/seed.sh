#!/bin/sh
# Fills corpus/TARGET with the small files of tests/ that the target reads, and those of seeds/TARGET.
# Run it once before fuzzing; it may be run again.
set -eu
cd "$(dirname "$0")"
tests=../tests
largest=16000

fill() { # target, name pattern, folders...
    target=$1 pattern=$2
    shift 2
    mkdir -p "corpus/$target"
    find "$@" -name "$pattern" -type f | sort | while read -r file; do
        name=$(echo "$file" | sed 's|^\.\./||; s|/|_|g')
        case $file in
            *.gz) gzip -dc "$file" >"corpus/$target/$name" ;;
            *.hex) grep -v '^#' "$file" | xxd -r -p >"corpus/$target/$name" ;;
            *) cp "$file" "corpus/$target/$name" ;;
        esac
        # A large seed makes every run slow and finds nothing more.
        if [ "$(wc -c <"corpus/$target/$name")" -gt "$largest" ]; then rm "corpus/$target/$name"; fi
    done
}

fill rules '*.anchor' $tests/ui ../rules
fill notation '*.graph' $tests
fill check '*.graph' $tests
fill ge_text '*.txt' $tests/bad_graphs
fill ge_text '*.before.txt.gz' $tests/graphs
fill check '*.before.txt.gz' $tests/graphs
fill ge_binary 'air_*.hex' $tests/bad_graphs
fill om 'om*.hex' $tests/bad_graphs
fill onnx '*.hex' $tests/bad_graphs/onnx
fill onnx '*.onnx' $tests/graphs/onnx
for target in seeds/*/; do
    target=$(basename "$target")
    mkdir -p "corpus/$target"
    cp "seeds/$target"/* "corpus/$target/"
done
