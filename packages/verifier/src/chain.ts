// The file of a chain, record by record: each certificate against those before it, and its lines
// against what it states. Everything that does not hold is a finding; nothing ends the work but a
// file that is none.
import * as facts from './facts.js';
import type { Certificate, Item, Line } from './facts.js';
import { sha256, Tree } from './merkle.js';
import { follows, isSigned, keyIdOf } from './signatures.js';
import type { Finding, FindingCode } from './words.js';

type List = 'lines' | 'earlier';
type Link = Record<'where' | 'hash', string> & { certificate: Certificate } & Record<List, Line[]>;

export class Chain {
  readonly findings: Finding[] = [];
  /** Every certificate in its order, without its lines. */
  readonly links: Link[] = [];
  /** The present certificate of each day, with its lines. */
  readonly days = new Map<string, Link>();
  /** Whether all could be read: else what depends on the rest is not compared. */
  isWhole = true;
  timestamps = 0;
  /** What the first record states. */
  header: facts.Fields | null = null;
  private link: Link | null = null;
  private row = 0;

  /** The lines of the present certificates, and those before the first day. */
  get lines(): Line[] {
    return [...this.days.values()].flatMap(({ earlier, lines }) => [...earlier, ...lines]);
  }

  /** A record of the file. Throws a SyntaxError for what is none. */
  add(text: string): void {
    this.row += 1;
    const add = () => this.addRecord(JSON.parse(text) as facts.Fields);
    if (text.trim() !== '') facts.readAt(`CERTIFICATES row ${this.row}`, add);
  }

  /** After the last record. */
  end(): void {
    this.finishLink();
    if (this.links.length === 0) this.found('uncertified', 'CERTIFICATES');
    // An amended day changes the opening of the next one, which is then amended too.
    for (const [date, link] of this.days) {
      const before = this.days.get(facts.dayAfter(date, -1))?.certificate;
      if (before && before.sequence > link.certificate.sequence)
        this.compareStated(link, { opening: before.closing });
    }
    if (this.isWhole && this.days.size > 0) this.compareBalances();
  }

  /** Compares the log of decisions, a text each, with each root. */
  async compareLog(decisions: AsyncIterable<string> | Iterable<string>) {
    const [tree, roots] = [new Tree(), new Map<number, unknown>()];
    const counts = new Set(this.links.map(({ certificate }) => certificate.decisions?.count ?? 0));
    const certified = Math.max(0, ...counts);
    for await (const text of decisions) {
      if (tree.count < certified)
        this.read(`--decisions row ${tree.count + 1}`, () => facts.parseCanonical(text));
      if (counts.has(tree.add(text))) roots.set(tree.count, tree.root());
    }
    let held = 0;
    for (const { where, certificate } of this.links) {
      const { count = 0, root = null } = certificate.decisions ?? {};
      if (count > 0 && roots.get(count) === root) held = count;
      else if (count > 0 && roots.has(count)) this.found('decisions', `${where} 1–${count}`);
    }
    if (tree.count < certified) this.found('decisions', '--decisions', certified, tree.count);
    return { held, inFile: tree.count };
  }

  found(code: FindingCode, where: string, expected: unknown = '', actual: unknown = ''): void {
    const said = (one: unknown) => (typeof one === 'bigint' ? facts.reaisOf(one) : String(one));
    this.findings.push({ code, where, expected: said(expected), actual: said(actual) });
  }

  compare(where: string, expected: unknown, actual: unknown, code: FindingCode = 'figure'): void {
    if (expected !== actual) this.found(code, where, expected, actual);
  }

  /** Compares what a certificate states with what follows from the file. */
  private compareStated({ certificate, where }: Link, expected: Partial<Certificate>): void {
    for (const [name, value] of Object.entries(expected))
      this.compare(`${where} ${name}`, value, certificate[name as keyof Certificate]);
  }

  /** Null, and a finding, for what is not in its form. */
  private read<Value>(where: string, reader: () => Value): Value | null {
    try {
      return reader();
    } catch {
      this.found('unreadable', where);
      this.isWhole = false;
      return null;
    }
  }

  private addRecord(record: facts.Fields): void {
    const isChain = record['format'] === 'concilia-chain/1';
    if (!this.header) this.header = isChain ? record : facts.fail();
    else if ('certificate' in record) this.addCertificate(record);
    else if ('earlier' in record) this.addLine(facts.textOf(record['earlier']), 'earlier');
    else this.addLine(facts.textOf(record['line']), 'lines');
  }

