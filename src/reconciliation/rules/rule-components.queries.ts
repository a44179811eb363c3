// Loads the lines and expected payments that compete with each other by the match rules.
import { opaqueAccountId, type Tx } from '../../database.service.js';
import {
  isOpen,
  findPossibleIds,
  type Reach,
  type RuleExpectedPayment,
  type RuleLine,
} from './rule.js';
import {
  listComponentLines,
  listRuleExpectedPayments,
  noKeys,
  type CompetingLine,
} from './rule-candidates.queries.js';

export interface RuleComponent {
  lines: Map<bigint, CompetingLine>;
  expected: Map<string, RuleExpectedPayment>;
}

export interface ComponentStart {
  /** Lines of the batch in progress. */
  lines: CompetingLine[];
  /** Lines in breaks, or matched provisionally by a rule. */
  nsus: bigint[];
  expectedPaymentIds: string[];
}

/**
 * Loads everything connected with the start, directly or indirectly: through lines that match
 * rules cover, through open expected payments, and through matches that rules have made.
 */
export async function loadRuleComponent(
  tx: Tx,
  accountId: number,
  start: ComponentStart,
  reach: Reach,
): Promise<RuleComponent> {
  const found: RuleComponent = { lines: new Map(), expected: new Map() };
  const ofLines = { documents: new Set<string>(), referenceValues: new Set<string>() };
  const ofExpected = { documents: new Set<string>(), referenceValues: new Set<string>() };
  const recorded = await listComponentLines(tx, accountId, { ...noKeys, nsus: start.nsus });
  let lines = addTo(found.lines, [...start.lines, ...recorded], ({ nsu }) => nsu);
  let pendingIds = start.expectedPaymentIds;
  while (lines.length > 0 || pendingIds.length > 0) {
    const covered = lines.filter(reach.covers);
    const paidNow = await listPaidBy(tx, accountId, lines);
    const expected = await listRuleExpectedPayments(tx, accountId, {
      ...noKeys,
      documents: reach.byDocument ? takeUnseen(ofLines.documents, covered.map(documentOf)) : [],
      referenceValues: reach.byNotes
        ? takeUnseen(ofLines.referenceValues, covered.flatMap(possibleIdsOf))
        : [],
      expectedPaymentIds: [...pendingIds, ...paidNow],
    });
    const fresh = addTo(found.expected, expected, idOf);
    pendingIds = [];
    if (fresh.length === 0) break;
    const open = fresh.filter(isOpen);
    const more = await listComponentLines(tx, accountId, {
      nsus: [],
      documents: reach.byDocument ? takeUnseen(ofExpected.documents, open.map(documentOf)) : [],
      referenceValues: reach.byNotes
        ? takeUnseen(ofExpected.referenceValues, open.flatMap(referencesOf))
        : [],
      expectedPaymentIds: fresh.map(idOf),
    });
    const competing = more.filter((line) => line.breakKind === null || reach.covers(line));
    lines = addTo(found.lines, competing, ({ nsu }) => nsu);
  }
  return found;
}

const possibleIdsOf = ({ notes }: RuleLine) => findPossibleIds(notes);
const referencesOf = ({ referenceValues }: RuleExpectedPayment) => referenceValues;
const documentOf = (one: { counterpartyDocument: string | null }) => one.counterpartyDocument;
const idOf = ({ expectedPaymentId }: RuleExpectedPayment) => expectedPaymentId;

/** Adds the values and returns those that were new. */
function addTo<Key, Value>(known: Map<Key, Value>, values: Value[], keyOf: (value: Value) => Key) {
  const fresh = values.filter((value) => !known.has(keyOf(value)));
  for (const value of fresh) known.set(keyOf(value), value);
  return fresh;
}

/** Returns the keys that were not seen before, and marks them as seen. */
function takeUnseen(seen: Set<string>, keys: (string | null)[]): string[] {
  const fresh = new Set(keys.filter((key) => key !== null && !seen.has(key)) as string[]);
  for (const key of fresh) seen.add(key);
  return [...fresh];
}

async function listPaidBy(tx: Tx, accountId: number, lines: RuleLine[]): Promise<string[]> {
  if (lines.length === 0) return [];
  const nsus = lines.map(({ nsu }) => nsu);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT expected_payment_id AS id FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = ANY (${nsus}::bigint[])
      AND rule = 'declared' AND unlinked_at IS NULL`;
  return rows.map(({ id }) => id);
}
