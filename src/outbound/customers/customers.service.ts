// Owns onboarding. A request is sent to the bank once and never resent, because its secrets are
// sent from memory and not stored. An unknown outcome goes to the operator, unless the bank's
// response to a later request for the same document establishes it.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createCustomer } from '../../bank-contract/customers.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { noPreferences, type Operation, type OperationKind } from '../operations/operation.js';
import { OperationOutcomes } from '../operations/operation-outcomes.service.js';
import { describeOperation } from '../operations/operations.schema.js';
import { OperationsService } from '../operations/operations.service.js';
import { unresolvedStates } from '../operation-states.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isJsonObject, parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { readUuid } from '../../platform/http/listing.js';
import { SecretBox } from '../../platform/secret-box.js';
import * as queries from './customers.queries.js';
import { comparableDetails, documentDigits, redactRequest, redactResponse } from './redaction.js';

/** The bank's error code for a document that already has a customer. */
const customerExistsCode = 'customer_exists';

@Injectable()
export class CustomersService implements OnModuleInit {
  private readonly kind: OperationKind<typeof createCustomer> = {
    name: 'create_customer',
    route: createCustomer,
    repeat: 'never',
    // A partner key can read onboardings, but no other operation.
    resourcePath: '/v1/customers/',
    // The contract does not describe the response: no field can be compared with the request.
    echoes: () => true,
    isRejection: reportsExistingCustomer,
    redactResponse: ({ body }, text) => redactResponse(body, text),
    onSucceeded: (tx, operation) => this.accept(tx, operation),
    onRejected: (tx, operation) => this.reject(tx, operation),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly outcomes: OperationOutcomes,
    private readonly secretBox: SecretBox,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async create(accountId: number, input: RouteInput<typeof createCustomer>): Promise<Reply> {
    const documentHash = this.secretBox.hash('customer-document', documentDigits(input.body));
    const fingerprint = this.secretBox.hash(
      'customer-details',
      stringifyJson(comparableDetails(input.body)),
    );
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      naturalIdentity: await this.identityOf(accountId, documentHash),
      input,
      redactedBody: redactRequest(input.body, fingerprint),
      // The secrets exist only during this request: it cannot be sent asynchronously.
      preferences: noPreferences,
      expectedPayments: [],
      record: async (tx, id) => {
        await tx.customer.create({ data: { accountId, id, documentHash, state: 'requested' } });
      },
    });
  }

  /** Throws `not_found`, also for the onboarding of another account. */
  async get(accountId: number, id: string) {
    const operation = await this.operations.get(accountId, readUuid(id));
    if (operation.kind !== this.kind.name) throw new AppError('not_found');
    const stored = parseJson(operation.requestBody ?? '{}') as { document?: string | null };
    const document = stored.document ?? null;
    const customer = await this.database.prisma.customer.findUnique({
      where: { accountId_id: { accountId, id: operation.id } },
    });
    return {
      ...describeOperation(operation),
      ...{ document, operationState: operation.state },
      bankCustomerId: customer?.bankId ?? null,
      reportedStatus: customer?.reportedStatus ?? null,
      reportedAt: customer?.reportedAt ?? null,
    };
  }

  /**
   * A document has one onboarding: a repeat gets the response to the first request. After an
   * unresolved or not executed onboarding, the person gets new codes, and the repeat must reach the
   * bank. The identity then contains the id of the earlier onboarding, so the repeat is a new
   * request.
   */
  private async identityOf(accountId: number, documentHash: string): Promise<string> {
    // After an onboarding in these states, a repeat must reach the bank.
    const operation = { state: { in: unresolvedStates } };
    const unresolved = await this.database.prisma.customer.findFirst({
      where: { accountId, documentHash, operation },
      orderBy: { id: 'desc' },
    });
    return `document ${documentHash}${unresolved === null ? '' : ` after ${unresolved.id}`}`;
  }

  /**
   * Records that the bank created the customer now: earlier requests with an unknown outcome had no
   * effect.
   */
  private async accept(tx: Tx, operation: Operation): Promise<void> {
    await this.recordState(tx, operation, 'accepted');
    const { accountId, id } = operation;
    const found = await queries.findOnboarding(tx, operation);
    const bankId = bankIdOf(found?.operation.responseBody ?? null);
    if (bankId !== null)
      await tx.customer.updateMany({ where: { accountId, id }, data: { bankId } });
    if (found?.operation.responseStatus == null) return;
    const uncertain = await queries.listUncertainOnboardings(tx, accountId, found.documentHash);
    for (const earlier of uncertain.filter((one) => one < id)) {
      const ref = { accountId, id: earlier };
      await this.outcomes.resolveUnknown(tx, ref, 'not_executed', 'taken_in_later');
    }
  }

  private async reject(tx: Tx, operation: Operation): Promise<void> {
    await this.recordState(tx, operation, 'rejected');
    const { accountId } = operation;
    const found = await queries.findOnboarding(tx, operation);
    const { responseStatus: status, responseBody: text } = found?.operation ?? {};
    if (!found || !status || !text || !reportsExistingCustomer({ status, text })) return;
    // The customer exists: an earlier request of unknown outcome created it.
    for (const id of await queries.listUncertainOnboardings(tx, accountId, found.documentHash))
      await this.outcomes.resolveUnknown(tx, { accountId, id }, 'succeeded', 'already_exists');
  }

  private async recordState(
    tx: Tx,
    { accountId, id }: Pick<Operation, 'accountId' | 'id'>,
    state: 'accepted' | 'rejected',
  ): Promise<void> {
    await tx.customer.updateMany({
      where: { accountId, id, state: { not: 'accepted' } },
      data: { state },
    });
  }
}

/** The bank's id of the customer in its response, by which its webhooks name the customer. */
function bankIdOf(responseBody: string | null): string | null {
  const body = responseBody === null ? null : parseJson(responseBody);
  const id = isJsonObject(body) ? body.id : null;
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id) ? id : null;
}

function reportsExistingCustomer({ status, text }: { status: number; text: string }): boolean {
  if (status !== 409) return false;
  const body = parseJson(text);
  return isJsonObject(body) && body.code === customerExistsCode;
}
