// @concilia/verifier: verifies the file of a chain by what an auditor has from elsewhere.
import { Chain } from './chain.js';
import { compareStatement, type BankLine } from './statement.js';

export { isIncluded } from './merkle.js';
export { readStatement, type BankLine } from './statement.js';
export type { Finding, FindingCode } from './words.js';

export type Verification = Awaited<ReturnType<typeof verifyChain>>;

export interface Given {
  key?: string | undefined;
  head?: string | undefined;
  statement?: readonly BankLine[] | undefined;
  /** The lines of the file of the log. */
  decisions?: AsyncIterable<string> | Iterable<string> | undefined;
}

/**
 * `records` are the lines of the exported file. `key` is the id of the key that signs now or of one
 * before it, and `head` the hash of a certificate; both must come from elsewhere than the file.
 */
export async function verifyChain(
  records: AsyncIterable<string> | Iterable<string>,
  { key, head, statement, decisions }: Given = {},
) {
  const chain = new Chain();
  for await (const record of records) if (record.trim() !== '') chain.add(record);
  chain.end();
  const held = decisions ? await chain.compareLog(decisions) : null;
  const keys = chain.keys.map(({ id }) => id);
  const findings = [...chain.findings];
  const isKeyKnown = key !== undefined && keys.includes(key);
  const isHeadKnown = head !== undefined && chain.hashes.has(head);
  if (key !== undefined && !isKeyKnown)
    findings.push({ code: 'key_unknown', where: key, expected: '', actual: keys.join(' ') });
  if (head !== undefined && !isHeadKnown)
    findings.push({ code: 'head_unknown', where: head, expected: '', actual: chain.lastHash });
  if (statement) findings.push(...compareStatement(chain, statement));
  /** By a key all is authenticated; by a head, what is up to it. */
  const by = isKeyKnown ? 'key' : isHeadKnown ? 'head' : 'none';
  const dates = [...chain.days.keys()].sort();
  const days = [...chain.days.values()];
  return {
    findings,
    authenticatedBy: findings.length > 0 ? 'none' : by,
    certificates: chain.hashes.size,
    lines: chain.earlier.length + days.reduce((sum, { lines }) => sum + lines.length, 0),
    unproven: chain.unproven,
    /** Those with a certified root, up to the head if nothing else authenticates them. */
    decisions: held && (by === 'head' ? Math.min(held, chain.hashes.get(head!)!) : held),
    ...{ from: dates[0] ?? null, to: dates.at(-1) ?? null },
    ...{ head: chain.lastHash, keys, isHeadLast: head === chain.lastHash },
  };
}
