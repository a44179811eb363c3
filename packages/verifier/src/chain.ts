// The file of a chain, record by record: each certificate against the one before it, and its lines
// against what it states. Everything that does not hold is a finding; nothing ends the work but a
// file that is none.
import * as facts from './facts.js';
import type { Certificate, Item, Line } from './facts.js';
import { rootOf, sha256, Tree } from './merkle.js';
import { follows, isSigned } from './signatures.js';
import type { Finding, FindingCode } from './words.js';

type Link = { certificate: Certificate } & Record<'lines' | 'earlier', Line[]>;

export class Chain {
  readonly findings: Finding[] = [];
  /** The present certificate of each day, with its lines. */
  readonly days = new Map<string, Link>();
  /** The hash of each certificate, and how many decisions are certified up to it. */
  readonly hashes = new Map<string, number>();
  /** Every key that signed, in their order. */
  readonly keys: facts.SigningKey[] = [];
  /** What each certificate states of the log of decisions, in their order. */
  readonly logs: { where: string; count: number; root: string }[] = [];
  /** Lines before the first day. */
  earlier: Line[] = [];
  /** Certificates of the format that has no proofs. */
  unproven = 0;
  lastHash = '0'.repeat(64);
  accountId: number | null = null;
  private link: Link | null = null;
  private sequence = 0;

  /** A record of the file. Throws Unreadable for what is none. */
  add(text: string): void {
    const record = facts.fieldsOf(facts.parse(text));
    if (this.accountId === null) {
      const { format, accountId } = record;
      if (format !== 'concilia-chain/1' || typeof accountId !== 'number')
        throw new facts.Unreadable();
      this.accountId = accountId;
    } else if ('certificate' in record) this.addCertificate(record);
    else if ('earlier' in record) this.addLine(facts.textOf(record['earlier']), 'earlier');
    else this.addLine(facts.textOf(record['line']), 'lines');
  }

  /** After the last record. */
  end(): void {
    this.finishLink();
    this.compareDays();
    this.compareBalances();
  }

  /** Compares the log of decisions, a text each, with each root. Returns how many have one. */
  async compareLog(decisions: AsyncIterable<string> | Iterable<string>): Promise<number> {
    const [tree, counts] = [new Tree(), new Set(this.logs.map(({ count }) => count))];
    const roots = new Map([[0, tree.root()]]);
    for await (const text of decisions)
      if (counts.has(tree.add(text))) roots.set(tree.count, tree.root());
    let held = 0;
    for (const { where, count, root } of this.logs)
      if (roots.get(count) === root) held = count;
      else this.found('decisions', `${where} ${held + 1}–${count}`);
    const certified = this.logs.at(-1)?.count ?? 0;
    if (tree.count > certified) this.found('decisions', `${certified + 1}–${tree.count}`);
    return held;
  }

  private found(code: FindingCode, where: string, expected = '', actual = ''): void {
    this.findings.push({ code, where, expected, actual });
  }

  private compare(code: FindingCode, where: string, expected: unknown, actual: unknown): void {
    if (expected !== actual) this.found(code, where, String(expected), String(actual));
  }

  private addCertificate({ certificate: given, hash, signature }: Record<string, unknown>): void {
    this.finishLink();
    const text = facts.textOf(given);
    const own = sha256(text).toString('hex');
    const where = `#${this.sequence + 1}`;
    let certificate: Certificate;
    try {
      certificate = facts.readCertificate(text);
    } catch (error) {
      if (!(error instanceof facts.Unreadable)) throw error;
      this.found('unreadable', where);
      [this.sequence, this.lastHash] = [this.sequence + 1, own];
      return;
    }
    const before = this.days.get(certificate.date)?.certificate.revision ?? 0;
    this.compare('link', `${where} hash`, own, hash);
    this.compare('link', `${where} sequence`, this.sequence + 1, certificate.sequence);
    this.compare('link', `${where} previousHash`, this.lastHash, certificate.previousHash);
    this.compare('link', `${where} accountId`, this.accountId, certificate.accountId);
    this.compare('link', `${where} revision`, before + 1, certificate.revision);
    this.checkSignature(certificate, text, signature);
    const [former, log] = [this.logs.at(-1)?.count ?? 0, certificate.decisions];
    if ((log?.count ?? 0) < former) this.found('decisions', where, `${former}`, `${log?.count}`);
    else if (log) this.logs.push({ ...log, where });
    [this.sequence, this.lastHash] = [certificate.sequence, own];
    this.hashes.set(own, this.logs.at(-1)?.count ?? 0);
    this.link = { certificate, lines: [], earlier: [] };
  }

  private checkSignature({ date, key }: Certificate, text: string, signature: unknown): void {
    const former = this.keys.at(-1) ?? null;
    if (key === null) {
      if (former) this.found('unsigned', date);
      return;
    }
    if (typeof signature !== 'string' || !isSigned(key, text, signature))
      this.found('signature', date);
    else if (!follows(key, former)) this.found('key_not_endorsed', date, former?.id, key.id);
    if (former?.id !== key.id) this.keys.push(key);
  }

