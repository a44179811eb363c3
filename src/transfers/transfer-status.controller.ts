// Serves the state of a transfer as the bank has it, to clients that moved from the bank.
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { BankService } from '../bank/bank.service.js';
import { getTed } from '../contract/ted-transfers.js';
import { getTransfer } from '../contract/transfers.js';
import { Database } from '../database.service.js';
import { Handles, type Reply } from '../platform/contract-route.js';
import { CallsBank } from '../platform/responses.decorator.js';
import { isUuid } from '../platform/listing.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class TransferStatusController {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
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
    const identifier = await this.bankIdOf(accountId, params.identifier);
    const account = await this.accounts.get(accountId);
    return this.bank.relay(route, account, { ...request, params: { identifier } });
  }

  /** A 202 has the operation's id, which the bank does not know: it gets its own id instead. */
  private async bankIdOf(accountId: number, identifier: string): Promise<string> {
    if (!isUuid(identifier)) return identifier;
    const transfer = await this.database.prisma.transfer.findUnique({
      where: { accountId_id: { accountId, id: identifier } },
      select: { bankId: true, endToEndId: true, externalId: true },
    });
    return transfer?.bankId ?? transfer?.endToEndId ?? transfer?.externalId ?? identifier;
  }
}
