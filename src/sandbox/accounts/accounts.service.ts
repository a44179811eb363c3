// The bank's customers: the account of an API key, of a number and of a DICT key. Accounts do not
// change after they are opened, so lookups by API key are cached in memory.
import { Injectable } from '@nestjs/common';
import { parsePixKey } from '../../brazil/pix-key.js';
import type { Account } from '../../generated/sandbox/client.js';
import { AppError, invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/exact-json.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { findAccountByNumber } from './accounts.queries.js';
import type { SandboxAccount } from './party.js';

@Injectable()
export class Accounts {
  private readonly byKeyHash = new Map<string, SandboxAccount>();

  constructor(private readonly database: SandboxDatabase) {}

  /** The account of an API key, or null. Keys are compared by hash, so timing reveals nothing. */
  async findByApiKey(apiKey: string): Promise<SandboxAccount | null> {
    const keyHash = sha256(apiKey);
    const cached = this.byKeyHash.get(keyHash);
    if (cached) return cached;
    const found = await this.database.prisma.apiKey.findUnique({
      where: { keyHash },
      include: { account: true },
    });
    if (!found) return null;
    const account = toBankAccount(found.account);
    this.byKeyHash.set(keyHash, account);
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

  /** The account of this bank with a DICT key, however the key is formatted, or null. */
  async findByPixKey(text: string): Promise<SandboxAccount | null> {
    const pixKey = parsePixKey(text);
    if (!pixKey) return null;
    const found = await this.database.prisma.dictKey.findUnique({
      where: { key: pixKey.key },
      include: { account: true },
    });
    return found?.account ? toBankAccount(found.account) : null;
  }

  /**
   * The account's random (EVP) key: the default when a request names no key. Throws `rule_broken`.
   */
  async getDefaultPixKey(account: SandboxAccount): Promise<string> {
    const found = await this.database.prisma.dictKey.findFirst({
      where: { accountId: account.id, kind: 'EVP' },
      orderBy: { key: 'asc' },
    });
    if (!found)
      throw new AppError('rule_broken', {
        public: 'The account has no random Pix key.',
        reason: 'pix_key_missing',
      });
    return found.key;
  }
}

function toBankAccount(row: Account): SandboxAccount {
  const { holderType } = row;
  invariant(holderType === 'NATURAL' || holderType === 'LEGAL', 'a holder is NATURAL or LEGAL');
  return {
    id: row.id,
    branch: row.branch,
    number: row.number,
    holderName: row.holderName,
    holderDocument: row.holderDocument,
    holderType,
    street: row.street,
    city: row.city,
    state: row.state,
    zipCode: row.zipCode,
    email: row.email,
  };
}
