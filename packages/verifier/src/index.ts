// @concilia/verifier: verifies the file of a chain by what an auditor has from elsewhere.
import { Chain } from './chain.js';
import { compareStatement, type BankLine } from './statement.js';
import type { Finding } from './words.js';

export { isIncluded } from './merkle.js';
export { readStatement, type BankLine } from './statement.js';
export type { Finding, FindingCode } from './words.js';

export interface Verification {
  findings: Finding[];
  /** `key`: all of it. `head`: up to the given head. `none`: self-consistent only. */
  authenticatedBy: 'key' | 'head' | 'none';
  certificates: number;
  lines: number;
  /** Certificates whose lines are not proven. */
  unproven: number;
  from: string | null;
  to: string | null;
  head: string;
  keys: string[];
  /** Whether the given head is the last link. */
  isHeadLast: boolean;
}

/**
 * `records` are the lines of the exported file. `key` is the id of the key that signs now or of one
 * before it, and `head` the hash of a certificate; both must come from elsewhere than the file.
 */
export async function verifyChain(
  records: AsyncIterable<string> | Iterable<string>,
  { key, head, statement }: { key?: string; head?: string; statement?: readonly BankLine[] } = {},
): Promise<Verification> {
  const chain = new Chain();
  for await (const record of records) if (record.trim() !== '') chain.add(record);
  chain.end();
  const keys = chain.keys.map(({ id }) => id);
  const findings = [...chain.findings];
  const isKeyKnown = key !== undefined && keys.includes(key);
  const isHeadKnown = head !== undefined && chain.hashes.has(head);
  if (key !== undefined && !isKeyKnown)
    findings.push({ code: 'key_unknown', where: key, expected: '', actual: keys.join(' ') });
  if (head !== undefined && !isHeadKnown)
    findings.push({ code: 'head_unknown', where: head, expected: '', actual: chain.lastHash });
  if (statement) findings.push(...compareStatement(chain, statement));
  const by = isKeyKnown ? 'key' : isHeadKnown ? 'head' : 'none';
  const dates = [...chain.days.keys()].sort();
  const days = [...chain.days.values()];
  return {
    findings,
    authenticatedBy: findings.length > 0 ? 'none' : by,
    certificates: chain.hashes.size,
    lines: chain.earlier.length + days.reduce((sum, { lines }) => sum + lines.length, 0),
    unproven: chain.unproven,
    ...{ from: dates[0] ?? null, to: dates.at(-1) ?? null },
    ...{ head: chain.lastHash, keys, isHeadLast: head === chain.lastHash },
  };
}
