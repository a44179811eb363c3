// Owns the API keys of business systems: stored as keyed hashes, each scoped to one bank account.
// Also checks the admin key of the operator.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { ApiKey } from '../../generated/service/client.js';
import { AppError, conflict } from '../../platform/errors.js';
import { idsAfter, pageById, type Page } from '../../platform/http/listing.js';
import { BatchedLookUps } from '../../platform/postgres/batched-look-ups.js';
import { isSameSecret, SecretBox } from '../../platform/secret-box.js';
import { newId } from '../../platform/ids.js';
import { assertBelowQuota, type Quota } from '../../platform/limits/quotas.queries.js';
import { findValidKeys, listSettingsKeys, type ValidKey } from './accounts.queries.js';
import type { BankAccount } from './accounts.service.js';
import { scopes, type Scope } from './scope.decorator.js';

export type ApiKeyKind = 'api' | 'partner';

/** Who asks for something: the API key of a business system, or a person at the console. */
export interface Caller {
  accountId: number;
  /** The id of the key, or `person:` and the operator's id. It is recorded with what is done. */
  actor: string;
  scopes: readonly Scope[];
  /** Of the account, in the order of requests that wait. */
  weight: number;
}

export interface NewKey {
  name: string | null;
  kind: ApiKeyKind;
  scopes: readonly Scope[];
  /** Another holder than the key itself: a person who has the key. */
  holder?: string | undefined;
}

const keyBytes = 32;
const hintLength = 4;
const defaultOverlapSeconds = 86_400;
/** All keys of the settings, present and replaced, have one holder. */
const settingsHolder = 'settings';
const settingsScopes: Record<ApiKeyKind, readonly Scope[]> = { api: scopes, partner: ['onboard'] };

