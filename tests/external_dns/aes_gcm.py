"""AES-256-GCM decryption in plain Python, for test vectors only: slow, and not safe against timing.

Written from FIPS 197 and NIST SP 800-38D. Standard library only, Python 3.11.
"""


def _xtime(a):
    return (a << 1 ^ 0x11B) & 0xFF if a & 0x80 else a << 1


def _gmul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a, b = _xtime(a), b >> 1
    return r


def _make_sbox():
    box = [0] * 256
    for x in range(256):
        inv = next((y for y in range(256) if _gmul(x, y) == 1), 0)
        s = 0x63
        for shift in range(5):
            s ^= (inv << shift | inv >> (8 - shift)) & 0xFF
        box[x] = s
    return box


SBOX = _make_sbox()


def _round_keys(key):
    words = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    rcon = 1
    for i in range(8, 60):
        w = list(words[-1])
        if i % 8 == 0:
            w = [SBOX[b] for b in w[1:] + w[:1]]
            w[0] ^= rcon
            rcon = _xtime(rcon)
        elif i % 8 == 4:
            w = [SBOX[b] for b in w]
        words.append([a ^ b for a, b in zip(words[-8], w)])
    return [sum(words[r * 4:r * 4 + 4], []) for r in range(15)]


def _encrypt_block(keys, block):
    s = [a ^ b for a, b in zip(block, keys[0])]
    for r in range(1, 15):
        s = [SBOX[s[(c + row) % 4 * 4 + row]] for c in range(4) for row in range(4)]
        if r < 14:
            out = []
            for c in range(4):
                a = s[c * 4:c * 4 + 4]
                for i in range(4):
                    out.append(_gmul(a[i], 2) ^ _gmul(a[(i + 1) % 4], 3) ^ a[(i + 2) % 4] ^ a[(i + 3) % 4])
            s = out
        s = [a ^ b for a, b in zip(s, keys[r])]
    return bytes(s)


def _ghash_mul(x, y):
    z = 0
    for i in range(127, -1, -1):
        if x >> i & 1:
            z ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return z


def decrypt(key, nonce, sealed):
    """The plain octets. Raises ValueError if the tag (the last 16 octets) does not fit."""
    if len(key) != 32 or len(nonce) != 12 or len(sealed) < 16:
        raise ValueError("wrong length of key, nonce or text")
    keys = _round_keys(key)
    data, tag = sealed[:-16], sealed[-16:]
    h = int.from_bytes(_encrypt_block(keys, bytes(16)))
    acc = 0
    for i in range(0, len(data), 16):
        acc = _ghash_mul(acc ^ int.from_bytes(data[i:i + 16].ljust(16, b"\0")), h)
    acc = _ghash_mul(acc ^ len(data) * 8, h)
    mask = int.from_bytes(_encrypt_block(keys, nonce + (1).to_bytes(4)))
    if (acc ^ mask).to_bytes(16) != tag:
        raise ValueError("the tag does not fit")
    plain = bytearray()
    for n, i in enumerate(range(0, len(data), 16)):
        stream = _encrypt_block(keys, nonce + (n + 2).to_bytes(4))
        plain += bytes(a ^ b for a, b in zip(data[i:i + 16], stream))
    return bytes(plain)
