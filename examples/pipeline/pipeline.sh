#!/bin/sh
# From records to a release: validate, plan, run, report. Usage: pipeline.sh PARAMETERS DATA OUT
#
# Stops at the first step that fails, with its exit code: 1 an input is at fault, 2 wrong usage, 3 the run failed.
# OUT is a new folder. `curator` in it never leaves the agency; `public` may be published if the run's status allows it.
set -eu
if [ $# -ne 3 ]; then
    echo "Usage: $0 PARAMETERS DATA OUT" >&2
    exit 2
fi
parameters=$1 data=$2 out=$3
if [ -e "$out" ]; then
    echo "$out exists. Name a new folder." >&2
    exit 2
fi
mkdir -p "$out/public"
mkdir -m 700 "$out/curator"

safetab validate "$parameters" "$data" --quiet --confidential-log "$out/curator/validate.log"
safetab plan "$parameters" "$data" --json >"$out/public/plan.json"
safetab run "$parameters" "$data" "$out/run" --quiet --csv \
    --dataset "${DATASET:-census}" --spend-log "${SPEND_LOG:-$out/curator/spend.log}" \
    --confidential-log "$out/curator/run.log"
cp -R "$out/run/release" "$out/public/release"
safetab report "$out/public/release" --quiet --output "$out/public/report.html"
safetab site "$out/public/release" "$out/public/site" --quiet
safetab status "$out/public/release" --csv >"$out/public/status.csv"
echo "Read $out/public/report.html before you publish $out/public."