  private addLine(text: string, list: 'lines' | 'earlier'): void {
    const { link } = this;
    if (!link) return;
    try {
      link[list].push(facts.readLine(text, link.certificate.accountId));
    } catch (error) {
      if (!(error instanceof facts.Unreadable)) throw error;
      this.found('unreadable', link.certificate.date);
    }
  }

  /** Compares the lines of the certificate that was read last with what it states. */
  private finishLink(): void {
    const { link } = this;
    if (!link) return;
    this.link = null;
    const { certificate, lines, earlier } = link;
    const { date } = certificate;
    const closing = certificate.opening + certificate.credits - certificate.debits;
    this.compare('sums', `${date} closing`, closing, certificate.closing);
    const former = this.days.get(date);
    this.days.set(date, link);
    if (certificate.statementRoot === null) {
      this.unproven += 1;
      return;
    }
    this.compareLines(certificate, lines);
    if (certificate.earlier) {
      this.earlier = earlier;
      this.compare('lines', `< ${date}`, certificate.earlier.lines, earlier.length);
      this.compare('root', `< ${date}`, certificate.earlier.statementRoot, rootOfLines(earlier));
    }
    const texts = new Map(lines.map(({ nsu, text }) => [nsu, text]));
    for (const { nsu, text } of former?.lines ?? [])
      if (texts.get(nsu) !== text) this.found('line_changed', `${date} nsu ${nsu}`);
  }

  private compareLines(certificate: Certificate, lines: Line[]): void {
    const { date, credits, debits, statementRoot } = certificate;
    const sum = (wanted: Line[]) => wanted.reduce((all, { cents }) => all + cents, 0n);
    const [added, taken] = [lines.filter(isCredit), lines.filter((line) => !isCredit(line))];
    this.compare('lines', date, certificate.lines, lines.length);
    this.compare('sums', `${date} credits`, credits, sum(added));
    this.compare('sums', `${date} debits`, debits, -sum(taken));
    this.compare('root', date, statementRoot, rootOfLines(lines));
    lines.forEach(({ nsu, at }, index) => {
      if (index > 0 && lines[index - 1]!.nsu >= nsu) this.found('order', `${date} nsu ${nsu}`);
      if (dayOf(at) !== date) this.found('other_day', `${date} nsu ${nsu}`, date, at);
    });
  }

  /** Days follow each other without a gap, and each opens with the balance of the one before. */
  private compareDays(): void {
    const dates = [...this.days.keys()].sort();
    dates.forEach((date, index) => {
      const before = dates[index - 1];
      if (before === undefined) return;
      this.compare('day_missing', before, nextDay(before), date);
      const { closing } = this.days.get(before)!.certificate;
      this.compare('opening', date, closing, this.days.get(date)!.certificate.opening);
    });
  }

  /**
   * The balance after each line is the balance before the next one by nsu. Lines that the last
   * certificate counts by nsu, and a later day will contain, are its reconciling items.
   */
  private compareBalances(): void {
    const dates = [...this.days.keys()].sort();
    const last = this.days.get(dates.at(-1) ?? '')?.certificate;
    if (!last) return;
    // What days without proofs count by nsu is not known: the chain goes on where they end.
    const certificates = dates.map((date) => this.days.get(date)!.certificate);
    const start = certificates.findLast(({ statementRoot }) => statementRoot === null);
    const from = start?.balanceNsu ?? null;
    const known = [...this.earlier, ...[...this.days.values()].flatMap(({ lines }) => lines)];
    const nsus = new Set(known.map(({ nsu }) => nsu));
    const items = [...(start?.items ?? []), ...last.items].filter(isStraddling);
    const jumpAt = (nsu: bigint) =>
      last.items.find((one) => one.kind === 'accepted_difference' && one.nsu === nsu)?.cents ?? 0n;
    const all: (Line | Item)[] = [...known, ...items.filter(({ nsu }) => !nsus.has(nsu))];
    const after = all.filter(({ nsu }) => from === null || nsu > from);
    let balance: bigint | null = start?.balance ?? null;
    for (const one of after.sort((a, b) => (a.nsu < b.nsu ? -1 : 1))) {
      if (last.balanceNsu === null || one.nsu > last.balanceNsu) break;
      if ('text' in one) {
        const { nsu, previousCents, cents, currentCents } = one;
        const expected: bigint = (balance ?? previousCents) + jumpAt(nsu);
        this.compare('balance_chain', `nsu ${nsu}`, expected, previousCents);
        this.compare('line_sum', `nsu ${nsu}`, previousCents + cents, currentCents);
        balance = currentCents;
      } else if (balance !== null) balance += one.cents;
    }
    if (balance !== null) this.compare('balance', last.date, last.balance, balance);
  }
}

const isCredit = ({ cents }: Line) => cents > 0n;
const rootOfLines = (lines: Line[]) => rootOf(lines.map(({ text }) => text));
const isStraddling = ({ kind }: Item) => kind === 'straddling_line';

const dayMs = 86_400_000;

/** A statement day begins at 03:00Z. */
export function dayOf(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? '' : new Date(time - dayMs / 8).toISOString().slice(0, 10);
}

function nextDay(date: string): string {
  return new Date(Date.parse(date) + dayMs).toISOString().slice(0, 10);
}
