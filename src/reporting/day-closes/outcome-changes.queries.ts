// The changes of certified outcomes that a certificate lists: their number, the root of a Merkle
// tree over all of them, and the first of them. A rule may change many at once: the text of a
// certificate stays short, and its root proves the whole list.
import type { Db } from '../../platform/postgres/database.service.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import { leafHashOf, MerkleTree } from '../../platform/merkle-tree.js';
import type { Certificate } from './certificate.js';
import { listOutcomeChanges, type ChangeRange, type OutcomeChange } from './outcomes.queries.js';

const pageLength = 2_000;
/** The certificate itself contains at most as many; the list of all is read from the API. */
const maxListed = 1_000;

type ListedChange = Certificate['outcomeChanges']['first'][number];

function describeChange({ nsu, formerLeaf, leaf }: OutcomeChange): ListedChange {
  return { nsu: nsu.toString(), formerLeaf, leaf };
}

export async function readOutcomeChanges(
  db: Db,
  range: ChangeRange | null,
): Promise<Certificate['outcomeChanges']> {
  const tree = new MerkleTree();
  const first: ListedChange[] = [];
  let count = 0;
  for (let last: OutcomeChange | null = null, isMore = range !== null; range && isMore;) {
    const page: OutcomeChange[] = await listOutcomeChanges(db, range, last, pageLength);
    for (const change of page.map(describeChange)) {
      tree.add(leafHashOf(toCanonicalJson(change)));
      if (first.length < maxListed) first.push(change);
    }
    count += page.length;
    last = page.at(-1) ?? last;
    isMore = page.length === pageLength;
  }
  return { count, root: tree.root().toString('hex'), first };
}
