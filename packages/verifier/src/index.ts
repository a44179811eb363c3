// @concilia/verifier: verifies the file of a chain by what an auditor has from elsewhere.
import { Chain, zeroHash } from './chain.js';
import { reaisOf } from './facts.js';
import { compareStatement, type BankLine } from './statement.js';

export { isIncluded, type ProvenLeaf } from './merkle.js';
export { readStatement, type BankLine } from './statement.js';
export type { Finding, FindingCode } from './words.js';

export type Verification = Awaited<ReturnType<typeof verifyChain>>;
type Texts = AsyncIterable<string> | Iterable<string>;
export interface Given {
  key?: string | undefined;
  head?: string | undefined;
  statement?: readonly BankLine[] | undefined;
  /** The lines of the file of the log. */
  decisions?: Texts | undefined;
}

/**
 * `records` are the lines of the exported file. `key` is the id of any key that signed in it, and
 * `head` the hash of a certificate; both must come from elsewhere than the file.
 */
export async function verifyChain(records: Texts, { key, head, statement, decisions }: Given = {}) {
  const chain = new Chain();
  for await (const record of records) chain.add(record);
  chain.end();
  const log = decisions ? await chain.compareLog(decisions) : null;
  const { findings, links, timestamps, header } = chain;
  const lastHash = links.at(-1)?.hash ?? zeroHash;
  const keys = [...new Set(links.flatMap(({ certificate }) => certificate.key?.id ?? []))];
  const headAt = links.findIndex(({ hash }) => hash === head) + 1;
  const isKeyKnown = key !== undefined && keys.includes(key);
  if (key !== undefined && !isKeyKnown) chain.found('key_unknown', key, '', keys.join(' '));
  if (head !== undefined && headAt === 0) chain.found('head_unknown', head, '', lastHash);
  const compared = statement && chain.isWhole ? compareStatement(chain, statement) : {};
  const by = isKeyKnown ? 'key' : headAt > 0 ? 'head' : 'none';
  const upToHead = links[headAt - 1]?.certificate.decisions?.count ?? 0;
  const dates = [...chain.days.keys()].sort();
  const days = `${dates[0] ?? '–'} … ${dates.at(-1) ?? '–'}`;
  const revised = links.filter(({ certificate }) => certificate.revision > 1);
  const jumps = links.flatMap((one) => one.certificate.items.filter((item) => item.isAccepted));
  const beyond = headAt > 0 && headAt < links.length ? `#${headAt + 1}–${links.length}` : '';
  return {
    ...{ findings, keys, head: lastHash, headAt, isHeadLast: head === lastHash, days, timestamps },
    /** By a key all is authenticated; by a head, what is up to it. */
    authenticatedBy: findings.length > 0 ? 'none' : by,
    account: `${String(header?.['accountId'])} ${JSON.stringify(header?.['account'])}`,
    ...{ certificates: links.length, lines: chain.lines.length },
    unproven: links.filter(({ certificate }) => certificate.statementRoot === null).length,
    revisions: revised.map(({ where, certificate }) => `${where} nsu ${certificate.added || '–'}`),
    /** Jumps of the balance that persons accepted: lines may be missing there. */
    accepted: [...new Set(jumps.map(({ nsu, cents }) => `nsu ${nsu} ${reaisOf(cents)}`))],
    /** Those with a certified root, up to the head if nothing else authenticates them. */
    decisions: log && (by === 'head' ? Math.min(log.held, upToHead) : log.held),
    decisionsInFile: log?.inFile,
    [by === 'key' ? 'beyondHeadByKey' : 'beyondHead']: beyond,
    ...{ notCompared: days, ...compared },
  } as const;
}
