// The hashes of RFC 9162, section 2.1, and of certificates, all with SHA-256.
import { createHash } from 'node:crypto';

export function sha256(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** A leaf is the hash of a byte 00 and its text. */
export const leafOf = (text: string): Buffer => sha256(Uint8Array.of(0), text);

/** A node is the hash of a byte 01 and its two children. */
const nodeOf = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);

/** In hexadecimal. The left subtree of n leaves has the largest power of two below n. */
export function rootOf(leaves: readonly Uint8Array[]): string {
  const root = (from: number, until: number): Uint8Array => {
    const count = until - from;
    if (count === 1) return leaves[from]!;
    let left = 1;
    while (left * 2 < count) left *= 2;
    return nodeOf(root(from, from + left), root(from + left, until));
  };
  return Buffer.from(leaves.length === 0 ? sha256('') : root(0, leaves.length)).toString('hex');
}

/** Whether the leaf of `text` is the one at `index` of `count` below the root. */
export function isIncluded(
  { text, index, path }: { text: string; index: number; path: readonly string[] },
  count: number,
  root: string,
): boolean {
  let [node, last, hash] = [index, count - 1, leafOf(text)];
  if (index < 0 || index > last) return false;
  for (const sibling of path) {
    if (last === 0) return false;
    const other = Buffer.from(sibling, 'hex');
    if (node % 2 === 1 || node === last) {
      hash = nodeOf(other, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else hash = nodeOf(hash, other);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.toString('hex') === root;
}
