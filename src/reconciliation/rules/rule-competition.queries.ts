// Gathers what competes with what, as far as rules reach: lines by what is expected, and that by lines.
import { opaqueAccountId, type Tx } from '../../database.service.js';
import { isOpen, wordsOf, type Reach, type RuledExpected, type RuledLine } from './rule.js';
import {
  listCompeting,
  listExpected,
  noKeys,
  type CompetingLine,
} from './rule-candidates.queries.js';

export interface Competition {
  lines: Map<bigint, CompetingLine>;
  expected: Map<string, RuledExpected>;
}

export interface Beginning {
  /** Of the batch that is judged. */
  lines: CompetingLine[];
  /** Of lines that stand, or that a rule explains provisionally. */
  nsus: bigint[];
  expectedPaymentIds: string[];
}

/**
 * All that has to do with what it begins with, however far round: through lines that match rules are about and what is
 * open, and through what rules have matched.
 */
export async function gatherCompetition(
  tx: Tx,
  accountId: number,
  begin: Beginning,
  reach: Reach,
): Promise<Competition> {
  const found: Competition = { lines: new Map(), expected: new Map() };
  const ofLines = { documents: new Set<string>(), names: new Set<string>() };
  const ofExpected = { documents: new Set<string>(), names: new Set<string>() };
  const standing = await listCompeting(tx, accountId, { ...noKeys, nsus: begin.nsus });
  let lines = addTo(found.lines, [...begin.lines, ...standing], ({ nsu }) => nsu);
  let asked = begin.expectedPaymentIds;
  while (lines.length > 0 || asked.length > 0) {
    const ruled = lines.filter(reach.isAbout);
    const paidNow = await listPaidBy(tx, accountId, lines);
    const expected = await listExpected(tx, accountId, {
      ...noKeys,
      documents: reach.byDocument ? unasked(ofLines.documents, ruled.map(documentOf)) : [],
      names: reach.byNotes ? unasked(ofLines.names, ruled.flatMap(wordsOfLine)) : [],
      expectedPaymentIds: [...asked, ...paidNow],
    });
    const fresh = addTo(found.expected, expected, idOf);
    asked = [];
    if (fresh.length === 0) break;
    const open = fresh.filter(isOpen);
    const more = await listCompeting(tx, accountId, {
      nsus: [],
      documents: reach.byDocument ? unasked(ofExpected.documents, open.map(documentOf)) : [],
      names: reach.byNotes ? unasked(ofExpected.names, open.flatMap(namesOf)) : [],
      expectedPaymentIds: fresh.map(idOf),
    });
    const competing = more.filter((line) => line.standing === null || reach.isAbout(line));
    lines = addTo(found.lines, competing, ({ nsu }) => nsu);
  }
  return found;
}

const wordsOfLine = ({ notes }: RuledLine) => wordsOf(notes);
const namesOf = ({ names }: RuledExpected) => names;
const documentOf = (one: { counterpartyDocument: string | null }) => one.counterpartyDocument;
const idOf = ({ expectedPaymentId }: RuledExpected) => expectedPaymentId;

/** Those that were not known. */
function addTo<Key, Value>(known: Map<Key, Value>, values: Value[], keyOf: (value: Value) => Key) {
  const fresh = values.filter((value) => !known.has(keyOf(value)));
  for (const value of fresh) known.set(keyOf(value), value);
  return fresh;
}

/** Those that have not been asked for; they count as asked from now on. */
function unasked(asked: Set<string>, keys: (string | null)[]): string[] {
  const fresh = new Set(keys.filter((key) => key !== null && !asked.has(key)) as string[]);
  for (const key of fresh) asked.add(key);
  return [...fresh];
}

async function listPaidBy(tx: Tx, accountId: number, lines: RuledLine[]): Promise<string[]> {
  if (lines.length === 0) return [];
  const nsus = lines.map(({ nsu }) => nsu);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT expected_payment_id AS id FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[]) AND rule = 'declared' AND unlinked_at IS NULL`;
  return rows.map(({ id }) => id);
}
