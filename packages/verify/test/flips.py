"""Changes single bits of a bundle and expects verify.py to find each, and to name the file:

    python3 flips.py BUNDLE KEYS COUNT [--resealed]

With --resealed each change is one of a forger who writes the zip and the manifest again, and whose manifest passes as
signed: then the proofs of the run itself find it."""
import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent))
import verify

OPTIONS = SimpleNamespace(min_chain=1, allow_unproven=False, where="")
# What the seal, the marks and the erasures prove; the manifest's signature alone proves the other documents.
PROVEN = ("events.jsonl", "heads.txt", "seal.json", "frames.jsonl", "erasures.json", "marks.json", "people.jsonl",
          "salts/events.jsonl", "salts/frames.jsonl", "erasable.json")


def zip_of(files):
    data, directory = b"", b""
    for name in sorted(files):
        content = files[name]
        crc = verify.binascii.crc32(content)
        directory += verify.central(name, crc, len(content), len(data))
        data += verify.local(name, crc, len(content)) + content
    count, begin = len(files), len(data)
    end = verify.struct.pack("<4H2IH", 0, 0, count, count, len(directory), begin, 0)
    return data + directory + b"PK\5\6" + end


def resealed(files, name, content):
    files = {**files, name: content}
    manifest = json.loads(files["manifest.json"])
    for one in manifest["files"]:
        one.update(bytes=len(files[one["name"]]), sha256=verify.sha256(files[one["name"]]).hex())
    files["manifest.json"] = json.dumps(manifest).encode()
    signature = json.loads(files["manifest.sig"])
    signature["sha256"] = verify.sha256(files["manifest.json"]).hex()
    files["manifest.sig"] = (json.dumps(signature, indent=2) + "\n").encode()
    return zip_of(files)


def is_unused(files, name, at):
    """Whether a position is in the seed of an event or frame without erasable members: its chain uses no salt."""
    folder, _, group = name.rpartition("salts/")
    if name == folder + group or not group:
        return False
    table, number = json.loads(files["erasable.json"]), files[name][:at].count(b"\n")
    text = files[folder + group].decode().split("\n")[number]
    member, kind, root = ("data", "type", "/data") if group == "events.jsonl" else ("payload", "kind", "/payload")
    values = {one: begin for one, begin, _ in verify.members(text)}
    rule = table[group[:6]].get(json.loads(text)[kind], table["unlisted"])
    return not verify.spans(table, text, values[member], rule, root)


def changes(data, count, is_resealed):
    """The changed bundles, each with the file that must be named."""
    files, chance = verify.read_zip(data), random.Random(1)
    if is_resealed:
        original, check = verify.Keys.check, lambda self, signed, signature, where: (
            None if where == "manifest.sig" else original(self, signed, signature, where))
        verify.Keys.check = check
        proven = [name for name in files if name.rpartition("-")[2].partition("/")[2] in PROVEN or name in PROVEN]
        for _ in range(count):
            while True:
                name = chance.choice([name for name in proven if files[name]])
                changed = bytearray(files[name])
                at = chance.randrange(len(changed))
                if not is_unused(files, name, at):
                    break
            changed[at] ^= 1 << chance.randrange(8)
            yield resealed(files, name, bytes(changed)), "%s at %d: %r" % (name, at, bytes(changed[max(0, at - 20) : at + 20]))
        return
    for _ in range(count):
        at = chance.randrange(len(data))
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(8)
        yield bytes(changed), at


def main():
    bundle, keys, count = sys.argv[1:4]
    data, given = Path(bundle).read_bytes(), json.loads(Path(keys).read_bytes())
    verify.check_bundle(data, given, OPTIONS)
    missed = unnamed = 0
    names = list(verify.read_zip(data))
    for changed, at in changes(data, int(count), "--resealed" in sys.argv):
        try:
            if not verify.check_bundle(changed, given, OPTIONS)[1].unknown:
                missed += 1
                print("missed: %s" % at)
        except OSError as error:
            # The first four bytes: it is not a zip any more.
            unnamed += "no stored zip" not in str(error)
        except verify.Fault as fault:
            named = any(name in str(fault) for name in names)
            unnamed += not named
            if not named:
                print("unnamed: %s: %s" % (at, fault))
    print("%s changes, %d missed, %d without the name of a file" % (count, missed, unnamed))
    sys.exit(missed + unnamed > 0)


if __name__ == "__main__":
    main()
