#!/usr/bin/env python3
"""Checks an evidence bundle of Runplane. It needs Python 3.9 or later, and imports only the standard library.

    python3 verify.py CASE.evidence.zip --keys runplane-keys.json

Take it and passkeys.py from the release, and the keys from a copy that was saved when they were new: a bundle can bring
others. The rules are those of docs/reference/seal-format.md and docs/reference/evidence.md; none of the code is shared.

Exit codes: 0 valid, 1 refused (with file and event), 2 a file cannot be read, 6 not proven for want of --keys."""
import argparse, base64, binascii, hashlib, hmac, json, re, struct, sys
from decimal import Decimal
from pathlib import Path
try: from passkeys import check_answers
except ImportError: check_answers = lambda *_: ["people.jsonl: passkeys.py, which checks its passkeys, is not here"]

TABLE_SHA256 = "f8223a806a0c91e61f27815b2b63d10f6d584b5d8f5227ea8afbdb31e69da3dd"
KIND, NO_ANCHOR = "runplane-evidence-v1", "none: no time-stamping authority is configured\n"
UNSIGNED_FILES = ("manifest.json", "manifest.sig", "anchor/none.txt", "anchor/manifest.tsr")

class Fault(Exception):
    """What refuses the bundle: the file, and the event, frame or entry in it."""

# --- Ed25519, RFC 8032 section 5.1.7
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT = -121665 * pow(121666, P - 2, P) % P, pow(2, (P - 1) // 4, P)

def decompress(data):
    value = int.from_bytes(data, "little")
    y, sign = value & (1 << 255) - 1, value >> 255
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        raise ValueError("no point of the curve")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(scalar, point):
    total = (0, 1, 1, 0)
    while scalar:
        total = add(total, point) if scalar & 1 else total
        point, scalar = add(point, point), scalar >> 1
    return total

BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))

def ed25519(public, message, signature):
    s = int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    try:
        x, y, z, _ = multiply(s, BASE)
        u, v, w, _ = add(decompress(signature[:32]), multiply(h, decompress(public)))
    except ValueError:
        return False
    return len(public) + len(signature) == 96 and s < L and (x * w - u * z) % P == 0 and (y * w - v * z) % P == 0

