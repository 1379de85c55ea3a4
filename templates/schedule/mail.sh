#!/bin/sh
# Mails what a run found, by the sendmail of Postfix, Exim, msmtp and their like. Keep
# this beside the audit as mail.sh, and under [schedule]:
#     on_change = ["/bin/sh", "mail.sh", "owner@example.org"]
set -eu
: "${1:?the address must be given}"
PATH=$PATH:/usr/sbin:/usr/lib
message=$(python3 -I -c '
import os, sys
from email.message import EmailMessage
names = "EVENT AUDIT RUN VERDICT EXIT_CODE SUMMARY NEWS".split()
told = (os.environb.get(f"IMPORTANCE_AUDIT_{name}".encode(), b"") for name in names)
given = {name: text.decode(errors="replace") for name, text in zip(names, told)}
mail = EmailMessage()
subject = "{}: {} (exit code {})".format(
    given["AUDIT"], given["VERDICT"] or "no verdict", given["EXIT_CODE"])
# The first sentence of the news says what changed; of a verdict also why.
first = given["NEWS"].partition("\n")[0][:200]
mail["Subject"] = " ".join(f"{subject}: {first}".rstrip(": ").split())
mail["To"] = ", ".join(sys.argv[1:])
mail["Auto-Submitted"] = "auto-generated"
# Where there is no run, the summary is what went wrong, which is news as well.
said = () if given["RUN"] else given["SUMMARY"].splitlines()
news = "\n".join(line for line in given["NEWS"].splitlines() if line not in said)
event = "Event: {}".format(given["EVENT"])
parts = (event, news, given["SUMMARY"], given["RUN"])
text = "\n\n".join(part for part in parts if part)
mail.set_content(text, cte="base64")
sys.stdout.write(mail.as_string())
' "$@")
printf '%s\n' "$message" | sendmail -i -- "$@"
