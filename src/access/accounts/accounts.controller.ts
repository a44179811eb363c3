import { Controller, UseGuards } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import type { ApiKey, BankAccount } from '../../generated/service/client.js';
import { IdempotencyService, operatorAccountId } from '../idempotency/idempotency.service.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import {
  createAccount,
  createKey,
  getAccount,
  listAccounts,
  listKeys,
  revokeKey,
  rotateKey,
  updateAccount,
} from './accounts.schema.js';
import { AccountsService } from './accounts.service.js';
import type { BankDetails } from './bank-details.schema.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKeysService, type ApiKeyKind } from './api-keys.service.js';

const accountId = operatorAccountId;

/** The operator's API of bank accounts and their API keys. */
@Controller()
@UseGuards(ApiKeyGuard)
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly apiKeys: ApiKeysService,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(createAccount)
  create(@Input() request: RouteInput<typeof createAccount>) {
    const { credentials, ...given } = request.body;
    const { name = null, goLiveAt } = given;
    const fields = { ...given, name, goLiveAt: goLiveAt ? new Date(goLiveAt) : null };
    return this.idempotency.runOnce({ accountId, route: createAccount, request }, async () =>
      this.describe(await this.accounts.create(fields, credentials)),
    );
  }

  @Handles(listAccounts)
  async list(@Input() { query }: RouteInput<typeof listAccounts>) {
    const page = readPage(query, (key) => /^\d{1,9}$/.test(key));
    return toList(
      await this.accounts.listPage(page),
      page,
      ({ id }) => String(id),
      (row) => this.describe(row),
    );
  }

  @Handles(getAccount)
  async get(@Input() { params }: RouteInput<typeof getAccount>) {
    return this.describe(await this.accounts.getBySlug(params.slug));
  }

  @Handles(updateAccount)
  update(@Input() request: RouteInput<typeof updateAccount>) {
    const { params, body } = request;
    return this.idempotency.runOnce({ accountId, route: updateAccount, request }, async () =>
      this.describe(await this.accounts.update(params.slug, body)),
    );
  }

  @Handles(createKey)
  createKey(@Input() request: RouteInput<typeof createKey>) {
    const { params, body } = request;
    return this.idempotency.runOnce({ accountId, route: createKey, request }, async () => {
      const { id } = await this.accounts.getBySlug(params.slug);
      return describeNewKey(await this.apiKeys.create(id, body));
    });
  }

  @Handles(listKeys)
  async listKeys(@Input() { params, query }: RouteInput<typeof listKeys>) {
    const page = readPage(query, isUuid);
    const { id } = await this.accounts.getBySlug(params.slug);
    const rows = await this.apiKeys.listPage(id, page);
    return toList(rows, page, (row) => row.id, describeKey);
  }

  @Handles(rotateKey)
  rotateKey(@Input() request: RouteInput<typeof rotateKey>) {
    const { params, body } = request;
    return this.idempotency.runOnce({ accountId, route: rotateKey, request }, async () => {
      const { id } = await this.accounts.getBySlug(params.slug);
      return describeNewKey(
        await this.apiKeys.rotate(id, readUuid(params.id), body.overlapSeconds),
      );
    });
  }

  @Handles(revokeKey)
  revokeKey(@Input() request: RouteInput<typeof revokeKey>) {
    const { params } = request;
    return this.idempotency.runOnce({ accountId, route: revokeKey, request }, async () => {
      const { id } = await this.accounts.getBySlug(params.slug);
      return describeKey(await this.apiKeys.revoke(id, readUuid(params.id)));
    });
  }

  private describe(account: BankAccount) {
    const { credentials: _, ...fields } = account;
    const origin = account.origin as 'settings' | 'api';
    const bankDetails = account.bankDetails as BankDetails | null;
    const credentialsSet = this.accounts.listSetCredentials(account);
    return { ...fields, origin, bankDetails, credentialsSet };
  }
}

function describeKey({ hash: _, ...key }: ApiKey) {
  return { ...key, kind: key.kind as ApiKeyKind };
}

function describeNewKey({ record, key }: { record: ApiKey; key: string }) {
  return { ...describeKey(record), key };
}
