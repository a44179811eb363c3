// Writes a month as one ZIP file for the accountant, entry after entry, so that memory stays flat.
// The last entry lists the others with their SHA-256 and sums.
import { createHash } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { ZipFile } from 'yazl';
import { invariant } from '../../platform/errors.js';
import { asciiOf } from '../exports/exported-line.js';
import { FileStreams, type FileCaller, type OpenedFile } from '../exports/file-streams.service.js';
import { MonthReports, type ReadMonth } from '../exports/month-reports.service.js';
import { nameOfMonth } from '../exports/month-sections.js';
import { zipEntryOptions } from '../exports/zip-container.js';
import { jsonLinesFile, Proofs } from '../proofs/proofs.service.js';
import { BundleFiles, type BundleFile } from './bundle-files.service.js';
import { chainName, decisionsName, readmeText, type WrittenFile } from './readme-text.js';

@Injectable()
export class MonthBundles {
  constructor(
    private readonly reports: MonthReports,
    private readonly files: BundleFiles,
    private readonly streams: FileStreams,
    private readonly proofs: Proofs,
  ) {}

  /** Throws `not_found` for a month without a report, `rate_limited` with many open files. */
  async open(caller: FileCaller, month: string): Promise<OpenedFile> {
    return this.openFor(caller, month, 'accountant');
  }

  /** With the whole chain of certificates and the whole log of decisions. Throws as `open`. */
  async openPack(caller: FileCaller, month: string): Promise<OpenedFile> {
    return this.openFor(caller, month, 'auditor');
  }

  private openFor(
    caller: FileCaller,
    month: string,
    reader: 'accountant' | 'auditor',
  ): Promise<OpenedFile> {
    return this.streams.open(caller.accountId, async () => {
      const read = await this.reports.read(caller.accountId, month);
      const { slug } = read.figures;
      const named = asciiOf(nameOfMonth(month)).replaceAll(' de ', '-');
      const proofs = reader === 'auditor' ? await this.proofsOf(caller.accountId, slug) : [];
      const bytes = zipOf(read, [...this.files.of(caller, read), ...proofs], named);
      const name = `concilia-${slug}-${reader === 'auditor' ? 'auditoria-' : ''}${named}.zip`;
      return this.streams.opened(name, 'application/zip', bytes);
    });
  }

  /** Both files end with the same certificate: a day may be certified while they are read. */
  private async proofsOf(accountId: number, slug: string): Promise<BundleFile[]> {
    const last = await this.proofs.last(accountId);
    const file = (name: string, about: string, rows: () => AsyncIterable<string[]>) => ({
      ...{ name, about, extension: jsonLinesFile.extension },
      open: () => ({ bytes: this.streams.bytes(jsonLinesFile, rows()), sums: null }),
    });
    return [
      file(chainName, 'Todos os certificados, com os seus lançamentos', () =>
        this.proofs.chain(accountId, slug, last),
      ),
      file(decisionsName, 'Decisões, regras, aprovações, direitos e políticas', () =>
        this.proofs.decisions(accountId, last),
      ),
    ];
  }
}

/** An error of an entry destroys the file, and the end of its reader ends the entry. */
function zipOf(month: ReadMonth, files: readonly BundleFile[], named: string): Readable {
  const zip = new ZipFile();
  const out = zip.outputStream as PassThrough;
  const written: WrittenFile[] = [];
  let current: Readable | null = null;
  const add = (name: string, open: () => AsyncIterable<Buffer>) =>
    zip.addReadStreamLazy(name, { ...zipEntryOptions, compressionLevel: 3 }, (begin) => {
      current = Readable.from(open(), { objectMode: false, highWaterMark: 1 });
      current.once('error', (error) => out.destroy(error));
      begin(null, current);
    });
  for (const file of files) {
    const name = `${file.name}-${named}.${file.extension}`;
    add(name, () => measured(file, (measures) => written.push({ ...measures, name })));
  }
  add('LEIA-ME.txt', async function* () {
    requireSameSums(month, written);
    yield await Promise.resolve(Buffer.from(readmeText(month.figures, written)));
  });
  zip.end();
  zip.on('error', (error: Error) => out.destroy(error));
  out.once('close', () => current?.destroy());
  return out;
}

async function* measured(
  { about, open }: BundleFile,
  end: (measures: Omit<WrittenFile, 'name'>) => void,
): AsyncGenerator<Buffer> {
  const { bytes, sums } = open();
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  end({ about, sums, sha256: hash.digest('hex') });
}

/** The statement in the bundle is the one that the report adds up. */
function requireSameSums({ figures }: ReadMonth, written: readonly WrittenFile[]): void {
  for (const { name, sums } of written)
    if (sums && name.startsWith('extrato'))
      invariant(
        sums.rows === figures.lines &&
          sums.creditCents === figures.creditCents &&
          sums.debitCents === figures.debitCents,
        'the statement of a bundle has the sums of its report',
      );
}
