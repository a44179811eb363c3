// The Merkle tree of RFC 9162, section 2.1, with SHA-256. Leaves are added one at a time, and only
// the roots of complete subtrees are held: memory grows with the logarithm of their number.
import { createHash, hash } from 'node:crypto';

const leafPrefix = Buffer.of(0x00);
const nodePrefix = Buffer.of(0x01);
const hashBytes = 32;

export function leafHashOf(data: string | Uint8Array): Buffer;
export function leafHashOf(data: string, encoding: 'hex'): string;
export function leafHashOf(data: string | Uint8Array, encoding?: 'hex'): Buffer | string {
  // A text is hashed in one call: there is one for each line.
  if (typeof data === 'string') return hash('sha256', `\0${data}`, encoding ?? 'buffer');
  return createHash('sha256').update(leafPrefix).update(data).digest();
}

function nodeHashOf(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update(nodePrefix).update(left).update(right).digest();
}

export class MerkleTree {
  /** The roots of complete subtrees from left to right, with their heights, which descend. */
  private readonly subtrees: { height: number; root: Uint8Array }[] = [];

  /** The tree of so many leaves, by the roots of its complete subtrees. */
  static of(count: bigint, roots: Uint8Array): MerkleTree {
    const tree = new MerkleTree();
    // Each is a one among the binary digits of the count.
    const digits = count.toString(2);
    let at = 0;
    for (let place = 0; place < digits.length; place += 1)
      if (digits[place] === '1') {
        const root = roots.subarray(at, (at += hashBytes));
        tree.subtrees.push({ height: digits.length - 1 - place, root });
      }
    return tree;
  }

  /** The roots of its complete subtrees, from left to right. */
  subtreeRoots(): Buffer<ArrayBuffer> {
    return Buffer.concat(this.subtrees.map(({ root }) => root));
  }

  /**
   * Adds the next leaf, or the next subtree of 2^height leaves. Subtrees have one height; only the
   * last one may have fewer leaves.
   */
  add(root: Uint8Array, height = 0): void {
    let subtree = { height, root };
    for (let last = this.subtrees.at(-1); last?.height === subtree.height;) {
      this.subtrees.pop();
      subtree = { height: subtree.height + 1, root: nodeHashOf(last.root, subtree.root) };
      last = this.subtrees.at(-1);
    }
    this.subtrees.push(subtree);
  }

  /** The root over no leaves is the hash of an empty text. */
  root(): Buffer {
    const [last, ...others] = this.subtrees.map(({ root }) => root).reverse();
    if (!last) return createHash('sha256').digest();
    return Buffer.from(others.reduce((right, left) => nodeHashOf(left, right), last));
  }
}

/** The siblings from the leaf up to the root (RFC 9162, section 2.1.3.1). */
export function inclusionPath(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (leaves.length < 2) return [];
  const split = 2 ** (31 - Math.clz32(leaves.length - 1));
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionPath(left, index), rootOf(right)]
    : [...inclusionPath(right, index - split), rootOf(left)];
}

function rootOf(leaves: readonly Uint8Array[]): Buffer {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
}
