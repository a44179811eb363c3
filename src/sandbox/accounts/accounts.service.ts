// The bank's customers: the account of an API key, of a number and of a DICT key. Accounts do not
// change after they are opened, so lookups by API key are cached in memory.
import { Injectable } from '@nestjs/common';
import { parsePixKey } from '../../brazil/pix-key.js';
import type { DictKey } from '../../generated/sandbox/client.js';
import { AppError, ruleBroken } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import {
  findAccountByKeyHash,
  findAccountByNumber,
  findAccountByPixKey,
} from './accounts.queries.js';
import type { OpenedAccount } from './opened-accounts.js';
import type { SandboxAccount } from './party.js';

/** Those that a new bank opens. It is a class so that it can be injected. */
export class FirstAccounts {
  constructor(readonly all: readonly [OpenedAccount, ...OpenedAccount[]]) {}
}

@Injectable()
export class Accounts {
  private readonly byKeyHash = new Map<string, SandboxAccount>();

  constructor(private readonly database: SandboxDatabase) {}

  /** The account of an API key, or null. Keys are compared by hash, so timing reveals nothing. */
  async findByApiKey(apiKey: string): Promise<SandboxAccount | null> {
    const keyHash = sha256(apiKey);
    const cached = this.byKeyHash.get(keyHash);
    if (cached) return cached;
    const account = await findAccountByKeyHash(this.database, keyHash);
    if (account) this.byKeyHash.set(keyHash, account);
    return account;
  }

  /** After a reset the bank assigns its account ids again. */
  clearCache(): void {
    this.byKeyHash.clear();
  }

  /** A customer's account by its number; throws `not_found`. */
  async getByNumber(number: string): Promise<SandboxAccount> {
    const account = await findAccountByNumber(this.database, number);
    if (!account) throw new AppError('not_found');
    return account;
  }

  /** The account that a request of the control plane names, or a default. Throws `not_found`. */
  async getNamed<Default extends SandboxAccount | null>(
    number: string | null | undefined,
    byDefault: Default,
  ): Promise<SandboxAccount | Default> {
    return number ? this.getByNumber(number) : byDefault;
  }

  /** The account of this bank with a DICT key, however the key is formatted, or null. */
  async findByPixKey(text: string): Promise<SandboxAccount | null> {
    const pixKey = parsePixKey(text);
    return pixKey && findAccountByPixKey(this.database, pixKey.key);
  }

  /** The account's random (EVP) key, the default of requests. Throws `rule_broken`. */
  async getDefaultPixKey(account: SandboxAccount): Promise<string> {
    const key = { accountId: account.id, kind: 'EVP' };
    const [found] = await this.database.list<DictKey>('dict_key', key, 'key');
    if (!found) throw ruleBroken('pix_key_missing', 'The account has no random Pix key.');
    return found.key;
  }
}
