// Proves what certificates state to someone outside: that a day contains a line or does not, and
// the whole chain with its lines as a file.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { readSigningKeys } from '../../access/secrets/signing-keys.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import type { DayClose } from '../../generated/service/client.js';
import { AppError, ruleBroken } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { inclusionPath, leafHashOf } from '../../platform/merkle-tree.js';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import { readCertificate } from '../day-closes/certificate.js';
import { spanOf } from '../day-closes/closed-day.js';
import { findCurrentCertificate, findLastCertificate } from '../day-closes/day-closes.queries.js';
import { readLog } from '../day-closes/decision-log.queries.js';
import { decisionText } from '../day-closes/decision-sources.js';
import { readSpanFigures } from '../day-closes/day-lines.queries.js';
import {
  readStatementLeaves,
  type StatementLeaf,
  type StatementSpan,
} from '../day-closes/statement-tree.queries.js';
import type { ExportFile } from '../exports/exported-line.js';
import { FileStreams, type OpenedFile } from '../exports/file-streams.service.js';
import type * as schema from './proofs.schema.js';

/** A day with more lines is proven by the file of its certificates. */
const maxProvenLines = 200_000;
const pageLinks = 20;

/** A text a line. */
export const jsonLinesFile: ExportFile<string> = {
  ...{ contentType: 'text/plain; charset=utf-8', extension: 'jsonl', encoding: 'utf8' },
  head: () => '',
  row: (text) => `${text}\n`,
  foot: () => '',
};

