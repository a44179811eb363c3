// Look-ups of Pix keys: the account of a key, and the endToEndId that starts one transfer to that
// account. Key and holder are personal data: who approves sees them until they are too old.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { parsePixKey } from '../../brazil/pix-key.js';
import { normalizeTaxId } from '../../brazil/tax-id.js';
import {
  lookUpPixKey,
  type PixLookupRequest,
  type PixLookupResponse,
} from '../../bank-contract/pix-lookup.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database, type SqlTx, type Tx } from '../../platform/postgres/database.service.js';
import {
  formatCounterparty,
  normalizeAccountNumber,
} from '../../statement/expected-payments/counterparty.js';
import type { PixLookup } from '../../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { Reply } from '../../platform/http/contract-route.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import { canonicalJson } from '../../platform/json/exact-json.js';
import { deleteInBatches } from '../../platform/postgres/retention.js';
import { Every } from '../../platform/queue/timers.js';
import { Settings } from '../../platform/settings/config.js';
import { SecretBox } from '../../platform/secret-box.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { pixLookupExpiry } from './transfer-request.js';
import { lookedUpPayee, readLookedUpPayee, type LookedUpPayee } from './looked-up-payee.js';
import { deleteOldPayees, listStoredPayees, ownerOfPayee } from './looked-up-payees.queries.js';
import {
  insertPixLookup,
  readLookupRules,
  type LookupClaim,
  type LookupRules,
} from './transfers.queries.js';

const listedLookUps = 50;

@Injectable()
export class PixLookupsService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly secretBox: SecretBox,
    private readonly settings: Settings,
  ) {}

  /** Looks the key up at the bank and stores the look-up, so that it can start a transfer. */
  async lookUp(
    accountId: number,
    input: RouteInput<typeof lookUpPixKey>,
  ): Promise<{ endToEndId: string; payee: LookedUpPayee; reply: Reply }> {
    const account = await this.accounts.get(accountId);
    const { status, text, value, date } = await this.bank.callOrThrow(lookUpPixKey, account, input);
    const lookedUpAt = date ?? (await this.bankTime.now(accountId));
    const { endToEndId } = value;
    const payee = lookedUpPayee(input.body.key, value);
    await insertPixLookup(this.database.prisma, {
      ...{ accountId, endToEndId, lookedUpAt },
      counterparty: counterpartyOf(value),
      expiresAt: pixLookupExpiry(endToEndId, lookedUpAt),
      ...this.hashesOf(input.body, value),
      payee: this.secretBox.encrypt(JSON.stringify(payee), ownerOfPayee({ accountId, endToEndId })),
    });
    return { endToEndId, payee, reply: new Reply(status, text) };
  }

  /** Whom the look-ups name, by their endToEndId. */
  async findPayees(
    accountId: number,
    endToEndIds: readonly string[],
  ): Promise<Map<string, LookedUpPayee>> {
    const stored = await listStoredPayees(this.database.prisma, accountId, endToEndIds);
    return new Map(
      stored.map(({ endToEndId, payee }) => {
        const text = this.secretBox.decrypt(payee, ownerOfPayee({ accountId, endToEndId }));
        return [endToEndId, readLookedUpPayee(text)];
      }),
    );
  }

  @Every('look-up-retention', 60)
  async deleteOldPayees(): Promise<void> {
    const { prisma } = this.database;
    await deleteInBatches(this.settings.retention.requestDays, (days, limit) =>
      deleteOldPayees(prisma, days, limit),
    );
  }

  /** By these, it is known for ever whether key and holder are the same again. */
  private hashesOf(
    { key, holderDocument }: PixLookupRequest,
    { beneficiary, keyBelongsHolder }: PixLookupResponse,
  ) {
    const hash = (text: string) => this.secretBox.hash('pix-lookup', text);
    const document = holderDocument ? (normalizeTaxId(holderDocument) ?? holderDocument) : null;
    return {
      keyHash: this.hashOfKey(key),
      holderHash: hash(canonicalJson(holderOf(beneficiary))),
      holderDocumentHash: document === null ? null : hash(document),
      keyBelongsHolder: document === null ? null : (keyBelongsHolder ?? null),
    };
  }

  /** Null unless this account made the look-up. */
  async find(accountId: number, endToEndId: string): Promise<PixLookup | null> {
    const where = { accountId_endToEndId: { accountId, endToEndId } };
    return this.database.prisma.pixLookup.findUnique({ where });
  }

  /** The operations of the transfers that used one of the key's newest look-ups. */
  async listOperationIds(accountId: number, key: string): Promise<string[]> {
    const found = await this.database.prisma.pixLookup.findMany({
      where: { accountId, keyHash: this.hashOfKey(key) },
      orderBy: { lookedUpAt: 'desc' },
      take: listedLookUps,
      select: { operationId: true },
    });
    return found.flatMap(({ operationId }) => operationId ?? []);
  }

  private hashOfKey(key: string): string {
    return this.secretBox.hash('pix-lookup', parsePixKey(key)?.key ?? key);
  }

  /** Reads the bank's clock outside the transaction that claims the look-up. */
  async prepareClaim(
    accountId: number,
    endToEndId: string,
  ): Promise<Pick<LookupClaim, 'endToEndId' | 'now' | 'expiresAt'>> {
    const now = await this.bankTime.now(accountId);
    return { endToEndId, now, expiresAt: pixLookupExpiry(endToEndId, now) };
  }

  /**
   * Throws `conflict` when the look-up of a transfer that waited must not start it any more: it is
   * too old, the bank did not confirm its payee, or its key has another holder since.
   */
  async assertUsable(tx: Tx, { accountId, id: operationId }: OperationRef): Promise<void> {
    const claimed = await tx.pixLookup.findFirst({ where: { accountId, operationId } });
    if (!claimed) return;
    const now = await readBankTime(tx, accountId);
    const { endToEndId } = claimed;
    // Whether its key had another holder before was compared when the transfer was stored.
    const lookup = await readLookupRules(tx, accountId, { endToEndId, now, isUnseen: false });
    const broken = lookup && brokenRuleOf(lookup);
    if (broken) throw conflict(broken, lookupErrors[broken]);
  }

  /** Why a look-up cannot start a transfer: `lookupClaimsWrite` has not claimed it. */
  async refusalOf(tx: SqlTx, accountId: number, claim: LookupClaim): Promise<AppError> {
    const lookup = await readLookupRules(tx, accountId, claim);
    if (lookup === null) return lookupError('look_up_expired');
    const broken = lookup.isUsed ? 'look_up_used' : brokenRuleOf(lookup);
    return broken ? lookupError(broken) : new AppError('conflict');
  }
}

