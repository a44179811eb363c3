// Opens the demonstration: a shop's month at the sandbox bank, as an account of its own. The bank
// generates the lines, the shop's books declare what they expect, and everything after that is what
// the service does with any account.
import { noPreferences } from '../../outbound/operations/operation.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeysService } from '../../access/accounts/api-keys.service.js';
import { SandboxControl } from '../../bank/sandbox-control.service.js';
import { bigInteger, instant, reais } from '../../bank-contract/wire.js';
import { ApprovalPolicies } from '../../outbound/operations/approval-policies.service.js';
import { TransfersService } from '../../outbound/transfers/transfers.service.js';
import { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { Database } from '../../platform/postgres/database.service.js';
import { withLease } from '../../platform/postgres/leases/leases.service.js';
import { RuleCatalog } from '../../reconciliation/rules/rule-catalog.service.js';
import { RuleTrials } from '../../reconciliation/rules/rule-trials.service.js';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { shopPayments, type ShopLine } from './demo-month.js';

export const demoSlug = 'loja-aurora';
const shopPlan = { count: 3_100, days: 45, seed: 20_261_128 };
/** Payments that are declared at the same time: the pool has other users. */
const concurrentPayments = 8;
const leaseWaitMs = 200;
const approvedAboveCents = 100_000n;

/** Suppliers with a Pix key at the sandbox bank, and what is due to each, in cents. */
const invoices = [
  { key: '12ABC34501DE35', amount: 248_000n, description: 'NF 4471 tecidos' },
  { key: 'ana@pagadores.example', amount: 135_050n, description: 'NF 208 costura' },
  { key: '+5521987650003', amount: 42_000n, description: 'Frete da semana' },
];

const shopLedger = z.object({
  movements: z.array(
    z.object({
      ...{ nsu: bigInteger, amount: reais, isCredit: z.boolean(), type: z.string() },
      ...{ endToEndId: z.string().nullable(), correlationId: z.string().nullable() },
      createdAt: instant,
    }),
  ),
});
const bankAccounts = z.object({
  accounts: z.array(z.object({ number: z.string(), key: z.string() })),
});

/** How many of the payments that the books expect are declared; before they are known, none. */
export interface DemoProgress {
  declared: number;
  due: number;
}

/** The account, and the key by which the shop's own system calls. */
interface ShopBooks {
  accountId: number;
  actor: string;
}

@Injectable()
export class DemoShop {
  /** The opening that is under way in this process. */
  private opening: Promise<void> | null = null;
  private progress: DemoProgress = { declared: 0, due: 0 };
  private failure: Error | null = null;

  constructor(
    private readonly accounts: AccountsService,
    private readonly apiKeys: ApiKeysService,
    private readonly sandbox: SandboxControl,
    private readonly database: Database,
    private readonly payments: DeclaredPayments,
    private readonly rules: RuleCatalog,
    private readonly trials: RuleTrials,
    private readonly policies: ApprovalPolicies,
    private readonly transfers: TransfersService,
    private readonly bankTime: BankTime,
  ) {}

  /**
   * Opens the shop, unless it is there already, by the key of an account at the same bank. Throws
   * `not_found` where the bank is no sandbox bank with the shop's account.
   */
  open(opener: { id: number }, onAccount: () => void = () => {}): Promise<void> {
    this.opening ??= this.create(opener, onAccount).finally(() => (this.opening = null));
    return this.opening;
  }

  /** Begins to open the shop; ends when its account is there. `follow` says the rest. */
  async begin(opener: { id: number }): Promise<void> {
    this.failure = null;
    await new Promise<void>((resolve) => {
      const ended = this.open(opener, resolve).catch((error: unknown) => {
        this.failure = error instanceof Error ? error : new Error(String(error));
      });
      void ended.then(() => resolve());
    });
  }

  /** Null when the shop is open. Throws what ended its opening before. */
  follow(): DemoProgress | null {
    if (this.failure !== null) throw this.failure;
    return this.opening && this.progress;
  }

  private async create(opener: { id: number }, onAccount: () => void): Promise<void> {
    const known = await this.accounts.list();
    if (known.some(({ slug }) => slug === demoSlug)) return;
    const fixtures = await this.sandbox.call(opener, { method: 'GET', path: '/sandbox/fixtures' });
    const apiKey = z.parse(bankAccounts, fixtures).accounts[2]?.key;
    if (apiKey === undefined) throw new AppError('not_found');
    const account = { slug: demoSlug, name: 'Loja Aurora (demonstração)', goLiveAt: null };
    this.progress = { declared: 0, due: 0 };
    await this.accounts.create(account, { apiKey }, async ({ id: accountId }) => {
      onAccount();
      const name = 'Sistema da loja';
      const scopes = ['read', 'charge', 'transfer', 'expect'] as const;
      const { record } = await this.apiKeys.create(accountId, { name, kind: 'api', scopes });
      const books = { accountId, actor: record.id };
      await this.addFeeRule(books);
      await this.withoutSyncs(accountId, () => this.fillBooks(books));
      await this.requestPayments(books);
    });
  }

  /** What the books expect is declared before the statement is read. */
  private async withoutSyncs(accountId: number, work: () => Promise<void>): Promise<void> {
    const run = () => withLease(this.database, accountId, 'sync_statement', work);
    while (!(await run())) await sleep(leaseWaitMs);
  }

  private async fillBooks({ accountId, actor }: ShopBooks): Promise<void> {
    const shop = { id: accountId };
    const path = '/sandbox/generate';
    await this.sandbox.call(shop, { method: 'POST', path, body: shopPlan });
    const lines = await this.readLedger(shop);
    const payments = shopPayments(lines, await this.bankTime.today(shop.id));
    this.progress.due = payments.length;
    const due = payments.values();
    const author = { accountId, actor, reason: null };
    const declareInTurn = async () => {
      for (const { externalId, terms } of due) {
        await this.payments.declare(author, externalId, terms);
        this.progress.declared += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrentPayments }, declareInTurn));
  }

  /** The bank of the contract shows fees by their text alone. */
  private async addFeeRule(books: ShopBooks): Promise<void> {
    const by = { ...books, reason: 'Demonstração' };
    const ruleId = await this.rules.create(by, 'Tarifas do banco', {
      priority: 100,
      when: { isCredit: false, notes: { contains: 'tarifa' } },
      then: { classify: 'fee', reason: 'Tarifa de serviço' },
      reason: 'Demonstração',
    });
    await this.trials.run(books, { ruleId, version: 1 }, {});
    await this.rules.activate(by, ruleId, 1);
  }

  private async readLedger(shop: { id: number }): Promise<ShopLine[]> {
    const path = `/sandbox/ledger?limit=${2 * shopPlan.count}`;
    const ledger = await this.sandbox.call(shop, { method: 'GET', path });
    const { movements } = z.decode(shopLedger, ledger as never);
    return movements.map(({ amount: amountCents, ...line }) => ({ ...line, amountCents }));
  }

  /** Payments to suppliers: the larger ones await a person's approval. */
  private async requestPayments({ accountId, actor }: ShopBooks): Promise<void> {
    await this.policies.change(
      { accountId, actor },
      {
        ...{ aboveAmount: approvedAboveCents, kinds: [], approvals: 1, newBeneficiary: false },
        ...{ sources: [], expiresAfterHours: 72, reason: 'Demonstração' },
      },
    );
    const requestedBy = { source: 'api', actor } as const;
    for (const invoice of invoices)
      await this.transfers.createByKey(accountId, invoice, newId(), {
        ...noPreferences,
        requestedBy,
      });
  }
}
