// Onboarding: asked of the bank once, with secrets that are sent from memory and kept nowhere. It is never sent again by
// itself; an outcome that nobody knows is the operator's, or is told by what the bank says to the next request.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createCustomer } from '../contract/customers.js';
import type { RouteInput } from '../contract/route.js';
import { Database, type Tx } from '../database.service.js';
import { noPreferences, type Operation, type OperationKind } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { isJsonObject, parseJson, stringifyJson } from '../platform/exact-json.js';
import { isUuid } from '../platform/listing.js';
import { SecretBox } from '../platform/secret-box.js';
import * as queries from './customers.queries.js';
import { detailsOf, documentOf, redact, redactAnswer } from './redaction.js';

/** The bank's word that the document has a customer. */
const existsReason = 'customer_exists';

@Injectable()
export class CustomersService implements OnModuleInit {
  private readonly kind: OperationKind<typeof createCustomer> = {
    name: 'create_customer',
    route: createCustomer,
    repeat: 'never',
    // A partner's key reads onboardings, and no other operation.
    place: '/v1/customers/',
    // The contract shows no answer: none can be held against what was asked.
    echoes: () => true,
    isRefusal: saysThatItExists,
    redactAnswer: ({ body }, text) => redactAnswer(body, text),
    onSucceeded: (tx, operation) => this.accept(tx, operation),
    onRejected: (tx, operation) => this.reject(tx, operation),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly secretBox: SecretBox,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async create(accountId: number, input: RouteInput<typeof createCustomer>): Promise<Reply> {
    const documentHash = this.secretBox.hash('customer-document', documentOf(input.body));
    const fingerprint = this.secretBox.hash(
      'customer-details',
      stringifyJson(detailsOf(input.body)),
    );
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      naturalIdentity: await this.identityOf(accountId, documentHash),
      joinsSameRequest: false,
      input,
      redactedBody: redact(input.body, fingerprint),
      outgoing: null,
      // Its secrets live as long as the request: nobody could send it later.
      preferences: noPreferences,
      expectedPayments: [],
      record: async (tx, id) => {
        await tx.customer.create({ data: { accountId, id, documentHash, state: 'requested' } });
      },
    });
  }

  /** Throws `not_found`, also for another account's. */
  async get(accountId: number, id: string) {
    const row = isUuid(id) ? await queries.findCustomer(this.database.prisma, accountId, id) : null;
    if (!row) throw new AppError('not_found');
    const { document } = parseJson(row.requestBody) as { document: string | null };
    const { responseStatus: status, responseBody: body } = row;
    return {
      id: row.id,
      document,
      operationState: row.operationState,
      reason: row.reason,
      response: status === null || body === null ? null : { status, body: parseJson(body) },
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.updatedAt.toISOString(),
    };
  }

  /**
   * A document is asked for once, and a repeat is answered with what became of it. After an outcome that nobody knows
   * the person is asked for new codes, and the repeat must reach the bank: each such outcome begins anew.
   */
  private async identityOf(accountId: number, documentHash: string): Promise<string> {
    const before = await queries.findUnresolved(this.database.prisma, accountId, documentHash);
    return `document ${documentHash}${before === null ? '' : ` after ${before}`}`;
  }

  /** The bank took the customer in: it had not done so for whoever asked before and was not told. */
  private async accept(tx: Tx, operation: Operation): Promise<void> {
    await this.note(tx, operation, 'accepted');
    const { accountId, id } = operation;
    const answer = await queries.findAnswer(tx, accountId, id);
    if (answer?.status == null) return;
    for (const other of await queries.listUncertain(tx, accountId, answer.documentHash))
      if (other < id)
        await this.operations.endBy(tx, accountId, other, 'not_executed', 'taken_in_later');
  }

  private async reject(tx: Tx, operation: Operation): Promise<void> {
    await this.note(tx, operation, 'rejected');
    const answer = await queries.findAnswer(tx, operation.accountId, operation.id);
    if (answer?.status == null || answer.body === null) return;
    if (!saysThatItExists({ status: answer.status, text: answer.body })) return;
    const { accountId } = operation;
    // Whoever asked for this document before, and was not told, has it: the customer is there.
    for (const id of await queries.listUncertain(tx, accountId, answer.documentHash))
      await this.operations.endBy(tx, accountId, id, 'succeeded', 'already_exists');
  }

  private async note(
    tx: Tx,
    { accountId, id }: Pick<Operation, 'accountId' | 'id'>,
    state: 'accepted' | 'rejected',
  ): Promise<void> {
    await tx.customer.updateMany({
      where: { accountId, id, state: { not: 'accepted' } },
      data: { state, updatedAt: new Date() },
    });
  }
}

function saysThatItExists({ status, text }: { status: number; text: string }): boolean {
  if (status !== 409) return false;
  const body = parseJson(text);
  return isJsonObject(body) && body.code === existsReason;
}
