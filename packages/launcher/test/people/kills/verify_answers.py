"""Checks answers of people from what the runtime has and what each is bound to, without any code of the project.

Reads a line of JSON for each answered question: `hashed` (the members under the hash), `proposalHash`, `subject` (the
bytes of the subject as the runtime has them, hexadecimal), and `acts` (the messages of the seat in the session, each
`{messageId, text}`). Prints how many lines hold; ends with 1 and the first faults when one does not.
"""

import hashlib
import json
import sys

faults = []
count = 0
seen = set()
for line in sys.stdin:
    count += 1
    case = json.loads(line)
    hashed = case["hashed"]
    name = hashed["sessionId"]
    # The texts are ASCII and the numbers integers: sorted members without spaces are canonical (RFC 8785).
    canonical = json.dumps({"v": 1, **hashed}, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(canonical.encode()).hexdigest() != case["proposalHash"]:
        faults.append(f"{name}: the hash is of something else")
    if hashlib.sha256(bytes.fromhex(case["subject"])).hexdigest() != hashed["subject"]["payloadSha256"]:
        faults.append(f"{name}: the subject has other bytes")
    if len(case["acts"]) != 1:
        faults.append(f"{name}: the session has {len(case['acts'])} acts of the seat")
    for act in case["acts"]:
        if act["messageId"] in seen:
            faults.append(f"{name}: {act['messageId']} is in another session")
        seen.add(act["messageId"])
        if f"sha256:{case['proposalHash'][:16]}]" not in act["text"]:
            faults.append(f"{name}: the act names another subject")

print("\n".join([*faults[:20], f"{count} answers, {len(faults)} faults"]))
sys.exit(1 if faults or count == 0 else 0)
