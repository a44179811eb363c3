// The bank accounts that the service keeps the book of, and what it shows to each account's bank. One is described
// by the settings; others are added by an operator, with credentials that are kept sealed.
import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Settings, SettingsError } from '../config.js';
import { Database } from '../database.service.js';
import type { BankAccount as BankAccountRow } from '../generated/service/client.js';
import { Clock } from '../platform/clock.js';
import { AppError } from '../platform/errors.js';
import type { Page } from '../platform/listing.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobQueue } from '../platform/job-queue.js';
import { isPair } from './certificates.schema.js';
import {
  changeCredentials,
  completeCredentials,
  credentialsSet,
  settingsCredentials,
  type BankCredentials,
  type ClientTls,
  type StoredCredentials,
} from './credentials.js';

export interface BankAccount {
  id: number;
  /** Names the account in webhook URLs. */
  slug: string;
  /** Lines before this are opening lines. */
  goLiveAt: Date;
}

/** The account that the settings describe. */
export const mainSlug = 'main';

export interface AccountChanges {
  name?: string | null | undefined;
  /** The operator's word that another key is still of the same account at the bank. */
  isSameBankAccount?: boolean | undefined;
  credentials?: Partial<StoredCredentials> | undefined;
}

type BankIdentity = Pick<StoredCredentials, 'apiKey' | 'accountHeader'>;

@Injectable()
export class AccountsService {
  private settingsTls: ClientTls = { certificate: null, key: null, ca: null };

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly secretBox: SecretBox,
    private readonly clock: Clock,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Reads the certificates that the settings name, once, at the start. Throws SettingsError. */
  async readCertificateFiles(): Promise<void> {
    const { clientCertificateFile, clientKeyFile, caFile } = this.settings.bank;
    this.settingsTls = {
      certificate: await readSettingsFile('BANK_CLIENT_CERTIFICATE_FILE', clientCertificateFile),
      key: await readSettingsFile('BANK_CLIENT_KEY_FILE', clientKeyFile),
      ca: await readSettingsFile('BANK_CA_FILE', caFile),
    };
  }

  /**
   * Records the account of the settings. It goes live when it is first recorded; with the sandbox bank, whose
   * whole history is ours and whose clock is not, from the beginning.
   */
  async recordMain(): Promise<BankAccount> {
    await this.database.prisma.bankAccount.createMany({
      data: [{ slug: mainSlug, goLiveAt: this.defaultGoLiveAt() }],
      skipDuplicates: true,
    });
    const bankIdentity = this.bankIdentity(this.settings.bank);
    const other = await this.database.prisma.bankAccount.findUnique({ where: { bankIdentity } });
    if (other && other.slug !== mainSlug)
      throw new SettingsError([`BANK_API_KEY is the key of the account ${other.slug}.`]);
    return this.database.prisma.bankAccount.update({
      where: { slug: mainSlug },
      data: { bankIdentity },
    });
  }

  /** Adds an account; its webhooks are registered and its statement is read. Throws `conflict`. */
  async add(
    fields: { slug: string; name: string | null; goLiveAt: Date | null },
    credentials: StoredCredentials,
  ): Promise<BankAccountRow> {
    assertPair(credentials);
    const { slug, name, goLiveAt } = fields;
    const added = await this.database.prisma.bankAccount.createManyAndReturn({
      data: [
        {
          slug,
          name,
          goLiveAt: goLiveAt ?? this.defaultGoLiveAt(),
          origin: 'api',
          credentials: this.seal(credentials),
          bankIdentity: this.bankIdentity(credentials),
        },
      ],
      skipDuplicates: true,
    });
    const account = added[0];
    if (!account)
      throw new AppError('conflict', {
        public: (await this.findBySlug(slug))
          ? 'An account has this slug already.'
          : 'Another account has this key: the book of one account at the bank is kept once.',
      });
    await this.enqueue(account.id);
    return account;
  }

  /** Throws `conflict` for the credentials of the settings' account, and where another change was faster. */
  async change(
    slug: string,
    { name, credentials, isSameBankAccount = false }: AccountChanges,
  ): Promise<BankAccountRow> {
    const account = await this.getBySlug(slug);
    if (credentials && account.origin === 'settings')
      throw new AppError('conflict', {
        public: 'The credentials of this account stand in the settings and are changed there.',
      });
    const changed = credentials ? changeCredentials(this.open(account), credentials) : null;
    if (changed) assertPair(changed);
    const bankIdentity = changed ? this.bankIdentity(changed) : account.bankIdentity;
    // What was asked under the old key would be asked again of another account, under a key that is new to it.
    if (bankIdentity !== account.bankIdentity && !isSameBankAccount)
      throw new AppError('conflict', {
        reason: 'bank_account_may_differ',
        public:
          'Another apiKey or accountHeader may be of another account at the bank: isSameBankAccount says that it is ' +
          'not. An account of its own is added for another one.',
      });
    const holder =
      bankIdentity &&
      (await this.database.prisma.bankAccount.findUnique({ where: { bankIdentity } }));
    if (holder && holder.id !== account.id)
      throw new AppError('conflict', { public: 'Another account has this key.' });
    const { count } = await this.database.prisma.bankAccount.updateMany({
      where: { id: account.id, updatedAt: account.updatedAt },
      data: {
        ...(name === undefined ? {} : { name }),
        ...(changed ? { credentials: this.seal(changed), bankIdentity } : {}),
        updatedAt: later(this.clock.now(), account.updatedAt),
      },
    });
    if (count === 0)
      throw new AppError('conflict', { public: 'The account was changed at the same time.' });
    if (changed) await this.enqueue(account.id);
    return this.getBySlug(slug);
  }

