"""Checks answers of people that a passkey has signed: verify.py imports it from its own folder.

Python 3.9 or later, the standard library alone. The rules are those of docs/reference/people.md, and of WebAuthn level 2
section 7.2 for a key of ES256; none of the code is shared."""
import base64, datetime, hashlib, json, urllib.parse

# --- P-256, FIPS 186-5: y^2 = x^3 - 3x + B
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
BASE = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)

def add(p, q):
    if p is None or q is None:
        return q if p is None else p
    if p[0] == q[0] and (p[1] + q[1]) % P == 0:
        return None
    slope = (3 * p[0] * p[0] - 3) * pow(2 * p[1], -1, P) if p == q else (q[1] - p[1]) * pow(q[0] - p[0], -1, P)
    x = (slope * slope - p[0] - q[0]) % P
    return x, (slope * (p[0] - x) - p[1]) % P

def multiply(scalar, point):
    total = None
    while scalar:
        total = add(total, point) if scalar & 1 else total
        point, scalar = add(point, point), scalar >> 1
    return total

def der(*values):
    """Integers above 0 as a sequence of DER, shorter than 128 bytes."""
    raw = [value.to_bytes(value.bit_length() // 8 + 1, "big") for value in values]
    body = b"".join(bytes((2, len(one))) + one for one in raw)
    return bytes((0x30, len(body))) + body

def es256(cose, message, signature):
    """Whether a signature is one of a COSE key: ECDSA with P-256 and SHA-256. CTAP2 writes such a key in one way."""
    x, y = (int.from_bytes(cose[at : at + 32], "big") for at in (10, 45))
    if cose != bytes.fromhex("a5010203262001215820%064x225820%064x" % (x, y)):
        raise ValueError("its public key is not one of ES256")
    if max(x, y) >= P or (y * y - x * x * x + 3 * x - B) % P != 0 or len(signature) < 8:
        return False
    second = 4 + signature[3]
    r, s = int.from_bytes(signature[4:second], "big"), int.from_bytes(signature[second + 2 :], "big")
    if not (0 < r < N and 0 < s < N) or signature != der(r, s):
        return False
    digest, inverse = int.from_bytes(hashlib.sha256(message).digest(), "big"), pow(s, -1, N)
    point = add(multiply(digest * inverse % N, BASE), multiply(r * inverse % N, (x, y)))
    return point is not None and point[0] % N == r

# --- The assertion
def unbase64url(text):
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii") != text:
        raise ValueError("a member of its assertion is not base64url")
    return raw

def is_origin_of(origin, host):
    url = urllib.parse.urlsplit(origin)
    is_secure = url.scheme == "https" or (url.scheme == "http" and url.hostname == "localhost")
    is_alone = origin == "%s://%s" % (url.scheme, url.netloc) and "@" not in url.netloc
    return is_secure and is_alone and (url.hostname == host or (url.hostname or "").endswith("." + host))

def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))

SIGNED = ("item", "proposalHash", "act", "recommendation", "confidence", "severity")

