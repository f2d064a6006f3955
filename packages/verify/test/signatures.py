"""Checks passkeys.py on the signatures of RFC 6979, A.2.5, and on each change of a single bit of one."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent))
import passkeys

KEY = bytes.fromhex(
    "a5010203262001215820"
    "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    "225820"
    "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
)
SIGNATURES = {
    b"sample": (
        0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
        0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    ),
    b"test": (
        0xF1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367,
        0x019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083,
    ),
}


def is_refused(key, message, signature):
    try:
        return not passkeys.es256(key, message, signature)
    except ValueError:
        return True


def flips(data):
    for at in range(8 * len(data)):
        changed = bytearray(data)
        changed[at // 8] ^= 1 << at % 8
        yield bytes(changed)


def main():
    for message, values in SIGNATURES.items():
        assert passkeys.es256(KEY, message, passkeys.der(*values)), message
    signature = passkeys.der(*SIGNATURES[b"sample"])
    assert all(is_refused(KEY, b"sample", one) for one in flips(signature))
    assert all(is_refused(KEY, one, signature) for one in flips(b"sample"))
    assert all(is_refused(one, b"sample", signature) for one in flips(KEY))
    for r, s in ((0, 1), (1, 0), (passkeys.N, 1), (1, passkeys.N), (1, 1)):
        assert is_refused(KEY, b"sample", passkeys.der(r, s)), (r, s)
    for signature in (b"", b"0", b"\x30\x06\x02\x01\x01\x02\x01\x01\x00", passkeys.der(*SIGNATURES[b"test"]) + b"\0"):
        assert is_refused(KEY, b"test", signature), signature


main()