  async list(): Promise<BankAccount[]> {
    return this.database.prisma.bankAccount.findMany({ orderBy: { id: 'asc' } });
  }

  /** One more than the page holds, newest first. */
  async listPage({ limit, after }: Page): Promise<BankAccountRow[]> {
    return this.database.prisma.bankAccount.findMany({
      where: after === null ? {} : { id: { lt: Number(after) } },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
  }

  async get(id: number): Promise<BankAccount> {
    const account = await this.database.prisma.bankAccount.findUnique({ where: { id } });
    if (!account) throw new AppError('not_found', { internal: `no bank account ${id}` });
    return account;
  }

  async getBySlug(slug: string): Promise<BankAccountRow> {
    const account = await this.database.prisma.bankAccount.findUnique({ where: { slug } });
    if (!account) throw new AppError('not_found');
    return account;
  }

  async findBySlug(slug: string): Promise<BankAccount | null> {
    return this.database.prisma.bankAccount.findUnique({ where: { slug } });
  }

  /** What the account's bank is shown. Read each time: another process may have changed it. */
  async credentials({ id }: Pick<BankAccount, 'id'>): Promise<BankCredentials> {
    const account = await this.database.prisma.bankAccount.findUniqueOrThrow({ where: { id } });
    const ofSettings = settingsCredentials(this.settings.bank, this.settingsTls);
    return account.origin === 'settings'
      ? ofSettings
      : completeCredentials(this.open(account), ofSettings);
  }

  /** The names of the credentials that are set. */
  credentialsSet(account: BankAccountRow): string[] {
    if (account.origin === 'api') return credentialsSet(this.open(account));
    const { certificate, key, ca } = this.settingsTls;
    return credentialsSet({
      ...this.settings.bank,
      ...{ clientCertificate: certificate, clientKey: key, ca },
    });
  }

  /** What the bank must prove itself with when it calls us for this account; 32 random-looking bytes. */
  async webhookSecret({ id, slug }: Pick<BankAccount, 'id' | 'slug'>): Promise<string> {
    const account = await this.database.prisma.bankAccount.findUniqueOrThrow({ where: { id } });
    const said =
      account.origin === 'settings'
        ? this.settings.bank.webhookSecret
        : this.open(account).webhookSecret;
    return said ?? this.secretBox.hash('bank-webhook-secret', slug);
  }

  /** Which account at the bank the credentials are of, as far as they tell. */
  private bankIdentity({ apiKey, accountHeader }: BankIdentity): string {
    return this.secretBox.hash('bank-identity', `${apiKey} ${accountHeader?.value ?? ''}`);
  }

  private defaultGoLiveAt(): Date {
    return this.settings.bank.profile === 'sandbox' ? new Date(0) : this.clock.now();
  }

  private async enqueue(accountId: number): Promise<void> {
    await this.jobQueue.enqueue('registerWebhooks', { accountId });
    await this.jobQueue.enqueue('syncStatement', { accountId });
  }

  private seal(credentials: StoredCredentials): string {
    return this.secretBox.seal(JSON.stringify(credentials));
  }

  private open({ credentials }: BankAccountRow): StoredCredentials {
    return JSON.parse(this.secretBox.open(credentials ?? '')) as StoredCredentials;
  }
}

function later(now: Date, last: Date): Date {
  return now > last ? now : new Date(last.getTime() + 1);
}

function assertPair({ clientCertificate, clientKey }: StoredCredentials): void {
  const wrong = (field: string, message: string) =>
    new AppError('validation_failed', { errors: { [`$.credentials.${field}`]: [message] } });
  if (clientCertificate && !clientKey)
    throw wrong('clientKey', 'A certificate goes with its private key.');
  if (clientKey && !clientCertificate)
    throw wrong('clientCertificate', 'A private key goes with its certificate.');
  if (clientCertificate && clientKey && !isPair(clientCertificate, clientKey))
    throw wrong('clientKey', 'Is not the private key of the certificate.');
}

async function readSettingsFile(setting: string, path: string | null): Promise<string | null> {
  if (path === null) return null;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as { code?: string };
    throw new SettingsError([`${setting} names a file that cannot be read (${code}).`]);
  }
}