  private addCertificate(record: facts.Fields): void {
    this.finishLink();
    const text = facts.textOf(record['certificate']);
    const hash = sha256(text).toString('hex');
    const position = `#${this.links.length + 1} (row ${this.row})`;
    const certificate = this.read(position, () => facts.readCertificate(text));
    if (!certificate) return;
    const where = `#${certificate.sequence} ${certificate.date}`;
    this.link = { certificate, where, hash, lines: [], earlier: [] };
    this.compareLink(this.link, record);
    this.links.push({ ...this.link, lines: [], earlier: [] });
  }

  /** A certificate against those before it, and its signature. */
  private compareLink(link: Link, { certificate: text, ...record }: facts.Fields): void {
    const { certificate: one, where, hash } = link;
    const { key, date, earlier, decisions } = one;
    const last = this.links.at(-1);
    const [formerKey, log] = [last?.certificate.key ?? null, last?.certificate.decisions];
    if (key ? !isSigned(key, facts.textOf(text), record['signature']) : formerKey)
      this.found('signature', where);
    if (key) this.compare(`${where} key.id`, keyIdOf(key), key.id);
    if (key && !follows(key, formerKey))
      this.found('key_not_endorsed', where, formerKey?.id, key.id);
    this.compare(`${where} hash`, hash, record['hash']);
    this.compare(`${where} accountId`, this.header!['accountId'], one.accountId);
    if (!this.isWhole) return;
    const former = this.days.get(date)?.certificate.revision ?? 0;
    const before = this.days.get(facts.dayAfter(date, -1))?.certificate;
    const isFirst = date === (this.links[0]?.certificate.date ?? date);
    const sequence = (last?.certificate.sequence ?? 0) + 1;
    this.compareStated(link, { sequence, previousHash: last?.hash ?? zeroHash });
    this.compareStated(link, { revision: former + 1, ...(before && { opening: before.closing }) });
    if (!before && !isFirst) this.found('day_missing', where);
    if (earlier && !isFirst) this.found('uncertified', `${where} earlier`);
    const { count = 0, root = null } = decisions ?? {};
    if (log && count < log.count) this.found('decisions', where, log.count, count);
    if (log && count === log.count) this.compare(`${where} decisions`, log.root, root);
    if (record['timestamp'] === undefined) return;
    this.timestamps += 1;
    const stamp = Buffer.from(facts.textOf(record['timestamp']), 'base64');
    if (!stamp.includes(Buffer.from(hash, 'hex'))) this.found('figure', `${where} timestamp`);
  }

  private addLine(text: string, list: List): void {
    const { link } = this;
    const { statementRoot, earlier, accountId = 0 } = link?.certificate ?? {};
    const isCertified = statementRoot && (list === 'lines' || earlier);
    if (!isCertified && (link || this.isWhole)) this.found('uncertified', `row ${this.row}`);
    if (!link || !isCertified) return;
    if (list === 'earlier' && link.lines.length > 0) this.found('order', `row ${this.row}`);
    const nsu = /"nsu":"(-?\d+)"/.exec(text)?.[1] ?? '?';
    const where = `${link.where} nsu ${nsu} (row ${this.row})`;
    const line = this.read(where, () => facts.readLine(text, accountId));
    if (line) link[list].push(line);
  }

  /** Compares the certificate that was read last with its lines and with what it amends. */
  private finishLink(): void {
    const { link } = this;
    if (!link) return;
    this.link = null;
    const { certificate: one, where, lines, earlier } = link;
    const former = this.days.get(one.date);
    this.days.set(one.date, link);
    const closing = one.opening + one.credits - one.debits;
    const balance = one.items.reduce((sum, item) => sum + correctionOf(one, item), one.closing);
    this.compareStated(link, { closing, ...one.byOutcome, balance });
    this.compare(`${where} reason`, one.revision > 1, one.reason !== null);
    if (one.statementRoot === null || !this.isWhole) return;
    const debits = -sumOf(lines.filter(({ cents }) => cents < 0n));
    this.compareStated(link, {
      ...{ lines: lines.length, debits, credits: sumOf(lines) + debits },
      ...{ firstNsu: `${lines[0]?.nsu ?? null}`, lastNsu: `${lines.at(-1)?.nsu ?? null}` },
      statementRoot: rootOfLines(lines),
    });
    this.compare(`${where} earlier`, earlier.length, one.earlier?.count ?? 0);
    if (one.earlier) this.compare(`${where} earlier`, rootOfLines(earlier), one.earlier.root);
    for (const list of [earlier, lines])
      list.forEach(({ nsu, date }, index) => {
        const isOfDay = list === lines ? date === one.date : date < one.date;
        const isNext = index === 0 || list[index - 1]!.nsu < nsu;
        if (!isOfDay || !isNext) this.found('order', `${where} nsu ${nsu}`);
      });
    this.compareFormer(link, former);
    this.compareItems(link);
  }