def check_assertion(answer, canonical):
    """The reason that a passkey has signed with its answer; None once it is erased. Raises a ValueError."""
    record = answer["passkey"]
    names = ("authenticatorData", "clientDataJSON", "signature", "publicKey")
    data, client, signature, key = (unbase64url(record[name]) for name in names)
    said, host, signed = json.loads(client), record["rpId"], record["signed"]
    if said["type"] != "webauthn.get":
        raise ValueError("its client data is not one of an assertion")
    if said.get("crossOrigin") or not is_origin_of(said["origin"], host):
        raise ValueError("it was made for another origin than %s" % host)
    if len(data) < 37 or data[:32] != hashlib.sha256(host.encode("utf-8")).digest():
        raise ValueError("it was made for another host than %s" % host)
    if data[32] & 5 != 5:
        raise ValueError("its device verified no person")
    if not es256(key, data + hashlib.sha256(client).digest(), signature):
        raise ValueError("its signature is not one of the key")
    if time_of(record["enrolledAt"]) > time_of(answer["askedAt"]):
        raise ValueError("its key was enrolled after the question was asked")
    if signed == "":
        return None
    digest = hashlib.sha256(signed.encode("utf-8")).digest()
    if said["challenge"] != base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii"):
        raise ValueError("it has signed another answer")
    members = json.loads(signed)
    basis = {name: answer["basis"][name] for name in ("ordinal", "sha256")}
    extra = set(members) - set(SIGNED) - {"v", "basis", "reason", "nonce"}
    if canonical(members) != signed or members["v"] != 1 or extra or len(bytes.fromhex(members["nonce"])) != 32:
        raise ValueError("what it has signed cannot be read")
    if members["basis"] != basis or any(members.get(name) != answer.get(name) for name in SIGNED):
        raise ValueError("what it has signed is not the answer of the record")
    return members["reason"]

# --- The message in the session
WORDS = {"approve": ("APPROVE", "Approve"), "reject": ("REJECT", "Reject"), "abstain": ("ABSTAIN", "Abstain")}
TYPES = {"evaluate": "Evaluation", "object": "Objection", "accept": "HandoffAccept", "decline": "HandoffDecline"}

def check_message(answer, reason, message):
    """Refuses a message of the session that says something else than the answer; False once its reason is erased."""
    kind, payload = message
    vote, ballot = WORDS.get(answer["act"], (None, TYPES.get(answer["act"])))
    is_same = payload.get("vote") == vote if kind == "Vote" else kind == ballot
    is_same = is_same and payload.get("recommendation") == answer.get("recommendation")
    if not is_same or kind == "Objection" and payload.get("severity") != answer.get("severity", "medium"):
        raise ValueError("its message in the session is another act")
    if payload.get("reason") == "":
        return False
    plain = lambda text: urllib.parse.quote(text, safe="!~*'()@:|")
    line = (plain(answer["person"]), plain(answer["item"]), answer["proposalHash"][:16])
    if payload.get("reason") != reason + "\n" * (reason != "") + "[person %s item %s sha256:%s]" % line:
        raise ValueError("its message in the session has another reason")
    return True

LINK = "by a personal link, the weakest proof: without a sign-in, so who had the link and its code could give it"

def check_answer(answer, messages, canonical):
    """What an answer does not prove; an empty list for nothing. Raises a ValueError."""
    if answer.get("proof") != "passkey":
        return ["its content is erased"] if not answer else [LINK] if answer.get("proof") == "link" else []
    reason, message = check_assertion(answer, canonical), messages.get(answer["messageId"])
    if reason is None:
        return ["what its passkey has signed is erased"]
    if message is None:
        raise ValueError("its message is not in the session")
    return [] if check_message(answer, reason, message) else ["the reason of its message is erased"]

def check_answers(files, folder, canonical, fault):
    """What the answers of people in a run do not prove."""
    report, messages = [], {}
    answers = [json.loads(line).get("inline") or {} for line in files.get(folder + "people.jsonl", b"").splitlines()]
    is_signed = any(answer.get("proof") == "passkey" for answer in answers)
    for data in [json.loads(line)["data"] for line in files[folder + "events.jsonl"].splitlines() if is_signed]:
        if isinstance(data.get("decodedPayload"), dict):
            messages[data.get("messageId")] = (data.get("messageType"), data["decodedPayload"])
    for number, answer in enumerate(answers, 1):
        where = "%speople.jsonl, line %d" % (folder, number)
        try:
            report += ["%s: %s" % (where, lack) for lack in check_answer(answer, messages, canonical)]
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            why = error if type(error) is ValueError else "a member of its record is missing or wrong: %r" % error
            raise fault("%s: its passkey proves nothing: %s" % (where, why)) from None
    if is_signed:
        report.append("%speople.jsonl: which person holds a passkey: the launch service says so" % folder)
    return report
