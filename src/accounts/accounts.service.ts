// The bank accounts that the service keeps the book of, and what it shows to each account's bank.
import { Injectable } from '@nestjs/common';
import { Settings } from '../config.js';
import { Database } from '../database.service.js';
import { Clock } from '../platform/clock.js';
import { AppError } from '../platform/errors.js';
import { SecretBox } from '../platform/secret-box.js';

export interface BankAccount {
  id: number;
  /** Names the account in webhook URLs. */
  slug: string;
  /** Lines before this are opening lines. */
  goLiveAt: Date;
}

export interface BankCredentials {
  apiKey: string;
  partnerKey: string;
}

/** The account that the settings describe. */
export const mainSlug = 'main';

@Injectable()
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly secretBox: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Records the account of the settings. It goes live when it is first recorded; with the sandbox bank, whose
   * whole history is ours and whose clock is not, from the beginning.
   */
  async recordMain(): Promise<BankAccount> {
    const goLiveAt = this.settings.bank.profile === 'sandbox' ? new Date(0) : this.clock.now();
    await this.database.prisma.bankAccount.createMany({
      data: [{ slug: mainSlug, goLiveAt }],
      skipDuplicates: true,
    });
    return this.database.prisma.bankAccount.findUniqueOrThrow({ where: { slug: mainSlug } });
  }

  async list(): Promise<BankAccount[]> {
    return this.database.prisma.bankAccount.findMany({ orderBy: { id: 'asc' } });
  }

  async get(id: number): Promise<BankAccount> {
    const account = await this.database.prisma.bankAccount.findUnique({ where: { id } });
    if (!account) throw new AppError('not_found', { internal: `no bank account ${id}` });
    return account;
  }

  async findBySlug(slug: string): Promise<BankAccount | null> {
    return this.database.prisma.bankAccount.findUnique({ where: { slug } });
  }

  credentials(_account: BankAccount): BankCredentials {
    return { apiKey: this.settings.bank.apiKey, partnerKey: this.settings.bank.partnerKey };
  }

  /** What the bank must prove itself with when it calls us for this account; 32 random-looking bytes. */
  webhookSecret(account: Pick<BankAccount, 'slug'>): string {
    return (
      this.settings.bank.webhookSecret ?? this.secretBox.hash('bank-webhook-secret', account.slug)
    );
  }
}
