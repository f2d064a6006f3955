"""Checks passkeys.py on the signatures of RFC 6979, A.2.5, and of OpenSSL, and on each change of a single bit of one."""
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

RSA_HEAD, RSA_TAIL = bytes.fromhex("a401030339010020590100"), bytes.fromhex("2143010001")
# Made by OpenSSL over "sample".
MODULUS = bytes.fromhex(
    "cb426ff78116342adb843247daebe9557f78021211800cf6dbe3104e0c7f380e939e518a79f7aa1e57a011b9df0336a6"
    "b6550f81c01af05e58881808bd0c72df0340adbca454a1550d24edb10a340b80619deabaa5fb72d93c43785c7182d4ef"
    "9422249562ff55977851279e5296917dde0e688343f09d99d02cf3250dd1dfa9a8c234d1a65e17c2f19a55032b971c0e"
    "278ff9c515d0e3861238d11ae1d0eafed0bc87254a74f6dea5bf72adb7cabbd16afae97feae6abd0b16874f4f956a210"
    "72875566982231e921c7c7b83c348cc4a6ff50d665da80e09e1d4aceeabd34ff1417f083d0008c9782ff865c4921c417"
    "4beaed86d8fcc0063859ee1ed77f1d6b"
)
RSA_SIGNATURE = bytes.fromhex(
    "ba675f0a32b109ce7771e93359aaa2dba0bb8ae51a485d2ee26b1abb996fed1be2e75396d17d835035b3e32fef79437a"
    "03314c551b45a0589f9a9d2b50609634dee0099abf976e2c1c91a916046953cf424f30c3b824e9aa81d148f22699e095"
    "d4f3370efcbd44e4c410d012ca62029fa643d37cd98b2165643fe9266030dae6ea778facc8cd2897a7e3949472cf1922"
    "c17fe7530b613f5fc5506668bce79afa1a96b02b8d0daf4fae969f9e08c1f18bf4ca7eab07c64ee410baf7a3399d5e58"
    "f567f9faaefd28e97c58a13e1f102c295dd51ff1a093f2768b9fd0d898a8289207bd9e55e4cd8befc0f074e139cf9927"
    "83060d40da6b230b2a5bb0e2b3ec8008"
)
RSA_KEY = RSA_HEAD + MODULUS + RSA_TAIL


def is_refused(key, message, signature):
    try:
        return not passkeys.is_signature(key, message, signature)
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
    assert passkeys.is_signature(RSA_KEY, b"sample", RSA_SIGNATURE)
    assert all(is_refused(RSA_KEY, b"sample", one) for one in flips(RSA_SIGNATURE))
    assert all(is_refused(RSA_KEY, one, RSA_SIGNATURE) for one in flips(b"sample"))
    assert all(is_refused(one, b"sample", RSA_SIGNATURE) for one in flips(RSA_KEY))
    # A number that is the same for the modulus, and a signature that is not as long as it.
    larger = int.from_bytes(RSA_SIGNATURE, "big") + int.from_bytes(MODULUS, "big")
    for signature in (b"", b"\0" + RSA_SIGNATURE, RSA_SIGNATURE[1:], RSA_SIGNATURE + b"\0", larger.to_bytes(257, "big")):
        assert is_refused(RSA_KEY, b"sample", signature), signature
    for key in (RSA_HEAD + MODULUS[:128] + RSA_TAIL, RSA_HEAD + MODULUS + bytes.fromhex("2143000003"), RSA_HEAD, b""):
        assert is_refused(key, b"sample", RSA_SIGNATURE), key


main()
