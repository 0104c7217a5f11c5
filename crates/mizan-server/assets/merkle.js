// Merkle trees of RFC 6962: roots from proofs, with the browser's own SHA-256.

export const isHash = (text) => /^[0-9a-f]{64}$/.test(text);

function bytes(hex) {
  return Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));
}

function hex(buffer) {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The hash of an inner node: SHA-256(0x01 ‖ left ‖ right). */
export async function inner(left, right) {
  const data = new Uint8Array(65);
  data[0] = 1;
  data.set(bytes(left), 1);
  data.set(bytes(right), 33);
  return hex(await crypto.subtle.digest('SHA-256', data));
}

/**
 * The root that an inclusion proof leads to (RFC 9162, 2.1.3.2), or null where the
 * proof has not the form that this position and size ask for.
 */
export async function rootOf(position, size, leaf, path) {
  let [at, last] = [BigInt(position), BigInt(size) - 1n];
  if (at > last || ![leaf, ...path].every(isHash)) return null;
  let root = leaf;
  for (const sibling of path) {
    if (last === 0n) return null;
    if (at % 2n === 1n || at === last) {
      root = await inner(sibling, root);
      while (at % 2n === 0n && at !== 0n) { at /= 2n; last /= 2n; }
    } else {
      root = await inner(root, sibling);
    }
    at /= 2n;
    last /= 2n;
  }
  return last === 0n ? root : null;
}

/** Whether a log extends an earlier one (RFC 9162, 2.1.4.2). */
export async function extendsLog(before, after, path) {
  const [size1, size2] = [BigInt(before.size), BigInt(after.size)];
  if (size1 > size2 || size1 === 0n || ![before.root, after.root, ...path].every(isHash)) return false;
  if (size1 === size2) return path.length === 0 && before.root === after.root;
  const proof = (size1 & (size1 - 1n)) === 0n ? [before.root, ...path] : [...path];
  if (proof.length === 0) return false;
  let [at, last] = [size1 - 1n, size2 - 1n];
  while (at % 2n === 1n) { at /= 2n; last /= 2n; }
  let [root1, root2] = [proof[0], proof[0]];
  for (const hash of proof.slice(1)) {
    if (last === 0n) return false;
    if (at % 2n === 1n || at === last) {
      root1 = await inner(hash, root1);
      root2 = await inner(hash, root2);
      while (at % 2n === 0n && at !== 0n) { at /= 2n; last /= 2n; }
    } else {
      root2 = await inner(root2, hash);
    }
    at /= 2n;
    last /= 2n;
  }
  return last === 0n && root1 === before.root && root2 === after.root;
}
