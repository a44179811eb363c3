import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { leafHashOf, MerkleTree } from './merkle-tree.js';

/** The leaves and roots that the reference implementation of Certificate Transparency publishes. */
const publishedLeaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const publishedRoots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const hash = (...parts: (string | Buffer)[]) =>
  createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();

/** The definition of RFC 9162, section 2.1.1, word for word. */
function rootByDefinition(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return hash();
  if (leaves.length === 1) return hash(Buffer.of(0), leaves[0] as Buffer);
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)].map(rootByDefinition);
  return hash(Buffer.of(1), left as Buffer, right as Buffer);
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`));

function rootOf(leaves: Buffer[]): string {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.add(leafHashOf(leaf));
  return tree.root().toString('hex');
}

describe('a Merkle tree', () => {
  it('has the published root over each number of the published leaves', () => {
    const leaves = publishedLeaves.map((hex) => Buffer.from(hex, 'hex'));
    expect(publishedRoots.map((_, count) => rootOf(leaves.slice(0, count)))).toEqual(
      publishedRoots,
    );
  });

  it('is the tree of seven leaves that RFC 9162 draws in section 2.1.5', () => {
    const [d0, d1, d2, d3, d4, d5, d6] = numbered(7).map((leaf) => hash(Buffer.of(0), leaf));
    const node = (left?: Buffer, right?: Buffer) => hash(Buffer.of(1), left!, right!);
    const [g, h, i] = [node(d0, d1), node(d2, d3), node(d4, d5)];
    const [k, l] = [node(g, h), node(i, d6)];
    expect(rootOf(numbered(7))).toBe(node(k, l).toString('hex'));
  });

  it('has the root of the definition for any number of leaves', () => {
    for (let count = 0; count <= 70; count += 1)
      expect(rootOf(numbered(count))).toBe(rootByDefinition(numbered(count)).toString('hex'));
  });

  it('has the same root when it is built from subtrees', () => {
    const height = 3;
    for (let count = 1; count <= 70; count += 1) {
      const tree = new MerkleTree();
      for (let from = 0; from < count; from += 2 ** height)
        tree.add(rootByDefinition(numbered(count).slice(from, from + 2 ** height)), height);
      expect(tree.root().toString('hex')).toBe(rootOf(numbered(count)));
    }
  });

  it('distinguishes a leaf from a node, and orders', () => {
    const [a, b] = numbered(2) as [Buffer, Buffer];
    const node = Buffer.concat([leafHashOf(a), leafHashOf(b)]);
    expect(rootOf([node])).not.toBe(rootOf([a, b]));
    expect(rootOf([b, a])).not.toBe(rootOf([a, b]));
  });
});