  /** A revision has every line of the former one, unchanged, and names the others. */
  private compareFormer(link: Link, former: Link | undefined): void {
    if (former?.certificate.statementRoot === null) return;
    const all = (one: Link | undefined) => (one ? [...one.earlier, ...one.lines] : []);
    const texts = new Map(all(former && link).map(({ nsu, text }) => [nsu, text]));
    for (const { nsu, text } of all(former)) {
      if (texts.get(nsu) !== text) this.found('line_changed', `${link.where} nsu ${nsu}`);
      texts.delete(nsu);
    }
    const added = [...texts.keys()].sort((a, b) => (a < b ? -1 : 1)).join(' ');
    this.compareStated(link, { added });
  }

  /**
   * The balance is after as many lines, by nsu, as all days up to this one have. The items are the
   * lines of these days above that nsu, and as many of later days up to it.
   */
  private compareItems({ certificate: one, where }: Link): void {
    const items = one.items.filter(({ isAccepted }) => !isAccepted);
    const stated = new Set(items.filter((item) => !isCountedBy(one, item)).map(({ nsu }) => nsu));
    const above = [...this.days.values()]
      .flatMap((day) => (day.certificate.date <= one.date ? [day.earlier, day.lines] : []))
      .flatMap((list) => list.slice(list.findLastIndex((line) => isCountedBy(one, line)) + 1));
    for (const { nsu } of above) if (!stated.has(nsu)) this.found('figure', `${where} nsu ${nsu}`);
    this.compare(`${where} reconcilingItems`, stated.size, items.length - stated.size);
  }

  /**
   * The balance after each line is the balance before the next one by nsu. Lines that the last
   * certificate counts by nsu, and a later day will contain, are its reconciling items.
   */
  private compareBalances(): void {
    const certificates = [...this.days.values()].map(({ certificate }) => certificate);
    const last = certificates.at(-1)!;
    // What days without proofs count by nsu is not known: the chain goes on where they end.
    const start = certificates.findLast(({ statementRoot }) => statementRoot === null);
    const known = new Map(this.lines.map((line) => [line.nsu, line]));
    const items = [...(start?.items ?? []), ...last.items].filter(({ isAccepted }) => !isAccepted);
    const accepted = last.items.filter(({ isAccepted }) => isAccepted);
    const jumps = new Map(accepted.map(({ nsu, cents }) => [nsu, cents]));
    const all: (Line | Item)[] = [...known.values(), ...items.filter(({ nsu }) => !known.has(nsu))];
    const isAfter = (one: Line | Item) =>
      isCountedBy(last, one) && !(start && isCountedBy(start, one));
    let balance: bigint | null = start?.balance ?? null;
    for (const one of all.filter(isAfter).sort((a, b) => (a.nsu < b.nsu ? -1 : 1))) {
      if ('text' in one) {
        const expected: bigint = (balance ?? one.before) + (jumps.get(one.nsu) ?? 0n);
        this.compare(`nsu ${one.nsu}`, expected, one.before, 'balance_chain');
        this.compare(`nsu ${one.nsu} currentBalance`, one.before + one.cents, one.after);
        balance = one.after;
      } else if (balance !== null) balance += one.cents;
    }
    if (balance !== null && !known.has(last.balanceNsu ?? -1n))
      this.compare(`${last.date} balance`, balance, last.balance);
    for (const { certificate: one, where } of this.links) {
      const counted = known.get(one.balanceNsu ?? -1n);
      if (counted) this.compare(`${where} balance`, counted.after, one.balance);
      for (const item of one.items) {
        const line = known.get(item.nsu);
        // Of days without proofs, or of days that are not certified yet, the file has no lines.
        const isBeyond = item.date > last.date || (start && item.date <= start.date);
        const isOfLine = line ? line.date === item.date : isBeyond;
        const isOfAmount = item.isAccepted || !line || line.cents === item.cents;
        const isCounted = item.isAccepted || item.date > one.date;
        if (!isOfLine || !isOfAmount || isCounted !== isCountedBy(one, item))
          this.found('figure', `${where} nsu ${item.nsu}`, line?.cents, item.cents);
      }
    }
  }
}

export const zeroHash = '0'.repeat(64);
const sumOf = (lines: Line[]) => lines.reduce((all, { cents }) => all + cents, 0n);
const rootOfLines = (lines: Line[]) => new Tree(lines.map(({ text }) => text)).root();

/** Whether the balance that a certificate states is after this line, by nsu. */
const isCountedBy = ({ balanceNsu }: Certificate, { nsu }: { nsu: bigint }) =>
  balanceNsu !== null && nsu <= balanceNsu;

/** The balance has lines of later days, not those above its nsu, and the jumps. */
const correctionOf = (one: Certificate, item: Item) =>
  item.isAccepted || isCountedBy(one, item) ? item.cents : -item.cents;
