// The bank's customers: who a key belongs to, and whose a DICT key is. Accounts do not change once opened, so
// what was found is kept in memory.
import { Injectable } from '@nestjs/common';
import { parsePixKey } from '../../brazil/pix-key.js';
import type { Account } from '../../generated/sandbox/client.js';
import { AppError, invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/exact-json.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { findAccountByNumber } from './accounts.queries.js';
import type { BankAccount } from './party.js';

@Injectable()
export class Accounts {
  private readonly byKeyHash = new Map<string, BankAccount>();

  constructor(private readonly database: SandboxDatabase) {}

  /** The account of an API key, or null. Compared by hash: nothing is learnt from how long it takes. */
  async findByApiKey(apiKey: string): Promise<BankAccount | null> {
    const keyHash = sha256(apiKey);
    const known = this.byKeyHash.get(keyHash);
    if (known) return known;
    const found = await this.database.prisma.apiKey.findUnique({
      where: { keyHash },
      include: { account: true },
    });
    if (!found) return null;
    const account = toBankAccount(found.account);
    this.byKeyHash.set(keyHash, account);
    return account;
  }

  /** Forgets what was found: a bank that begins anew gives out its numbers again. */
  forget(): void {
    this.byKeyHash.clear();
  }

  /** A customer's account by its number; throws `not_found`. */
  async getByNumber(number: string): Promise<BankAccount> {
    const account = await findAccountByNumber(this.database, number);
    if (!account) throw new AppError('not_found');
    return account;
  }

  /** The account of this bank that a DICT key leads to, however the key is spelled, or null. */
  async findByPixKey(text: string): Promise<BankAccount | null> {
    const pixKey = parsePixKey(text);
    if (!pixKey) return null;
    const found = await this.database.prisma.dictKey.findUnique({
      where: { key: pixKey.key },
      include: { account: true },
    });
    return found?.account ? toBankAccount(found.account) : null;
  }

  /** The random key of the account, under which it is paid when no other is asked for. */
  async getDefaultPixKey(account: BankAccount): Promise<string> {
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

function toBankAccount(row: Account): BankAccount {
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
