// Owns the bank accounts and the credentials that authenticate the service at each account's bank.
// The settings describe one account. An operator adds the others; their credentials are stored
// encrypted.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import { Settings } from '../../platform/settings/config.js';
import { SettingsError } from '../../platform/settings/environment.js';
import type { Route, RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Prisma, type BankAccount as BankAccountRow } from '../../generated/service/client.js';
import { AppError, conflict, invalidField } from '../../platform/errors.js';
import type { Page } from '../../platform/http/listing.js';
import { BatchedLookUps } from '../../platform/postgres/batched-look-ups.js';
import { SecretBox } from '../../platform/secret-box.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { registersWebhooksByDefault, type AccountMode, type SendingRules } from './account-mode.js';
import { readFaultOfMode } from './account-modes.queries.js';
import {
  findCalledAccounts,
  findRecordedAccount,
  findWebhookAccounts,
  listAccountRows,
  type CalledAccount,
} from './accounts.queries.js';
import type { updateAccount } from './accounts.schema.js';
import type { BankDetails } from './bank-details.schema.js';
import { ownerOfCredentials } from './encrypted-credentials.queries.js';
import { isKeyOfCertificate } from './certificates.schema.js';
import { assertKeyWorks, KeyTrial, triedCredentials } from './key-trial.js';
import {
  changeCredentials,
  completeCredentials,
  namesOfSetCredentials,
  settingsCredentials,
  type BankCredentials,
  type ClientTls,
  type StoredCredentials,
} from './credentials.js';

export type BankAccount = Pick<BankAccountRow, 'id' | 'slug' | 'goLiveAt'> & {
  /** What a call to the bank depends on, as it was read at this time of the monotonic clock. */
  called?: {
    account: CalledAccount;
    readAtMs: number;
    /** Whether it was read in the transaction that recorded the call. */
    isRecorded: boolean;
  };
};

/** The account that the settings describe. */
const mainSlug = 'main';

/** How long a secret that was replaced may still be accepted. */
const recentSecretMs = 500;

export interface WebhookSecret {
  account: BankAccount | null;
  secret: string;
}

interface FoundSecret extends WebhookSecret {
  /** When its look-up began, by the monotonic clock. */
  readAtMs: number;
}

type BankIdentity = Pick<StoredCredentials, 'apiKey' | 'accountHeader'>;

@Injectable()
export class AccountsService {
  /**
   * How long a call may go by an account that was read before. Credentials that were replaced may
   * be sent for so long, which is no longer than a call lasts. Tests use a longer time.
   */
  recentAccountMs = 100;
  private settingsTls: ClientTls = { certificate: null, key: null, ca: null };
  private readonly nobody: WebhookSecret = { account: null, secret: randomUUID() };
  /** Encrypted credentials of no account. */
  private placeholder: Pick<BankAccountRow, 'slug' | 'credentials'> | null = null;
  private readonly webhookAccounts = new BatchedLookUps(async (slugs: readonly string[]) => {
    const readAtMs = performance.now();
    const found = await findWebhookAccounts(this.database.sql, slugs);
    return new Map(found.map((account) => [account.slug, { ...account, readAtMs }]));
  });
  /** What was found last, of existing accounts. */
  private readonly foundSecrets = new Map<string, FoundSecret>();

