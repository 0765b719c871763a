#!/bin/sh
# From records to a release: validate, plan, run, report, verify. Usage:
#
#   SPEND_LOG=FILE DATASET=NAME [SPEND_LIMIT=AMOUNT] pipeline.sh PARAMETERS DATA OUT
#
# SPEND_LOG has the accounts of these people, and DATASET is their name in it: use both again for every run over the same
# people, or what they have lost is not added up. SPEND_LIMIT refuses a run with which they would lose more.
#
# Stops at the first step that fails, with its exit code: 1 an input is at fault, 2 wrong usage, 3 the run failed. The logs
# of what failed are in OUT.part/curator; run it again when the fault is mended. OUT is a new folder:
#
#   curator    for the curator alone: the logs, which say how many records break rules
#   run        for the agency: the whole output, with every noisy measurement, and no record
#   public     what may be published. It is called to-review if the status of the run doesn't allow it.
set -eu
if [ $# -ne 3 ]; then
    echo "Usage: SPEND_LOG=FILE DATASET=NAME $0 PARAMETERS DATA OUT" >&2
    exit 2
fi
if [ -z "${SPEND_LOG:-}" ] || [ -z "${DATASET:-}" ]; then
    echo "Name the spend log of these people, and these people: SPEND_LOG=FILE DATASET=NAME $0 PARAMETERS DATA OUT" >&2
    exit 2
fi
parameters=$1 data=$2 out=${3%/} part=${3%/}.part
if [ -e "$out" ]; then
    echo "$out exists. Name a new folder." >&2
    exit 2
fi
if [ -e "$part/run" ]; then
    echo "$part/run is the output of a run that is charged. Keep it elsewhere or remove it, then start again." >&2
    exit 2
fi
rm -rf "$part"
mkdir -p "$part/to-review"
mkdir -m 700 "$part/curator"

safetab validate "$parameters" "$data" --quiet --confidential-log "$part/curator/validate.log"
safetab plan "$parameters" "$data" --json >"$part/to-review/plan.json"
safetab run "$parameters" "$data" "$part/run" --quiet --csv --dataset "$DATASET" --spend-log "$SPEND_LOG" \
    ${SPEND_LIMIT:+--spend-limit "$SPEND_LIMIT"} --confidential-log "$part/curator/run.log"
cp -R "$part/run/release" "$part/to-review/release"
safetab report "$part/to-review/release" --quiet --output "$part/to-review/report.html"
safetab site "$part/to-review/release" "$part/to-review/site" --quiet
safetab status "$part/to-review/release" --csv >"$part/to-review/status.csv"
safetab verify "$part/to-review/release" --json >"$part/curator/verified.json" # and its status on the screen

folder=to-review
if grep -q '"for_release": true' "$part/curator/verified.json"; then
    folder=public
    mv "$part/to-review" "$part/public"
fi
mv "$part" "$out"
echo "Read $out/$folder/report.html before you publish anything of $out/$folder."
