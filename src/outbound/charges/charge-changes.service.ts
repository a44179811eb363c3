// Voids charges and changes their due dates, by operations. Neither moves money: a later payment of
// a voided charge is still credited, and is then a break.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import {
  changeDueDate,
  getCharge,
  voidCharge,
  type ChargeDetails,
} from '../../bank-contract/charges.js';
import type { Route, RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import type {
  LookUpResult,
  Operation,
  OperationKind,
  OperationRequest,
  RequestPreferences,
} from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { conflict } from '../../platform/errors.js';
import { isJsonObject, parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { ChargeLookUp } from './charge-look-up.service.js';
import { classifyBankStatus } from './charge-status.js';
import { chargeEndEvent } from './charge-status.service.js';
import {
  hasChangeInProgress,
  listChangeIds,
  readDueDateBefore,
  recordDueDate,
  recordVoid,
} from './charge-changes.queries.js';

type ChangeResponse = RouteOutput<typeof voidCharge>;

/** The bank answers 409 about a charge that is paid or voided: it did nothing. */
const isRejection = ({ status }: { status: number }) => status === 409;
const isVoid = ({ status }: ChargeDetails) => classifyBankStatus(status ?? '') === 'cancelled';
/** Nothing is reserved for a change, so nothing is released. */
const onRejected = () => Promise.resolve();

@Injectable()
export class ChargeChanges implements OnModuleInit {
  private readonly voidKind: OperationKind<typeof voidCharge> = {
    name: 'void_charge',
    route: voidCharge,
    repeat: 'keyed',
    echoes: isAboutCharge,
    isRejection,
    onRejected,
    onSucceeded: (tx, operation, { response }) =>
      this.recordVoid(tx, operation, statusOf(response)),
    lookUp: (account, operation) =>
      this.lookUp(account, operation, (charge) => isVoid(charge) || null),
  };

  private readonly dueDateKind: OperationKind<typeof changeDueDate> = {
    name: 'change_charge_due_date',
    route: changeDueDate,
    repeat: 'keyed',
    echoes: isAboutCharge,
    isRejection,
    onRejected,
    onSucceeded: (tx, operation) => {
      const { accountId, id: operationId } = operation;
      const correlationId = correlationIdOf(operation);
      const change = { correlationId, dueDate: dueDateOf(operation), operationId };
      return recordDueDate(tx, accountId, change, this.chargeLookUp.creditDays);
    },
    lookUp: (account, operation) =>
      this.lookUp(account, operation, async (charge) => {
        const { dueDate } = charge as { dueDate?: unknown };
        const day = typeof dueDate === 'string' ? dueDate.slice(0, 10) : null;
        if (day === dueDateOf(operation)) return true;
        // The bank changes no void charge any more. A third date may be ours, moved by the bank.
        return isVoid(charge) && day !== null && day === (await this.dueDateBefore(operation))
          ? false
          : null;
      }),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly bank: BankService,
    private readonly events: EventsService,
    private readonly chargeLookUp: ChargeLookUp,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.voidKind);
    this.operations.register(this.dueDateKind);
  }

  async void(
    accountId: number,
    input: RouteInput<typeof voidCharge>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    // A void is for good, so a repeat without a key is the same void.
    return this.perform(this.voidKind, { accountId, input, preferences, joinsSameRequest: true });
  }

  async changeDueDate(
    accountId: number,
    input: RouteInput<typeof changeDueDate>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { correlationId } = input.params;
    return this.perform(this.dueDateKind, {
      ...{ accountId, input, preferences },
      // The first of two due dates must not be sent again after the second.
      assertApplies: async (tx) => {
        const kinds = [this.voidKind.name, this.dueDateKind.name];
        if (await hasChangeInProgress(tx, accountId, correlationId, kinds))
          throw conflict(
            'charge_change_in_progress',
            'The outcome of an earlier change of this charge is not known yet.',
          );
      },
    });
  }

  /** The ids of the newest operations that change a charge, the newest first. */
  async list(accountId: number, correlationId: string, limit: number): Promise<string[]> {
    const params = stringifyJson(z.encode(voidCharge.params, { correlationId }));
    return listChangeIds(this.database.prisma, accountId, params, limit);
  }

  private async perform<R extends Route>(
    kind: OperationKind<R>,
    change: Pick<
      OperationRequest<R>,
      'accountId' | 'input' | 'preferences' | 'joinsSameRequest' | 'assertApplies'
    >,
  ): Promise<Reply> {
    const reply = await this.operations.perform(kind, {
      ...change,
      idempotencyKey: change.input.idempotencyKey,
      expectedPayments: [],
      record: () => Promise.resolve(),
    });
    await this.events.enqueueDeliveries(change.accountId);
    return reply;
  }

  private async recordVoid(tx: Tx, operation: Operation, bankStatus: string | null): Promise<void> {
    const { accountId } = operation;
    const charge = { correlationId: correlationIdOf(operation), bankStatus };
    const voided = await recordVoid(tx, accountId, charge);
    if (!voided) return;
    this.events.record(tx, accountId, [chargeEndEvent(voided, 'cancelled', voided.dueDate)]);
  }

  private async dueDateBefore(operation: Operation): Promise<string | null> {
    const change = { correlationId: correlationIdOf(operation), operationId: operation.id };
    return readDueDateBefore(this.database.prisma, operation.accountId, change);
  }

  /** `isChanged` returns null where the charge at the bank does not show the change yet. */
  private async lookUp(
    account: BankAccount,
    operation: Operation,
    isChanged: (charge: ChargeDetails) => boolean | null | Promise<boolean | null>,
  ): Promise<LookUpResult<ChangeResponse>> {
    const params = { correlationId: correlationIdOf(operation) };
    const response = await this.bank.call(getCharge, account, { params });
    const changes = response.outcome === 'success' ? await isChanged(response.value) : null;
    if (response.outcome !== 'success' || changes === null) return { outcome: 'unknown' };
    if (!changes) return { outcome: 'not_executed' };
    const { status, text, value } = response;
    const changed = value as unknown as ChangeResponse;
    const bankReference = value.correlationId;
    return { outcome: 'accepted', status, text, response: changed, bankReference };
  }
}

/** An answer that names no charge, such as a text, is taken for the one that was addressed. */
function isAboutCharge(
  { params }: { params: { correlationId: string } },
  response: ChangeResponse,
): boolean {
  const correlationId = isJsonObject(response) ? response.correlationId : null;
  return (correlationId ?? params.correlationId) === params.correlationId;
}

function statusOf(response: ChangeResponse): string | null {
  return isJsonObject(response) && typeof response.status === 'string' ? response.status : null;
}

function correlationIdOf({ requestParams }: Operation): string {
  return z.decode(voidCharge.params, parseJson(requestParams) as never).correlationId;
}

function dueDateOf({ requestBody }: Operation): string {
  return z.decode(changeDueDate.body, parseJson(requestBody ?? '{}') as never).dueDate;
}
