// Business systems' keys: kept as keyed hashes, each scoped to one bank account.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Settings } from '../config.js';
import { Database } from '../database.service.js';
import { SecretBox } from '../platform/secret-box.js';
import type { BankAccount } from './accounts.service.js';
import { scopes, type Scope } from './scopes.js';

export type ApiKeyKind = 'api' | 'partner';

export interface Caller {
  accountId: number;
  keyId: string;
  scopes: readonly Scope[];
}

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly secretBox: SecretBox,
  ) {}

  /** Makes the first keys those of the settings: a key that was changed there stops working. */
  async recordSettingsKeys(account: BankAccount): Promise<void> {
    await this.recordSettingsKey(account, 'api', this.settings.keys.api);
    await this.recordSettingsKey(account, 'partner', this.settings.keys.partner);
  }

  /** Who calls, or null when no live key of that kind has this text. Asked each time: revoking is immediate. */
  async find(kind: ApiKeyKind, key: string): Promise<Caller | null> {
    const found = await this.database.prisma.apiKey.findFirst({
      where: {
        hash: this.hash(kind, key),
        revokedAt: null,
        OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
      },
      select: { id: true, accountId: true, scopes: true },
    });
    if (!found) return null;
    return { accountId: found.accountId, keyId: found.id, scopes: found.scopes as Scope[] };
  }

  private async recordSettingsKey(account: BankAccount, kind: ApiKeyKind, key: string) {
    const hash = this.hash(kind, key);
    await this.database.transaction(async (tx) => {
      await tx.apiKey.updateMany({
        where: { kind, origin: 'settings', revokedAt: null, hash: { not: hash } },
        data: { revokedAt: new Date() },
      });
      await tx.apiKey.upsert({
        where: { hash },
        create: {
          id: uuidv7(),
          accountId: account.id,
          kind,
          hash,
          origin: 'settings',
          scopes: [...scopes],
        },
        update: { revokedAt: null, scopes: [...scopes] },
      });
    });
  }

  private hash(kind: ApiKeyKind, key: string): string {
    return this.secretBox.hash(`${kind}-key`, key);
  }
}