@Injectable()
export class Proofs {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly streams: FileStreams,
  ) {}

  /**
   * Throws `not_found` for a day without a certificate, and `rule_broken` for one without a tree
   * of what the bank showed, or with more lines than can be read for one request.
   */
  async prove(
    accountId: number,
    date: string,
    nsu: bigint,
  ): Promise<RouteOutput<typeof schema.proveLine>> {
    const db = this.database.prisma;
    const link = await findCurrentCertificate(db, accountId, date);
    if (!link) throw new AppError('not_found');
    const certificate = readCertificate(link.certificate);
    const { statementRoot } = certificate;
    if (statementRoot === undefined)
      throw unprovable('The certificate is of a format without such proofs.');
    if (link.lineCount > maxProvenLines)
      throw unprovable(`The day has more than ${maxProvenLines} lines: read the exported file.`);
    const { hashes, leaves } = await this.streams.read(() =>
      readAround(db, spanOf(certificate), nsu),
    );
    const found = leaves.filter((leaf) => leaf.nsu === nsu);
    const shown = found.length > 0 ? found : leaves;
    return {
      ...{ date, nsu, isCertified: found.length > 0, statementRoot },
      ...{ hash: link.hash, lines: hashes.length },
      leaves: shown.map((leaf) => ({
        ...leaf,
        path: inclusionPath(hashes, leaf.index).map((hash) => Buffer.from(hash).toString('hex')),
      })),
    };
  }

  /** The whole chain. Throws `rate_limited` if the account has too many open files. */
  async open(accountId: number): Promise<OpenedFile> {
    return this.openFile(accountId, 'certificates', (slug, last) =>
      this.chain(accountId, slug, last),
    );
  }

  /** The log up to the last certificate. Throws as `open`. */
  async openDecisions(accountId: number): Promise<OpenedFile> {
    return this.openFile(accountId, 'decisions', (_slug, last) => this.decisions(accountId, last));
  }

  private openFile(
    accountId: number,
    subject: string,
    read: (slug: string, last: DayClose | null) => AsyncGenerator<string[]>,
  ): Promise<OpenedFile> {
    return this.streams.open(accountId, async () => {
      const { slug } = await this.accounts.get(accountId);
      const rows = read(slug, await this.last(accountId));
      return this.streams.stream(`concilia-${slug}-${subject}`, jsonLinesFile, rows);
    });
  }

  /** The public keys as a JWK set, the oldest first; with the signature of the key before. */
  async listKeys() {
    const keys = await readSigningKeys(this.database.prisma);
    const fixed = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' };
    return { keys: keys.map(({ id: kid, ...key }) => ({ ...fixed, kid, ...key })) };
  }

  /** The last certificate, with which a file ends. */
  async last(accountId: number): Promise<DayClose | null> {
    return this.streams.read(() => findLastCertificate(this.database.prisma, accountId));
  }

  /** Each certificate up to `last`, and after it what the bank showed of its lines. */
  async *chain(
    accountId: number,
    account: string,
    last: DayClose | null,
  ): AsyncGenerator<string[]> {
    const db = this.database.prisma;
    yield [stringifyJson({ format: 'concilia-chain/1', account, accountId })];
    for (let after = 0, isMore = true; isMore;) {
      const links = await this.streams.read(() =>
        db.dayClose.findMany({
          where: { accountId, sequence: { gt: after, lte: last?.sequence ?? 0 } },
          take: pageLinks,
          include: { anchors: { where: { kind: 'timestamp' } } },
          orderBy: { sequence: 'asc' },
        }),
      );
      for (const link of links) {
        const { certificate, hash, signature, anchors } = link;
        const [stamp] = anchors.map(({ response }) => Buffer.from(response ?? []));
        const timestamp = stamp?.toString('base64');
        yield [stringifyJson({ certificate, hash, signature, timestamp })];
        yield* this.lines(link);
      }
      after = links.at(-1)?.sequence ?? after;
      isMore = links.length === pageLinks;
    }
  }

  /** The leaves of the decision log up to the certificate `last`. */
  async *decisions(accountId: number, last: DayClose | null): AsyncGenerator<string[]> {
    const db = this.database.prisma;
    const { count = 0 } = (last && readCertificate(last.certificate).decisions) ?? {};
    const pages = readLog(db, accountId, { from: 0n, until: BigInt(count) });
    for await (const entries of this.paged(pages))
      yield entries.map((entry) => decisionText(accountId, entry, entry.commitment));
  }

  private async *lines(link: DayClose): AsyncGenerator<string[]> {
    const { prisma: db } = this.database;
    const certificate = readCertificate(link.certificate);
    if (certificate.statementRoot === undefined) return;
    const span = spanOf(certificate);
    if (certificate.earlier)
      for await (const leaves of this.leaves(db, { ...span, from: null, until: span.from }))
        yield leaves.map(({ text }) => stringifyJson({ earlier: text }));
    for await (const leaves of this.leaves(db, span))
      yield leaves.map(({ text }) => stringifyJson({ line: text }));
  }

  private async *leaves(db: Db, span: StatementSpan): AsyncGenerator<StatementLeaf[]> {
    const figures = await this.streams.read(() => readSpanFigures(db, span));
    yield* this.paged(readStatementLeaves(db, span, figures));
  }

  /** A page is read as soon as a slot is free. */
  private async *paged<Page>(pages: AsyncGenerator<Page>): AsyncGenerator<Page> {
    for (;;) {
      const page = await this.streams.read(() => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }
}

/** The hash of each leaf of the day, and the leaves that are nearest below `nsu` and from it on. */
async function readAround(db: Db, span: StatementSpan, nsu: bigint) {
  const hashes: Buffer[] = [];
  let below: IndexedLeaf | null = null;
  let above: IndexedLeaf | null = null;
  for await (const page of readStatementLeaves(db, span, await readSpanFigures(db, span)))
    for (const leaf of page) {
      const indexed = { ...leaf, index: hashes.length };
      if (leaf.nsu < nsu) below = indexed;
      else above ??= indexed;
      hashes.push(leafHashOf(leaf.text));
    }
  return { hashes, leaves: [below, above].filter((leaf) => leaf !== null) };
}

type IndexedLeaf = StatementLeaf & { index: number };

const unprovable = (message: string) => ruleBroken('not_provable', message);
