#!/bin/sh
# Tells a webhook of a run, as JSON. Keep this beside the audit as webhook.sh, and under
# [schedule]:  on_change = ["/bin/sh", "webhook.sh", "/home/you/.config/webhook"]
# That file keeps the address out of the audit and out of the list of processes:
#     url = "https://chat.example.org/hooks/..."
# "text" is what Slack, Mattermost and their like show.
set -eu
settings=${1:?the file with the address must be named}
body=$(python3 -I -c '
import json, os
names = "EVENT AUDIT RUN VERDICT EXIT_CODE SUMMARY NEWS".split()
told = (os.environb.get(f"IMPORTANCE_AUDIT_{name}".encode(), b"") for name in names)
given = {name: text.decode(errors="replace") for name, text in zip(names, told)}
head = "{}: {} (exit code {})".format(
    given["AUDIT"], given["VERDICT"] or "no verdict", given["EXIT_CODE"])
text = "\n\n".join(part for part in (head, given["NEWS"] or given["SUMMARY"]) if part)
print(json.dumps({"text": text, **{name.lower(): given[name] for name in names}}))
')
printf '%s\n' "$body" |
    curl --fail --silent --show-error --max-time 30 --config "$settings" \
        --header 'Content-Type: application/json' --data-binary @-