@Injectable()
export class ApiKeysService {
  private readonly validKeys = new BatchedLookUps<string, ValidKey>(async (hashes) => {
    const found = await findValidKeys(this.database.sql, hashes);
    return new Map(found.map((key) => [key.hash, key]));
  });

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly secretBox: SecretBox,
  ) {}

  /** Records the keys of the settings. A key that was replaced in the settings stops working. */
  async recordSettingsKeys(account: BankAccount): Promise<void> {
    const recorded = await listSettingsKeys(this.database.sql);
    for (const kind of ['api', 'partner'] as const)
      if (!this.isRecorded(recorded, kind))
        await this.recordSettingsKey(account, kind, this.settings.keys[kind]);
  }

  /** Whether the key of the settings, with its scopes, is the only one of its kind. */
  private isRecorded(
    recorded: Awaited<ReturnType<typeof listSettingsKeys>>,
    kind: ApiKeyKind,
  ): boolean {
    const [key, ...others] = recorded.filter((found) => found.kind === kind);
    const hash = this.hash(kind, this.settings.keys[kind]);
    return (
      key?.hash === hash && others.length === 0 && key.scopes.join() === settingsScopes[kind].join()
    );
  }

  /** Null when no valid key of that kind matches. Not cached: revocation takes effect at once. */
  async findCaller(kind: ApiKeyKind, key: string): Promise<Caller | null> {
    const found = await this.validKeys.find(this.hash(kind, key));
    if (found?.kind !== kind) return null;
    const { id: actor, accountId, weight } = found;
    return { accountId, actor, scopes: found.scopes as Scope[], weight };
  }

  isAdminKey(key: string): boolean {
    return isSameSecret(key, this.settings.keys.admin);
  }

  /**
   * Returns the key itself, once: only its hash is stored. Throws `conflict` above the quota. A
   * form that is sent twice makes one key: without the service's own secret, the id of the form
   * says nothing of the key.
   */
  async create(accountId: number, fields: NewKey, formId: string | null = null) {
    const { apiKeys: limit } = this.settings.quotas;
    const quota: Quota = {
      accountId,
      limit,
      code: 'api_key_limit',
      name: 'API keys without an end',
    };
    return this.database.transaction(async (tx) => {
      await assertBelowQuota(tx, quota, () =>
        tx.apiKey.count({ where: { accountId, revokedAt: null, expiresAt: null } }),
      );
      if (formId === null) return this.insert(tx, accountId, fields, randomKey());
      const key = `ck_${this.secretBox.hash('key-of-form', `${accountId} ${formId}`)}`;
      const where = { accountId, hash: this.hash(fields.kind, key) };
      const record = await tx.apiKey.findFirst({ where });
      if (record === null) return this.insert(tx, accountId, fields, key);
      const isSame =
        record.name === fields.name && [...record.scopes].join() === [...fields.scopes].join();
      if (!isSame || record.revokedAt !== null)
        throw conflict('key_was_made', 'The form has made another key before.');
      return { record, key };
    });
  }

  /** Without a holder, the key is the first of its holder. */
  private async insert(tx: Tx, accountId: number, fields: NewKey, key: string) {
    const id = newId();
    const record = await tx.apiKey.create({
      data: {
        id,
        accountId,
        holder: fields.holder ?? id,
        name: fields.name,
        kind: fields.kind,
        hash: this.hash(fields.kind, key),
        origin: 'api',
        scopes: [...new Set(fields.scopes)],
        hint: key.slice(-hintLength),
      },
    });
    return { record, key };
  }

  /**
   * The names of these keys of the account by id, or the last characters of a key without one. The
   * keys of the settings have neither: null.
   */
  async findNames(accountId: number, ids: readonly string[]): Promise<Map<string, string | null>> {
    if (ids.length === 0) return new Map();
    const where = { accountId, id: { in: [...new Set(ids)] } };
    const select = { id: true, name: true, hint: true };
    const found = await this.database.prisma.apiKey.findMany({ where, select });
    return new Map(found.map(({ id, name, hint }) => [id, name ?? hint]));
  }

  /** Newest first; one row more than the page holds. */
  async listPage(accountId: number, page: Page): Promise<ApiKey[]> {
    return this.database.prisma.apiKey.findMany({
      where: { accountId, id: idsAfter(page) },
      ...pageById(page),
    });
  }

  /** How many keys of the account are accepted now. */
  async countUsable(accountId: number): Promise<number> {
    const now = await this.database.now();
    const where = { accountId, revokedAt: null };
    return this.database.prisma.apiKey.count({
      where: { ...where, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
    });
  }

  /**
   * Creates a key with the same scopes; the old one expires after the overlap. Throws `conflict`
   * for a key that already expires or is revoked.
   */
  async rotate(accountId: number, id: string, overlapSeconds = defaultOverlapSeconds) {
    const old = await this.getChangeable(accountId, id);
    const now = await this.database.now();
    return this.database.transaction(async (tx) => {
      const { count } = await tx.apiKey.updateMany({
        where: { id, revokedAt: null, expiresAt: null },
        data: { expiresAt: new Date(now.getTime() + overlapSeconds * 1_000) },
      });
      if (count === 0) throw conflict('key_not_current', 'The key was already rotated or revoked.');
      const { name, kind, holder } = old;
      const fields = { name, kind: kind as ApiKeyKind, scopes: old.scopes as Scope[], holder };
      return this.insert(tx, accountId, fields, randomKey());
    });
  }

  /** Takes effect at once, also during the overlap of a rotation. A repeat changes nothing. */
  async revoke(accountId: number, id: string): Promise<ApiKey> {
    await this.getChangeable(accountId, id);
    await this.database.prisma.apiKey.updateMany({
      where: { id, revokedAt: null },
      data: { revokedAt: await this.database.now() },
    });
    return this.database.prisma.apiKey.findUniqueOrThrow({ where: { id } });
  }

  private async getChangeable(accountId: number, id: string): Promise<ApiKey> {
    const found = await this.database.prisma.apiKey.findFirst({ where: { accountId, id } });
    if (!found) throw new AppError('not_found');
    if (found.origin === 'settings')
      throw conflict('key_of_settings', 'This key comes from the settings: change it there.');
    return found;
  }

  private async recordSettingsKey(account: BankAccount, kind: ApiKeyKind, key: string) {
    const hash = this.hash(kind, key);
    const granted = [...settingsScopes[kind]];
    const revokedAt = await this.database.now();
    await this.database.transaction(async (tx) => {
      await tx.apiKey.updateMany({
        where: { kind, origin: 'settings', revokedAt: null, hash: { not: hash } },
        data: { revokedAt },
      });
      await tx.apiKey.upsert({
        where: { hash },
        create: {
          id: newId(),
          accountId: account.id,
          kind,
          hash,
          origin: 'settings',
          holder: settingsHolder,
          scopes: granted,
        },
        update: { revokedAt: null, scopes: granted },
      });
    });
  }

  private hash(kind: ApiKeyKind, key: string): string {
    return this.secretBox.hash(`${kind}-key`, key);
  }
}

function randomKey(): string {
  return `ck_${randomBytes(keyBytes).toString('base64url')}`;
}
