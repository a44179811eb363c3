import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import type { AlertChannel } from '../../generated/service/client.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { AlertChannels } from './alert-channels.service.js';
import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  testChannel,
  updateChannel,
} from './channels.schema.js';

/** The API of the channels that get alerts. */
@Controller()
@UseGuards(ApiKeyGuard)
export class AlertChannelsController {
  constructor(
    private readonly channels: AlertChannels,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('alerts')
  @Handles(createChannel)
  create(@FromCaller() request: CallerInput<typeof createChannel>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: createChannel, request }, async () => {
      const { channel, secret } = await this.channels.create(accountId, body);
      return { ...this.describe(channel), secret };
    });
  }

  @Handles(listChannels)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listChannels>) {
    const page = readPage(query, isUuid);
    const rows = await this.channels.listPage(accountId, page);
    return toList(
      rows,
      page,
      ({ id }) => id,
      (row) => this.describe(row),
    );
  }

  @Handles(getChannel)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getChannel>) {
    return this.describe(await this.channels.get(accountId, readUuid(params.id)));
  }

  @RequiresScope('alerts')
  @Handles(updateChannel)
  update(@FromCaller() request: CallerInput<typeof updateChannel>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: updateChannel, request }, async () =>
      this.describe(await this.channels.update(accountId, readUuid(params.id), body)),
    );
  }

  @RequiresScope('alerts')
  @Handles(deleteChannel)
  remove(@FromCaller() request: CallerInput<typeof deleteChannel>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: deleteChannel, request }, async () => {
      const deadNotifications = await this.channels.remove(accountId, readUuid(params.id));
      return { ...params, deadNotifications };
    });
  }

  @RequiresScope('alerts')
  @Handles(testChannel)
  test(@FromCaller() request: CallerInput<typeof testChannel>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: testChannel, request }, async () =>
      this.channels.sendTest(accountId, readUuid(params.id)),
    );
  }

  private describe(channel: AlertChannel) {
    const { id, kind, name, language, createdAt, updatedAt } = channel;
    const target = this.channels.targetOf(channel);
    return { id, kind, name, language, target, createdAt, updatedAt };
  }
}
