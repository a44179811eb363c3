// Puts the heads of chains where an edit of the database does not reach them: into a file, and
// before a timestamp authority. Days are certified whether or not either succeeds.
import { randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Settings } from '../../platform/settings/config.js';
import { listHeads, type AnchorKind, type Head } from './anchors.queries.js';
import { isGranted, nonceOf, timestampRequest } from './timestamp.js';

const timeoutMs = 30_000;
const maxResponseBytes = 100_000;

type Anchored = Pick<BankAccount, 'id' | 'slug'>;

@Injectable()
export class HeadAnchors {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** The ways that the settings name. */
  get kinds(): AnchorKind[] {
    const { file, timestampUrl } = this.settings.anchors;
    return [...(file ? ['file' as const] : []), ...(timestampUrl ? ['timestamp' as const] : [])];
  }

  /** Tries each way, and throws where the file or the authority fails; the sweeper tries again. */
  async anchor(account: Anchored): Promise<void> {
    const tried = await Promise.allSettled(this.kinds.map((kind) => this.anchorBy(kind, account)));
    for (const one of tried) if (one.status === 'rejected') throw one.reason;
  }

  private async anchorBy(kind: AnchorKind, { id: accountId, slug }: Anchored): Promise<void> {
    const { prisma } = this.database;
    const heads = await listHeads(prisma, accountId, kind);
    const last = heads.at(-1);
    if (!last) return;
    const response = kind === 'file' ? await this.append(slug, heads) : await this.stamp(last);
    const anchor = { accountId, kind, sequence: last.sequence, response };
    await prisma.headAnchor.createMany({ data: [anchor], skipDuplicates: true });
  }

  /** One write at the end of the file. After a crash, heads may stand in it twice. */
  private async append(account: string, heads: readonly Head[]): Promise<null> {
    const rows = heads.map((head) => `${JSON.stringify({ account, ...head })}\n`);
    await appendFile(this.settings.anchors.file!, rows.join(''), { flush: true });
    return null;
  }

  /** The response of the authority about the head, which covers every certificate before it. */
  private async stamp({ hash }: Head): Promise<Buffer<ArrayBuffer>> {
    const nonce = nonceOf(randomBytes(8));
    const response = await fetch(this.settings.anchors.timestampUrl!, {
      ...{ method: 'POST', redirect: 'error', signal: AbortSignal.timeout(timeoutMs) },
      headers: { 'content-type': 'application/timestamp-query' },
      body: new Uint8Array(timestampRequest(hash, nonce)),
    });
    const bytes = await readUpTo(maxResponseBytes, response);
    if (!response.ok || !bytes || !isGranted(bytes, hash, nonce))
      throw new Error(`the timestamp authority granted nothing: status ${response.status}`);
    return bytes;
  }
}

/** Null for a longer body, of which no more is read. */
async function readUpTo(maxBytes: number, { body }: Response): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
