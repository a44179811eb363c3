// Serves the state of a transfer as the bank has it, to clients that moved from the bank.
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { BankService } from '../../bank/bank.service.js';
import { getTed } from '../../bank-contract/ted-transfers.js';
import { getTransfer } from '../../bank-contract/transfers.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Operation } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import { Handles, Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { CallsBank } from '../../platform/http/responses.decorator.js';
import { isUuid } from '../../platform/http/listing.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class TransferStatusController {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly operations: OperationsService,
  ) {}

  @CallsBank()
  @Handles(getTransfer)
  get(@FromCaller() request: CallerInput<typeof getTransfer>): Promise<Reply> {
    return this.relay(getTransfer, request);
  }

  @CallsBank()
  @Handles(getTed)
  getTed(@FromCaller() request: CallerInput<typeof getTed>): Promise<Reply> {
    return this.relay(getTed, request);
  }

  private async relay(
    route: typeof getTransfer | typeof getTed,
    request: CallerInput<typeof getTransfer>,
  ): Promise<Reply> {
    const { accountId, params } = request;
    const transfer = await this.find(accountId, params.identifier);
    const { bankId, endToEndId, externalId } = transfer ?? {};
    const identifier = bankId ?? endToEndId ?? externalId;
    if (transfer && !identifier) return this.pending(transfer);
    const account = await this.accounts.get(accountId);
    const asked = { ...request, params: { identifier: identifier ?? params.identifier } };
    try {
      return await this.bank.relay(route, account, asked);
    } catch (error) {
      // The bank may not know it yet.
      const isUnknown = error instanceof AppError && error.code === 'not_found';
      if (transfer && !bankId && isUnknown) return this.pending(transfer);
      throw error;
    }
  }

  /** A 202 has the operation's id, which the bank does not know: it gets its own id instead. */
  private async find(accountId: number, id: string) {
    if (!isUuid(id)) return null;
    return this.database.prisma.transfer.findUnique({
      where: { accountId_id: { accountId, id } },
      select: {
        position: true,
        bankId: true,
        endToEndId: true,
        externalId: true,
        operation: { omit: { nextActionAt: true } },
      },
    });
  }

  private pending({ operation, position }: { operation: Operation; position: number }): Reply {
    return new Reply(200, this.operations.pendingText(operation, position));
  }
}
