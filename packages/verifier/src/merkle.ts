// The hashes of RFC 9162, section 2.1, and of certificates, all with SHA-256.
import { createHash } from 'node:crypto';

export function sha256(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** A leaf is the hash of a byte 00 and its text. */
const leafOf = (text: string): Buffer => sha256(Uint8Array.of(0), text);

/** A node is the hash of a byte 01 and its two children. */
const nodeOf = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);

/** Leaves are added one at a time; the root is of those so far, in hexadecimal. */
export class Tree {
  count = 0;
  /** The roots of complete subtrees, from left to right: one for each binary digit 1 of `count`. */
  private readonly roots: Uint8Array[] = [];

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text);
  }

  /** Returns the number of leaves. */
  add(text: string): number {
    let root: Uint8Array = leafOf(text);
    for (let rest = this.count; rest % 2 === 1; rest = (rest - 1) / 2)
      root = nodeOf(this.roots.pop()!, root);
    this.roots.push(root);
    return (this.count += 1);
  }

  root(): string {
    if (this.count === 0) return sha256('').toString('hex');
    const root = this.roots.reduceRight((right, left) => nodeOf(left, right));
    return Buffer.from(root).toString('hex');
  }
}

export type ProvenLeaf = { text: string; index: number; path: readonly string[] };

/** Whether the leaf of `text` is the one at `index` of `count` below the root. */
export function isIncluded(leaf: ProvenLeaf, count: number, root: string): boolean {
  let [node, last, hash] = [leaf.index, count - 1, leafOf(leaf.text)];
  if (node < 0 || node > last) return false;
  for (const sibling of leaf.path) {
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