  private readonly calledAccounts = new BatchedLookUps<number, CalledAccount>(async (ids) => {
    const found = await findCalledAccounts(this.database.sql, ids);
    return new Map(found.map((account) => [account.id, account]));
  });

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly secretBox: SecretBox,
    private readonly keyTrial: KeyTrial,
    @InjectQueue(jobs.registerWebhooks.name)
    private readonly registerWebhooksQueue: JobQueue<'registerWebhooks'>,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
  ) {}

  /** Reads the certificate files named in the settings, once, at boot. Throws SettingsError. */
  async readCertificateFiles(): Promise<void> {
    const { clientCertificateFile, clientKeyFile, caFile } = this.settings.bank;
    this.settingsTls = {
      certificate: await readSettingsFile('BANK_CLIENT_CERTIFICATE_FILE', clientCertificateFile),
      key: await readSettingsFile('BANK_CLIENT_KEY_FILE', clientKeyFile),
      ca: await readSettingsFile('BANK_CA_FILE', caFile),
    };
  }

  /**
   * Records the account of the settings. Its go-live is the moment when it is first recorded. With
   * the sandbox bank, go-live is the epoch: the service created the whole history there, and the
   * sandbox has its own clock.
   */
  async recordMainAccount(): Promise<BankAccount> {
    const { accountMode } = this.settings.bank;
    const bankIdentity = this.hashBankIdentity(this.settings.bank);
    const recorded = await findRecordedAccount(this.database.sql, mainSlug, bankIdentity);
    if (recorded) return recorded;
    await this.database.prisma.bankAccount.createMany({
      data: [{ slug: mainSlug, goLiveAt: this.defaultGoLiveAt(), ...modeOf(accountMode) }],
      skipDuplicates: true,
    });
    const holder = await this.database.prisma.bankAccount.findUnique({ where: { bankIdentity } });
    if (holder && holder.slug !== mainSlug)
      throw new SettingsError([
        `BANK_API_KEY is already the key of the account ${holder.slug}. Use another account's key.`,
      ]);
    return this.database.prisma.bankAccount.update({
      where: { slug: mainSlug },
      data: { bankIdentity },
    });
  }

  /**
   * Adds an account and enqueues the registration of its webhooks and its first sync, once
   * `prepare` has done its work. Throws `rule_broken` if the bank does not accept the key, and
   * `conflict` if another account has the slug or is the same account at the bank.
   */
  async create(
    fields: Pick<BankAccountRow, 'slug' | 'name' | 'goLiveAt'> &
      Partial<SendingRules & Pick<BankAccountRow, 'weight'>> & {
        bankDetails?: GivenBankDetails;
        triesKey?: boolean | undefined;
      },
    credentials: StoredCredentials,
    prepare?: (account: BankAccountRow) => Promise<void>,
  ): Promise<BankAccountRow> {
    assertPair(credentials);
    if (fields.triesKey) await assertKeyWorks(this.keyTrial, this.completed(credentials));
    const { slug, name, goLiveAt, mode = 'live', registersWebhooks, weight } = fields;
    const bankDetails = storedBankDetails(fields.bankDetails);
    const created = await this.database.prisma.bankAccount.createManyAndReturn({
      data: [
        {
          slug,
          name,
          weight,
          bankDetails,
          ...modeOf(mode, registersWebhooks),
          goLiveAt: goLiveAt ?? this.defaultGoLiveAt(),
          origin: 'api',
          credentials: this.encrypt(slug, credentials),
          bankIdentity: this.hashBankIdentity(credentials),
        },
      ],
      skipDuplicates: true,
    });
    const account = created[0];
    if (!account)
      throw (await this.findBySlug(slug))
        ? conflict('account_slug_taken', 'Another account already has this slug.')
        : conflict(
            'bank_account_known',
            'This account at the bank was already added, with this apiKey and accountHeader.',
          );
    await prepare?.(account);
    await this.enqueueRegistrationAndSync(account.id);
    return account;
  }

  /**
   * Throws `conflict` if the credentials come from the settings, if the new credentials may be of
   * another account at the bank, or if another change was stored in between; `rule_broken` if the
   * bank does not accept the key.
   */
  async update(
    slug: string,
    {
      name,
      weight,
      bankDetails,
      credentials,
      isSameBankAccount = false,
      triesKey = false,
    }: RouteInput<typeof updateAccount>['body'],
  ): Promise<BankAccountRow> {
    const account = await this.getBySlug(slug);
    if (credentials && account.origin === 'settings')
      throw conflict(
        'credentials_of_settings',
        'The credentials of this account come from the settings: change them there.',
      );
    const changed = credentials ? changeCredentials(this.decrypt(account), credentials) : null;
    if (changed) assertPair(changed);
    const bankIdentity = changed ? this.hashBankIdentity(changed) : account.bankIdentity;
    // With a key of another account at the bank, a resent operation would reach that other account.
    // The idempotency key is new there, so the effect would happen twice.
    if (bankIdentity !== account.bankIdentity && !isSameBankAccount)
      throw conflict(
        'bank_account_may_differ',
        'The new apiKey or accountHeader may be of another account at the bank. ' +
          'If it is the same account, send isSameBankAccount: true. Otherwise add another account.',
      );
    const holder =
      bankIdentity &&
      (await this.database.prisma.bankAccount.findUnique({ where: { bankIdentity } }));
    if (holder && holder.id !== account.id)
      throw conflict(
        'bank_account_known',
        'Another account already has this apiKey and accountHeader.',
      );
    const isTried = triedCredentials.some((name) => credentials?.[name] !== undefined);
    if (changed && triesKey && isTried)
      await assertKeyWorks(this.keyTrial, this.completed(changed));
    const { count } = await this.database.prisma.bankAccount.updateMany({
      where: { id: account.id, updatedAt: account.updatedAt },
      data: {
        name,
        weight,
        bankDetails: storedBankDetails(bankDetails),
        ...(changed ? { credentials: this.encrypt(slug, changed), bankIdentity } : {}),
        updatedAt: later(await this.database.now(), account.updatedAt),
      },
    });
    if (count === 0)
      throw conflict(
        'account_changed',
        'The account was changed at the same time: read it and try again.',
      );
    if (changed) await this.enqueueRegistrationAndSync(account.id);
    return this.getBySlug(slug);
  }

  async list(): Promise<BankAccount[]> {
    return listAccountRows(this.database.sql);
  }

  /** Newest first; one row more than the page holds. */
  async listPage({ limit, after }: Page): Promise<BankAccountRow[]> {
    return this.database.prisma.bankAccount.findMany({
      where: after === null ? {} : { id: { lt: Number(after) } },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
  }

  async get(id: number): Promise<BankAccount> {
    const readAtMs = performance.now();
    return asCalled(await this.getCalled(id), readAtMs);
  }

  /** Read for each call, in one statement with those of other calls. */
  private async getCalled(id: number): Promise<CalledAccount> {
    const account = await this.calledAccounts.find(id);
    if (!account) throw new AppError('not_found', { internal: `no bank account ${id}` });
    return account;
  }

  async getBySlug(slug: string): Promise<BankAccountRow> {
    const account = await this.database.prisma.bankAccount.findUnique({ where: { slug } });
    if (!account) throw new AppError('not_found');
    return account;
  }

  /** Whether the bank lists webhook registrations, and where webhooks of the account were found. */
  async recordRegistrations(
    id: number,
    known: Partial<Pick<BankAccountRow, 'listsRegistrations' | 'webhookAddresses'>>,
  ): Promise<void> {
    await this.database.prisma.bankAccount.update({ where: { id }, data: known });
  }

  /** What an operator set; null where nothing is set. */
  async findBankDetails(id: number): Promise<BankDetails | null> {
    const { bankDetails } = await this.database.prisma.bankAccount.findUniqueOrThrow({
      where: { id },
      select: { bankDetails: true },
    });
    return bankDetails as BankDetails | null;
  }

  private async findBySlug(slug: string): Promise<BankAccount | null> {
    return this.database.prisma.bankAccount.findUnique({ where: { slug } });
  }

  /** Why the mode of an account refuses a request. */
  faultOfMode(accountId: number, mode: AccountMode): Promise<AppError> {
    return readFaultOfMode(this.database.prisma, accountId, mode);
  }

  /**
   * What a call to the bank depends on. Read from the database for each call: another process may
   * have changed it. Two kinds of calls go by the account that was read just before: those that
   * only read, and those recorded by the transaction that read it, if they are sent at once.
   */
  async getCallSettings(
    { id, called }: Pick<BankAccount, 'id' | 'called'>,
    { isReading, isAtOnce }: Pick<Route, 'isReading'> & { isAtOnce: boolean },
  ): Promise<{ credentials: BankCredentials } & SendingRules> {
    const isRecent = called && performance.now() - called.readAtMs < this.recentAccountMs;
    const goesByRead = isRecent && (isReading || (called.isRecorded && isAtOnce));
    const account = goesByRead ? called.account : await this.getCalled(id);
    const { mode, registersWebhooks } = account;
    return { credentials: this.credentialsOf(account), mode, registersWebhooks };
  }

  async getCredentials({ id }: Pick<BankAccount, 'id'>): Promise<BankCredentials> {
    return this.credentialsOf(await this.getCalled(id));
  }

  private credentialsOf(account: CalledAccount): BankCredentials {
    return account.origin === 'settings'
      ? settingsCredentials(this.settings.bank, this.settingsTls)
      : this.completed(this.decrypt(account));
  }

  private completed(stored: StoredCredentials): BankCredentials {
    return completeCredentials(stored, settingsCredentials(this.settings.bank, this.settingsTls));
  }

  /** Read from the database for each call, as the credentials. */
  async getSendingRules(id: number): Promise<SendingRules> {
    const { mode, registersWebhooks } = await this.getCalled(id);
    return { mode, registersWebhooks };
  }

  /** The names of the credentials that are set. */
  listSetCredentials(account: BankAccountRow): string[] {
    if (account.origin === 'api') return namesOfSetCredentials(this.decrypt(account));
    const { certificate, key, ca } = this.settingsTls;
    return namesOfSetCredentials({
      ...this.settings.bank,
      ...{ clientCertificate: certificate, clientKey: key, ca },
    });
  }

  /**
   * The secret by which the bank authenticates its webhooks for this account. If none is set, the
   * secret is a keyed hash of the slug: 32 bytes that nobody can guess.
   */
  async getWebhookSecret({ slug }: Pick<BankAccount, 'slug'>): Promise<string> {
    return (await this.findWebhookSecret(slug)).secret;
  }

  /**
   * The account of a webhook, and its secret. Without such an account there is a secret too, which
   * nobody knows. The work is the same then, so that its duration does not show which accounts
   * exist.
   */
  async findWebhookSecret(slug: string): Promise<WebhookSecret> {
    const account = await this.webhookAccounts.find(slug);
    const derived = this.secretBox.hash('bank-webhook-secret', slug);
    this.placeholder ??= { slug: '', credentials: this.encrypt('', { apiKey: '' }) };
    const stored = this.decrypt(account?.credentials ? account : this.placeholder).webhookSecret;
    const configured = account?.origin === 'settings' ? this.settings.bank.webhookSecret : stored;
    const secret = configured ?? derived;
    if (account) this.foundSecrets.set(slug, { account, secret, readAtMs: account.readAtMs });
    else this.foundSecrets.delete(slug);
    return { account, secret };
  }

  /**
   * What `findWebhookSecret` found within the last half second: under load, a look-up for each
   * webhook costs more than storing it. Without it, there is no account, and a secret that nobody
   * knows. Whoever does not have this secret may have the one that `findWebhookSecret` finds.
   */
  recentWebhookSecret(slug: string): WebhookSecret {
    const found = this.foundSecrets.get(slug);
    const isRecent = found && performance.now() - found.readAtMs < recentSecretMs;
    return isRecent ? found : this.nobody;
  }

  /** Hash of the credentials that identify the account at the bank. */
  private hashBankIdentity({ apiKey, accountHeader }: BankIdentity): string {
    return this.secretBox.hash('bank-identity', `${apiKey} ${accountHeader?.value ?? ''}`);
  }

  /** Null: the creation of the account, once the bank's clock is known. */
  private defaultGoLiveAt(): Date | null {
    return this.settings.bank.profile === 'sandbox' ? new Date(0) : null;
  }

  private async enqueueRegistrationAndSync(accountId: number): Promise<void> {
    await this.registerWebhooksQueue.enqueue({ accountId });
    await this.syncStatementQueue.enqueue({ accountId });
  }

  private encrypt(slug: string, credentials: StoredCredentials): string {
    return this.secretBox.encrypt(JSON.stringify(credentials), ownerOfCredentials(slug));
  }

  private decrypt({
    slug,
    credentials,
  }: Pick<BankAccountRow, 'slug' | 'credentials'>): StoredCredentials {
    const text = this.secretBox.decrypt(credentials ?? '', ownerOfCredentials(slug));
    return JSON.parse(text) as StoredCredentials;
  }
}

type GivenBankDetails = RouteInput<typeof updateAccount>['body']['bankDetails'];

/** Null removes the details. Undefined leaves them as they are. */
function storedBankDetails(details: GivenBankDetails) {
  return details === null ? Prisma.DbNull : details;
}

/** The account for a call to the bank. `readAtMs`: before it was read, by the monotonic clock. */
export function asCalled(
  account: CalledAccount,
  readAtMs: number,
  isRecorded = false,
): BankAccount {
  const { id, slug, goLiveAt } = account;
  return { id, slug, goLiveAt, called: { account, readAtMs, isRecorded } };
}

/** The mode of a new account. */
function modeOf(
  mode: SendingRules['mode'],
  registersWebhooks = registersWebhooksByDefault(mode, true),
): SendingRules {
  return { mode, registersWebhooks };
}

/**
 * `updatedAt` always advances. An update compares it to detect a change that was stored in between.
 */
function later(now: Date, last: Date): Date {
  return now > last ? now : new Date(last.getTime() + 1);
}

function assertPair({ clientCertificate, clientKey }: StoredCredentials): void {
  const key = '$.credentials.clientKey';
  if (clientCertificate && !clientKey)
    throw invalidField(key, fieldError('set_together', { field: 'clientCertificate' }));
  if (clientKey && !clientCertificate)
    throw invalidField(
      '$.credentials.clientCertificate',
      fieldError('set_together', { field: 'clientKey' }),
    );
  if (clientCertificate && clientKey && !isKeyOfCertificate(clientCertificate, clientKey))
    throw invalidField(key, fieldError('key_of_certificate'));
}

async function readSettingsFile(setting: string, path: string | null): Promise<string | null> {
  if (path === null) return null;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as { code?: string };
    throw new SettingsError([`${setting} must name a readable file (${code}).`]);
  }
}
