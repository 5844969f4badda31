"""The 10,000 keys that both clients hash; `Keys.java` documents the same recipe."""

MASK = (1 << 64) - 1
COUNT = 10_000
SEED = 42
LETTERS = ["ä", "ß", "é", "Ω", "Ж", "漢", "字", "🙂"]


class SplitMix64:
    """The generator behind every seeded input."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def below(self, bound):
        return self.next() % bound


def keys():
    random = SplitMix64(SEED)
    return [key(i, random) for i in range(COUNT)]


def key(i, random):
    if i % 500 == 499:
        return b"".join(random.next().to_bytes(8, "big") for _ in range(128))
    if i % 500 == 498:
        return b""
    match i % 5:
        case 0:
            return f"user-{i}".encode()
        case 1:
            return bytes(33 + random.below(94) for _ in range(1 + random.below(32)))
        case 2:
            letters = [LETTERS[random.below(8)] for _ in range(1 + random.below(16))]
            return "".join(letters).encode()
        case 3:
            return (random.next() & 0xFFFFFFFF).to_bytes(4, "big")
        case _:
            return random.next().to_bytes(8, "big")


def digest(data):
    """FNV-1a, 64 bits, of an iterable of bytes."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return f"{value:016x}"


def keys_digest(found):
    """Over each key's length (4 bytes, highest first) and bytes."""
    return digest(b"".join(len(key).to_bytes(4, "big") + key for key in found))
