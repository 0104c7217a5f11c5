"""Merkle trees of RFC 6962 once more, written after its definitions: an oracle for the
script of the pages, which follows the algorithms of RFC 9162."""

import hashlib


def leaf(data):
    return hashlib.sha256(b"\0" + data).digest()


def root(leaves):
    """MTH."""
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\1" + root(leaves[:k]) + root(leaves[k:])).digest()


def inclusion(position, leaves):
    """PATH."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if position < k:
        return inclusion(position, leaves[:k]) + [root(leaves[k:])]
    return inclusion(position - k, leaves[k:]) + [root(leaves[:k])]


def consistency(before, leaves, whole=True):
    """SUBPROOF."""
    if before == len(leaves):
        return [] if whole else [root(leaves)]
    k = split(len(leaves))
    if before <= k:
        return consistency(before, leaves[:k], whole) + [root(leaves[k:])]
    return consistency(before - k, leaves[k:], False) + [root(leaves[:k])]


def split(size):
    """The largest power of two below it."""
    return 1 << (size - 1).bit_length() - 1


def cases(most=17):
    """Every position and every earlier size of small trees, as the script takes them."""
    found = {"inclusion": [], "consistency": []}
    for size in range(1, most + 1):
        leaves = [leaf(bytes([n])) for n in range(size)]
        top = root(leaves).hex()
        for n in range(size):
            path = [hash.hex() for hash in inclusion(n, leaves)]
            found["inclusion"].append([n, size, leaves[n].hex(), path, top])
        for n in range(1, size + 1):
            path = [hash.hex() for hash in consistency(n, leaves)]
            found["consistency"].append([{"size": n, "root": root(leaves[:n]).hex()}, {"size": size, "root": top}, path])
    return found
