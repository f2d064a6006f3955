"""Checks all bundles of a folder with these keys: python3 many.py FOLDER KEYS. The name of a bad one ends with .bad.zip,
and must be refused."""
import json
import sys
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent))
import verify


def verdict(file, given):
    try:
        _, keys, _ = verify.check_bundle(file.read_bytes(), given, SimpleNamespace(min_chain=1, allow_unproven=False))
        return "%s" % keys.unknown if keys.unknown else None
    except (verify.Fault, OSError) as fault:
        return str(fault)


def main():
    folder, given = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes())
    files, wrong = sorted(folder.glob("*.zip")), 0
    for file in files:
        refused = verdict(file, given)
        if (refused is not None) != file.name.endswith(".bad.zip"):
            wrong += 1
            print("%s: %s" % (file.name, refused or "was accepted"))
    print("%d bundles, %d with a wrong verdict" % (len(files), wrong))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