/**
 * The account of the key. An account number alone equals the account in full; without it, nothing
 * but the id of the look-up is known.
 */
function counterpartyOf({ beneficiary, endToEndId }: PixLookupResponse): string {
  const { number, branch, participant } = beneficiary ?? {};
  const ispb = participant?.ispb;
  if (number == null) return endToEndId;
  return ispb == null || branch == null
    ? normalizeAccountNumber(number)
    : formatCounterparty({ ispb, branch, number });
}

const holderOf = (beneficiary: PixLookupResponse['beneficiary']) => {
  return [beneficiary?.holder?.name ?? null, beneficiary?.holder?.document ?? null];
};

// The reasons are the bank's own codes, which its clients know.
const lookupErrors = {
  look_up_used: 'The endToEndId was already used for a transfer: look the key up again.',
  look_up_expired: 'The key look-up has expired: look the key up again.',
  // The service's own.
  payee_mismatch:
    'The key look-up had a holderDocument, and the bank did not confirm that the key belongs to ' +
    'that holder. Nothing was sent.',
  payee_changed:
    'The Pix key has another holder than before. Nothing was sent. Look the key up again, with ' +
    'the holderDocument of its holder.',
};

/** Null when the look-up may start a transfer. */
function brokenRuleOf({
  isExpired,
  hasWrongPayee,
  hasChanged,
}: Omit<LookupRules, 'isUsed'>): Exclude<keyof typeof lookupErrors, 'look_up_used'> | null {
  if (isExpired) return 'look_up_expired';
  if (hasWrongPayee) return 'payee_mismatch';
  return hasChanged ? 'payee_changed' : null;
}

function lookupError(reason: keyof typeof lookupErrors): AppError {
  return ruleBroken(reason, lookupErrors[reason]);
}