# --- Texts: UTF-8 in which a lone surrogate is U+FFFD, numbers as ECMAScript writes them, canonical JSON of RFC 8785
def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def utf8(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")

def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")

def unbase64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

def quoted(text):
    """A text as JSON.stringify writes it; a lone surrogate is an escape."""
    return re.sub("[\ud800-\udfff]", lambda m: "\\u%04x" % ord(m[0]), json.dumps(text, ensure_ascii=False))

def number(value):
    text = repr(float(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return format(Decimal(text).normalize() if value else 0, "f" if value else "d")
    return re.sub("e([+-])0", r"e\1", text)

def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(quoted(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, (list, str)):
        return quoted(value) if isinstance(value, str) else "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value) if value is None or isinstance(value, bool) else number(value)

def without_twice(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has a name twice")
    return dict(pairs)

DECODER = json.JSONDecoder(object_pairs_hook=without_twice)

def parse(text, where):
    try:
        return DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Fault("%s is not JSON: %s" % (where, error)) from None

def members(text, at=0):
    """The members of the object at an offset: name, and where its value begins and ends. There is no white space."""
    found, opening = [], "{"
    while text[at] == opening and text[at : at + 2] != "{}":
        name, colon = json.decoder.scanstring(text, text.index('"', at + 1, at + 2) + 1)
        at = DECODER.raw_decode(text, text.index(":", colon, colon + 1) + 1)[1]
        found.append((name, colon + 1, at))
        opening = ","
    if text[at] != ("}" if found else "{"):
        raise ValueError("white space at %d" % at)
    return found

# --- The zip
def local(name, crc, size):
    return b"PK\3\4" + common(name, crc, size) + name.encode("ascii")

def common(name, crc, size):
    """A stored file of 1980-01-01 without attributes."""
    return struct.pack("<5H3I2H", 20, 0, 0, 0, 0x21, crc, size, size, len(name), 0)

def central(name, crc, size, offset):
    return b"PK\1\2\x14\0" + common(name, crc, size) + struct.pack("<3H2I", 0, 0, 0, 0, offset) + name.encode("ascii")

def read_zip(data):
    """The files of a bundle. Its bytes follow from names and contents alone, so every other byte is a fault."""
    files, records, at, name = {}, [], 0, ""
    while data[at : at + 4] == b"PK\3\4":
        try:
            size, length = struct.unpack("<IH", data[at + 22 : at + 28])
            begin, before = at + 30 + length, name
            name = data[at + 30 : begin].decode("ascii")
        except (struct.error, UnicodeDecodeError):
            raise Fault("the file after %r is cut, or its name is another" % name) from None
        content = data[begin : begin + size]
        crc = binascii.crc32(content)
        if data[at:begin] != local(name, crc, len(content)):
            raise Fault("%s, after %r: its header is another, or its content does not fit it" % (ascii(name), before))
        if name <= before:
            raise Fault("%s is there twice, or not in the order of the names, after %r" % (name, before))
        records.append((name, crc, size, at))
        files[name], at = content, begin + size
    if not records:
        raise OSError("no stored zip begins here")
    begin = at
    for record in records:
        entry = central(*record)
        if data[at : at + len(entry)] != entry:
            found = data[at + 46 : at + len(entry)].decode("ascii", "replace")
            raise Fault("%s: its entry in the directory of the zip is another: %s" % (record[0], ascii(found)))
        at += len(entry)
    if data[at:] != b"PK\5\6" + struct.pack("<4H2IH", 0, 0, len(records), len(records), at - begin, begin, 0):
        raise Fault("the end of the zip, after %s, is another" % records[-1][0])
    return files

# --- Keys and signatures
class Keys:
    """The keys of a set, by their thumbprints; what was signed by other keys, and what without a key."""
    def __init__(self, given, where):
        self.known, self.unknown, self.unsigned, self.signed = {}, [], [], 0
        for key in given["keys"]:
            thumbprint = sha256(('{"crv":"Ed25519","kty":"OKP","x":"%s"}' % key["x"]).encode())
            if key["kid"] != base64url(thumbprint):
                raise Fault("%s: the id of key %s is not its thumbprint" % (where, key["kid"]))
            self.known[key["kid"]] = unbase64url(key["x"])
        for key in given["keys"]:
            said = key.get("statement") or {}
            signed = {"kind": "runplane-key-v1", "keyId": key["kid"], "publicKey": key["x"]}
            signed.update(previous=said.get("previous"), since=said.get("since"))
            signers = [(key["kid"], said.get("signature")), (said.get("previous"), said.get("previousSignature"))]
            for signer, signature in signers if said else []:
                if signer in self.known and not self.fits(signer, signed, signature):
                    raise Fault("%s: the statement of key %s is not signed by %s" % (where, key["kid"], signer))

    def fits(self, key_id, signed, signature):
        raw = bytes.fromhex(signature)
        return raw.hex() == signature and ed25519(self.known[key_id], canonical(signed).encode("utf-8"), raw)

    def check(self, signed, signature, where):
        """Refuses a wrong signature over the canonical JSON of an object with the id of its key."""
        if signed["keyId"] is None and signature is None:
            self.unsigned.append(where)
        elif signed["keyId"] not in self.known:
            self.unknown.append("%s is signed by key %s" % (where, signed["keyId"]))
        elif not self.fits(signed["keyId"], signed, signature):
            raise Fault("%s: its signature is not one of key %s" % (where, signed["keyId"]))
        else:
            self.signed += 1

# --- Version 2: salts and erasures
def spans(table, text, at, rule, pointer):
    """The erasable members of a value by its rule: pointer, and where the value begins and ends."""
    rule = table["rules"].get(rule, rule)
    if rule == "kept":
        return []
    if rule == "erasable" or text[at] != ("{" if "members" in rule else "["):
        return [(pointer, at, DECODER.raw_decode(text, at)[1])]
    found = []
    if "members" in rule:
        for name, begin, _ in members(text, at):
            below = "%s/%s" % (pointer, name.replace("~", "~0").replace("/", "~1"))
            found += spans(table, text, begin, rule["members"].get(name, rule["others"]), below)
        return found
    at, index = at + 1, 0
    while text[at] != "]":
        at += text[at] == ","
        found += spans(table, text, at, rule["each"], "%s/%d" % (pointer, index))
        at, index = DECODER.raw_decode(text, at)[1], index + 1
    return found

def digested(text, found, salts, erased, where):
    """The text with a digest in the position of each erasable value."""
    if isinstance(salts, str):
        seed = unbase64url(salts)
        if len(seed) != 16 or base64url(seed) != salts or erased:
            raise Fault("%s: its seed is not one of 16 bytes, or is beside an erasure" % where)
        salts = {p: base64url(hmac.new(seed, utf8(p), "sha256").digest()[:16]) for p, _, _ in found}
    if not isinstance(salts, dict):
        raise Fault("%s has no salts" % where)
    left, entries, parts, last = set(salts), dict(erased), [], 0
    for pointer, begin, end in found:
        value = text[begin:end]
        if pointer in entries:
            digest = entries.pop(pointer)["digest"]
            if value not in ('""', "null") or pointer in left:
                raise Fault("%s: %s has an erasure, and its value or its salt is there" % (where, pointer))
        elif pointer in left:
            left.remove(pointer)
            disclosure = base64url(('["%s",%s,%s]' % (salts[pointer], quoted(pointer), value)).encode("utf-8"))
            digest = base64url(sha256(disclosure.encode("ascii")))
        else:
            raise Fault("%s: %s has neither a salt nor an erasure" % (where, pointer))
        parts.append(text[last:begin] + '"' + digest + '"')
        last = end
    if left or entries:
        raise Fault("%s: %s is not a member that can be erased" % (where, (sorted(left) + list(entries))[0]))
    return "".join(parts) + text[last:]

def link(is_two, head, text):
    return sha256(head, sha256(text.encode("utf-8")) if is_two else text.encode("utf-8"))

def check_chain(kind, run_id, document, keys, where):
    """A chain of entries: their positions, links and signed end."""
    head, entries, end = sha256((kind + "\n" + run_id).encode()), document["entries"], document["head"]
    for position, entry in enumerate(entries, 1):
        if entry["position"] != position or entry["previous"] != head.hex():
            raise Fault("%s: entry %d is not linked to the one before" % (where, position))
        hashed = {name: value for name, value in entry.items() if name not in ("previous", "content")}
        head = link(False, head, canonical(hashed))
    if (end["runId"], end["entries"], end["head"]) != (run_id, len(entries), head.hex()) or not entries:
        raise Fault("%s: its signed end is not that of its entries" % where)
    signed = dict(kind=kind, runId=run_id, entries=len(entries), head=head.hex(), keyId=end["keyId"])
    keys.check(signed, end["signature"], where + " (end)")

def erasures_of(document, run_id, keys, where):
    """The entries by target and position, and by pointer."""
    found = {}
    if document is not None:
        check_chain("runplane-erasures-v1", run_id, document, keys, where)
    for entry in document["entries"] if document else []:
        at = found.setdefault((entry["target"], entry["index"]), {})
        if at.setdefault(entry["pointer"], entry) is not entry:
            raise Fault("%s: entry %d erases %s again" % (where, entry["position"], entry["pointer"]))
    return found

# --- A run
def lines_of(files, name, options):
    options.where = name
    if not (b"\n" + files[name]).endswith(b"\n"):
        raise Fault("%s is cut in its last line" % name)
    return files[name].decode("utf-8").split("\n")[:-1]

def event_text(table, text, salts, erased, where):
    """The digested text of an event."""
    found, shown = members(text), []
    values = {name: (begin, end) for name, begin, end in found}
    if found[-1][0] == "erased":
        shown = json.loads(text[slice(*values["erased"])])
        is_list = isinstance(shown, list) and shown and all(
            isinstance(one, dict) and set(one) == {"pointer", "at", "reason"}
            and all(isinstance(part, str) for part in one.values()) for one in shown)
        text, shown = (text[: found[-2][2]] + "}", shown) if is_list else (text, [])
    order = lambda entries: sorted((one["pointer"], one["at"], one["reason"]) for one in entries)
    if order(shown) != order(erased.values()):
        raise Fault("%s: what it shows as erased is not what the erasures have" % where)
    rule = table["events"].get(json.loads(text[slice(*values["type"])]), table["unlisted"])
    return digested(text, spans(table, text, values["data"][0], rule, "/data"), salts, erased, where)

def frame_text(text, run_id, seq, where):
    """The frame text of a line, its kind, and where the payload begins in it."""
    frame, values = parse(text, where), {name: text[begin:end] for name, begin, end in members(text)}
    digits = sha256(("%s %d" % (run_id, seq)).encode()).hex()
    own = "-".join((digits[:8], digits[8:12], "8" + digits[13:16], "8" + digits[17:20], digits[20:32]))
    named = ",".join('"%s":%s' % (name, values[name]) for name in ("ts", "kind", "sourceName", "payload"))
    if text != '{"id":"%s","runId":"%s","seq":%d,%s,"createdAt":%s}' % (own, run_id, seq, named, values["ts"]):
        raise Fault("%s is not frame %d of the run" % (where, seq))
    before = "[%d,%s,%s,%s," % (seq, values["ts"], values["kind"], values["sourceName"])
    return before + values["payload"] + "]", frame["kind"], len(before)

def check_run(entry, files, table, keys, options, report):
    run_id, folder = entry["runId"], entry["folder"]
    at = lambda name: folder + name
    document = lambda name: parse(files[at(name)], at(name)) if at(name) in files else None
    lines = lambda name: lines_of(files, at(name), options) if at(name) in files else []
    events, heads, seal = lines("events.jsonl"), lines("heads.txt"), document("seal.json")
    is_two = seal.get("chain", 1) == 2 if seal else at("salts/events.jsonl") in files
    if not is_two and (at("salts/events.jsonl") in files or at("erasures.json") in files):
        raise Fault("%s: version 1 has no salts and no erasures" % at("seal.json"))
    if 1 + is_two < options.min_chain:
        raise Fault("%s: the chain is of version 1" % at("seal.json"))
    if (entry["events"], entry["sealed"]) != (len(events), seal is not None) or len(heads) != len(events):
        raise Fault("%s has %d events, the manifest %d" % (at("events.jsonl"), len(events), entry["events"]))
    salts = {group: [parse(line, at("salts/%s.jsonl" % group)) for line in lines("salts/%s.jsonl" % group)]
             for group in ("events", "frames")}
    if is_two and len(salts["events"]) != len(events):
        raise Fault("%s has %d lines for %d events" % (at("salts/events.jsonl"), len(salts["events"]), len(events)))
    erased = erasures_of(document("erasures.json"), run_id, keys, at("erasures.json"))
    head, contents, answers, gaps = sha256(("runplane-seal-v%d\n" % (1 + is_two) + run_id).encode()), {}, [], [0, 0, 0]
    for index, text in enumerate(events, 1):
        where = options.where = "%s, event %d" % (at("events.jsonl"), index)
        event = parse(text, where)
        if event.get("index") != index or event.get("runId") != run_id:
            raise Fault("%s: it is event %s of run %s" % (where, event.get("index"), event.get("runId")))
        own = erased.pop(("event", index), {})
        head = link(is_two, head, event_text(table, text, salts["events"][index - 1], own, where) if is_two else text)
        if heads[index - 1] != head.hex():
            raise Fault("%s: it does not fit the chain (%s)" % (where, at("heads.txt")))
        data = event["data"]
        if event["type"] == "artifact.created":
            contents[data.get("artifactId")] = (index, data.get("contentSha256"))
        gaps[0] += event["type"] == "session.stream.opened" and data.get("status") == "gap"
        gaps[1] += data.get("late") is True
        gaps[2] += data.get("attribution") == "assumed"
    if gaps != [entry["gaps"][kind] for kind in ("streamGaps", "lateSpans", "assumedAttributions")]:
        raise Fault("manifest.json: the gaps of run %s are not those of its events" % run_id)
    if seal:
        check_seal(seal, run_id, head.hex(), heads, keys, options, report, at("seal.json"))
    else:
        report.append("%s: the run has no seal" % (folder or run_id))
    check_frames(entry, files, table, salts, erased, seal, is_two, options, report)
    if erased:
        raise Fault("%s: it erases what is not there: %s %d" % ((at("erasures.json"),) + next(iter(erased))))
    if "entries" in (document("marks.json") or {}):
        check_marks(document("marks.json"), run_id, keys, at("marks.json"))
    for number, line in enumerate(lines("artifacts.jsonl"), 1):
        where = options.where = "%s, line %d" % (at("artifacts.jsonl"), number)
        artifact, values = parse(line, where), {name: line[begin:end] for name, begin, end in members(line)}
        answers += [line] * (artifact["kind"] == "people.answer")
        index, digest = contents.pop(artifact["id"], (None, None))
        if index is None:
            raise Fault("%s: no event has added this artifact" % where)
        if digest and "inline" in values and sha256(values["inline"].encode("utf-8")).hex() != digest:
            raise Fault("%s: its content is not that of event %d" % (where, index))
        if not digest and "inline" in values:
            report.append("%s: event %d has no hash of its content" % (where, index))
    if at("people.jsonl") in files and lines("people.jsonl") != answers:
        raise Fault("%s does not have the answers of artifacts.jsonl" % at("people.jsonl"))
    if contents and entry["storage"] == "database":
        raise Fault("%s lacks the artifact of event %d" % (at("artifacts.jsonl"), min(i for i, _ in contents.values())))

def check_seal(seal, run_id, head, heads, keys, options, report, where):
    if (seal["runId"], seal["events"], seal["head"]) != (run_id, len(heads), head):
        raise Fault("%s: it is a seal of other events" % where)
    before = seal["previous"]
    if before and (not 0 < before["events"] <= len(heads) or heads[before["events"] - 1] != before["head"]):
        raise Fault("%s: the earlier seal that it names is of other events" % where)
    keys.check({k: v for k, v in seal.items() if k != "signature"}, seal["signature"], where)
    doubts = ["it was made later, from stored events"] * bool(seal.get("late"))
    doubts += ["its key vouches for no event up to %s" % seal.get("provenAfter")] * bool(seal.get("provenAfter"))
    report.extend("%s: %s" % (where, doubt) for doubt in doubts)
    if doubts and not options.allow_unproven:
        raise Fault(report[-1] + " (--allow-unproven accepts it)")

def check_frames(entry, files, table, salts, erased, seal, is_two, options, report):
    run_id, name = entry["runId"], entry["folder"] + "frames.jsonl"
    if name not in files:
        report.append("%s is not in the bundle" % name)
        return
    lines, sealed = lines_of(files, name, options), (seal or {}).get("frames")
    if is_two and len(salts["frames"]) != len(lines) or entry["frames"] != len(lines):
        raise Fault("%s has %d frames, its salts %d" % (name, len(lines), len(salts["frames"])))
    head = sha256(("runplane-frames-v%d\n" % (1 + is_two) + run_id).encode())
    for seq, line in enumerate(lines, 1):
        where = options.where = "%s, frame %d" % (name, seq)
        text, kind, begin = frame_text(line, run_id, seq, where)
        own = erased.pop(("frame", seq), {})
        if own:
            report.append("%s: its bytes are erased: what the runtime sent stands by its event alone" % where)
        if is_two:
            found = spans(table, text, begin, table["frames"].get(kind, table["unlisted"]), "/payload")
            text = digested(text, found, salts["frames"][seq - 1], own, where)
        head = link(is_two, head, text) if sealed and sealed["after"] < seq <= sealed["last"] else head
    if sealed and (len(lines) < sealed["last"] or head.hex() != sealed["head"]):
        raise Fault("%s: its frames are not those of the seal" % name)
    if lines and (sealed is None or (sealed["after"], sealed["last"]) != (0, len(lines))):
        report.append("%s: the seal does not cover all frames" % name)

def check_marks(marks, run_id, keys, where):
    check_chain("runplane-marks-v1", run_id, marks, keys, where)
    deleted = {entry["id"] for entry in marks["entries"] if entry["action"] == "delete"}
    for entry in [entry for entry in marks["entries"] if entry["action"] == "add"]:
        digest = sha256(canonical(entry["content"]).encode("utf-8")).hex() if "content" in entry else None
        if digest != (None if entry["id"] in deleted else entry["contentSha256"]):
            raise Fault("%s: the content of entry %d is another, missing, or deleted" % (where, entry["position"]))

# --- The bundle
def check_bundle(data, given, options):
    """What the bundle does not prove, the keys that it was checked with, and its manifest. Raises a Fault."""
    files, options.where = read_zip(data), "manifest.json"
    try:
        return check_files(files, given, options, [])
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise Fault("%s: a member is missing or of another kind: %r" % (options.where, error)) from None

def check_files(files, given, options, report):
    manifest, signature = parse(files["manifest.json"], "manifest.json"), parse(files["manifest.sig"], "manifest.sig")
    if manifest.get("kind") != KIND or signature.get("kind") != KIND:
        raise Fault("manifest.json is of another kind than %s" % KIND)
    listed = {one["name"]: one for one in manifest["files"]}
    for name in sorted(set(listed) ^ (set(files) - set(UNSIGNED_FILES))):
        raise Fault("%s is %s" % (name, "missing" if name in listed else "not in the manifest"))
    for name, one in listed.items():
        if sha256(files[name]).hex() != one["sha256"] or len(files[name]) != one["bytes"]:
            raise Fault("%s is not the file of the manifest" % name)
    options.where = "keys.json" if given is None else "the keys"
    keys = Keys(parse(files["keys.json"], "keys.json") if given is None else given, options.where)
    shown = json.dumps(signature, indent=2) + "\n"
    if signature["sha256"] != sha256(files["manifest.json"]).hex() or files["manifest.sig"].decode() != shown:
        raise Fault("manifest.sig is not that of manifest.json")
    keys.check({k: v for k, v in signature.items() if k != "signature"}, signature["signature"], "manifest.sig")
    if sha256(files["erasable.json"]).hex() != TABLE_SHA256:
        raise Fault("erasable.json is not the table of version 2")
    table = parse(files["erasable.json"], "erasable.json")
    for entry in manifest["runs"]:
        check_run(entry, files, table, keys, options, report)
        report += check_answers(files, entry["folder"], canonical, Fault)
        for name in [entry["folder"] + name for name in entry["empty"] if files[entry["folder"] + name]]:
            raise Fault("%s is not empty, as the manifest claims" % name)
        report.extend("%s%s: %s" % (entry["folder"], one["what"], one["why"]) for one in entry["leftOut"])
    check_anchor(files, manifest, report)
    if keys.unsigned and keys.signed + len(keys.unknown):
        raise Fault("%s is not signed, and other parts are" % keys.unsigned[0])
    return report, keys, manifest

def check_anchor(files, manifest, report):
    """The time stamp is for openssl, whose authorities the auditor chooses."""
    stamp, none = files.get("anchor/manifest.tsr"), files.get("anchor/none.txt", b"").decode()
    if stamp is not None:
        if not manifest["anchor"] or b"\4\x20" + sha256(files["manifest.json"]) not in stamp:
            raise Fault("anchor/manifest.tsr is not a time stamp of manifest.json")
        report.append("when the bundle was made: openssl ts -verify -data manifest.json -in anchor/manifest.tsr "
                      "-CAfile CERTIFICATES checks the time stamp of " + manifest["anchor"]["authority"])
    elif not none.startswith("none: ") or not (manifest["anchor"] or none == NO_ANCHOR):
        raise Fault("anchor/none.txt does not say why there is no time stamp")
    else:
        report.append("when the bundle was made: anchor/none.txt says " + none.strip())

def say(code, *lines):
    """Prints lines without control characters, which a bundle could have to forge others."""
    print("\n".join("".join(letter if letter.isprintable() else "?" for letter in line) for line in lines))
    return code

def main():
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("bundle")
    about.add_argument("--keys", help="a saved copy of /.well-known/runplane-keys.json")
    about.add_argument("--min-chain", type=int, choices=(1, 2), default=1, help="refuse runs of an earlier chain")
    about.add_argument("--allow-unproven", action="store_true", help="accept seals that do not vouch for all events")
    options = about.parse_args()
    try:
        given = json.loads(Path(options.keys).read_bytes()) if options.keys else None
        report, keys, manifest = check_bundle(Path(options.bundle).read_bytes(), given, options)
    except (OSError, json.JSONDecodeError) as error:
        return say(2, "cannot read: %s" % error)
    except Fault as fault:
        return say(1, "REFUSED  %s" % fault)
    events = sum(run["events"] for run in manifest["runs"])
    say(0, "runs: %d, events: %d, made at %s" % (len(manifest["runs"]), events, manifest["madeAt"]), "", "Not proven")
    is_signed = keys.signed + len(keys.unknown) > 0
    if not is_signed or given is None:
        report.insert(0, "who wrote it: the only keys are those of the bundle itself; use --keys" if is_signed else
                      "who wrote it: nothing is signed, so this shows accidents, and no intended change")
    report += ["receipt.jws and the time stamp of anchor/: this program checks no signatures of others",
               "documents beside the log (why, forecast, oversight, policy, audit, alerts and others): "
               "the signature of the manifest proves that the service made them, not that they are right"]
    say(0, *("  - " + line for line in report), "")
    strangers = keys.unknown + [name + " is not signed" for name in keys.unsigned]
    if given is not None and strangers:
        return say(1, "REFUSED  %s" % strangers[0])
    verdict = "VALID" if is_signed else "VALID  not signed"
    return say(6, "NOT PROVEN  no change was found") if given is None and is_signed else say(0, verdict)

if __name__ == "__main__":
    sys.exit(main())
