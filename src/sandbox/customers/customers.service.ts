// Creates customers: each with its account in one transaction. A due task approves the customer
// shortly after, unless a mode leaves the decision to the control plane.
import { Injectable } from '@nestjs/common';
import type { CustomerRequest } from '../../bank-contract/customers.js';
import type { Customer } from '../../generated/sandbox/client.js';
import {
  AppError,
  conflict,
  invalidField,
  invariant,
  refuseInvalid,
  ruleBroken,
} from '../../platform/errors.js';
import { findAccountByNumber } from '../accounts/accounts.queries.js';
import { fixtureAccounts } from '../accounts/fixtures.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { DueWork } from '../due-work/due-work.service.js';
import { openAccount } from '../ledger/opening.queries.js';
import { Modes } from '../modes/modes.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { decideCustomer, nextAccountNumber, type CustomerDecision } from './customers.queries.js';
import {
  codeProblems,
  customerBranch,
  customerDecidedBody,
  decidedEventTypes,
  detailsOf,
  documentOf,
  hasWrongCode,
  maskedCpf,
  openingOf,
} from './new-customer.js';
import { Passwords } from './passwords.service.js';

const approvalKind = 'customer-approval';
const approvalMs = 2_000;

interface Decision {
  status: CustomerDecision;
  /** Why a customer was refused. */
  reason: string | null;
}

type NewCustomer = Omit<Customer, 'accountId' | 'details'> & { details: object };

@Injectable()
export class Customers {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly passwords: Passwords,
    private readonly webhooks: Webhooks,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly dueWork: DueWork,
    private readonly modes: Modes,
  ) {
    dueWork.handle(approvalKind, async (tx, id) => {
      await this.decideIn(tx, id, { status: 'APPROVED', reason: null });
    });
  }

  async create(request: CustomerRequest) {
    this.assertBirthDateInPast(request);
    if (this.modes.current.verificationCodes === 'digits') refuseInvalid(codeProblems(request));
    if (hasWrongCode(request))
      throw ruleBroken(
        'verification_code_wrong',
        'A verification code is wrong. Send the code of the e-mail and of the phone.',
      );
    const document = documentOf(request);
    // Checked before the passwords are hashed, which is slow. The insert checks again.
    if (await this.database.findRow<Customer>('customer', { document })) throw customerExists();
    const passwordHash = await this.passwords.hash(request.password);
    const securityPasswordHash = await this.passwords.hash(request.securityPassword);
    const createdAt = this.clock.now();
    const customer: NewCustomer = {
      id: this.random.uuid(),
      document,
      status: 'PROCESSING',
      details: detailsOf(request),
      ...{ passwordHash, securityPasswordHash, createdAt },
      updatedAt: createdAt,
    };
    const number = await this.database.transaction((tx) => this.open(tx, request, customer));
    return {
      id: customer.id,
      document: maskedCpf(document),
      name: request.name.trim(),
      status: customer.status,
      account: { branch: customerBranch, number },
      createdAt: createdAt.toISOString(),
    };
  }

  /** Returns the number of the opened account. */
  private async open(
    tx: SandboxTx,
    request: CustomerRequest,
    customer: NewCustomer,
  ): Promise<string> {
    const { id, createdAt } = customer;
    const number = await nextAccountNumber(tx);
    const accountId = await openAccount(tx, openingOf(request, number), createdAt);
    // Waits for a concurrent insert of the same document.
    const row = { ...customer, accountId };
    if (!(await tx.insert('customer', row, 'ON CONFLICT (document) DO NOTHING')))
      throw customerExists();
    const dueAt = new Date(createdAt.getTime() + approvalMs);
    if (this.modes.current.customerApproval === 'automatic')
      await this.dueWork.schedule(tx, { kind: approvalKind, subject: id, dueAt });
    return number;
  }

  /** Approves or refuses a customer for a test. Throws `conflict` when it is already decided. */
  async decide(id: string, decision: Decision): Promise<{ id: string; status: string }> {
    if (!(await this.database.findRow<Customer>('customer', { id })))
      throw new AppError('not_found');
    if (!(await this.database.transaction((tx) => this.decideIn(tx, id, decision))))
      throw conflict('customer_decided', 'The customer is already approved or refused.');
    return { id, status: decision.status };
  }

  /** False when the customer was decided before. */
  private async decideIn(tx: SandboxTx, id: string, decision: Decision): Promise<boolean> {
    const at = this.clock.now();
    const customer = await decideCustomer(tx, id, decision.status, at);
    if (!customer) return false;
    // A partner has no account: webhooks about its customers go to the first fixture account.
    const partner = await findAccountByNumber(tx, fixtureAccounts[0].number);
    invariant(partner, 'the first account is seeded');
    const body = customerDecidedBody(customer, { ...decision, at });
    this.webhooks.notify(tx, partner, decidedEventTypes[decision.status], { body, at });
    return true;
  }

  private assertBirthDateInPast({ birthDate }: CustomerRequest): void {
    if (birthDate.slice(0, 10) < this.clock.today()) return;
    throw invalidField('$.birthDate', 'Must be in the past.');
  }
}

function customerExists(): AppError {
  return conflict('customer_exists', 'A customer with this document already exists.');
}
