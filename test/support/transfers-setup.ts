// The transfers module on a database of its own, connected to a sandbox bank.
import { randomUUID } from 'node:crypto';
import { BankConnections } from '../../src/bank/bank-connections.service.js';
import { BankService } from '../../src/bank/bank.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { ApprovalRequirements } from '../../src/outbound/operations/approval-requirements.service.js';
import { noPreferences } from '../../src/outbound/operations/operation.js';
import { OperationSender } from '../../src/outbound/operations/operation-sender.service.js';
import { OperationStorage } from '../../src/outbound/operations/operation-storage.service.js';
import { OperationOutcomes } from '../../src/outbound/operations/operation-outcomes.service.js';
import { PossibleDuplicates } from '../../src/outbound/operations/possible-duplicates.service.js';
import { OperationsService } from '../../src/outbound/operations/operations.service.js';
import { PaymentControls } from '../../src/outbound/payment-controls/payment-controls.service.js';
import { parseJson } from '../../src/platform/json/exact-json.js';
import { Addresses } from '../../src/platform/http/http.js';
import { createLog } from '../../src/platform/log.js';
import { secretBoxOf } from './secret-box.js';
import { BankTime } from '../../src/statement/lines/bank-time.service.js';
import { createTransferBatch } from '../../src/bank-contract/batch-transfers.js';
import { lookUpPixKey } from '../../src/bank-contract/pix-lookup.js';
import type { Route } from '../../src/bank-contract/route.js';
import { createTransfer } from '../../src/bank-contract/transfers.js';
import { PixLookupsService } from '../../src/outbound/transfers/pix-lookups.service.js';
import { TransferBatches } from '../../src/outbound/transfers/transfer-batches.service.js';
import { TransferStatusChecks } from '../../src/outbound/transfers/transfer-status-checks.service.js';
import { TransferRecords } from '../../src/outbound/transfers/transfer-records.service.js';
import { TransferViews } from '../../src/outbound/transfers/transfer-views.service.js';
import {
  TransfersService,
  type PixKeyTransfer,
} from '../../src/outbound/transfers/transfers.service.js';
import { fakeBankCredentials } from './fake-bank.js';
import { serviceDatabase, type ServiceDatabase } from './service-database.js';
import { z } from 'zod';
import { deleteAllRows } from './parent-rows.js';
import { recordedQueues } from './recorded-queues.js';

const settings = {
  possibleDuplicates: { policy: 'off', windowMinutes: 60 },
  bank: { profile: 'sandbox' },
} as never;

/** Admits every bank request: the tests themselves make the bank unavailable. */
const unlimited = {
  admit: () => Promise.resolve({ isAdmitted: true, hasWaited: false, finish: () => undefined }),
} as never;

/** Allows possible duplicates, which have tests of their own. */
const preferences = { ...noPreferences, allowDuplicate: true };

/** The bank's clock; tests move it forward. */
class BankClock {
  aheadMs = 0;
  now = () => Promise.resolve(new Date(Date.now() + this.aheadMs));
}

/** Creates the services as the Nest module would. */
function wire({ database }: ServiceDatabase, bankBaseUrl: string, clock: BankClock) {
  const accounts = {
    get: (id: number) => Promise.resolve({ id, slug: 'main', goLiveAt: new Date(0) }),
    getCallSettings: () =>
      Promise.resolve({
        ...{ mode: 'live', registersWebhooks: true },
        credentials: {
          ...fakeBankCredentials,
          apiKey: 'sandbox-dev-key',
          apiKeyHeader: 'x-service-api-key',
        },
      }),
  } as never;
  const queueOf = recordedQueues();
  const addresses = Object.assign(new Addresses(), {
    bankBaseUrl,
    bankWhitelabelUrl: bankBaseUrl,
  });
  const connections = new BankConnections(addresses);
  const bank = new BankService(
    ...([settings, accounts, connections, unlimited, createLog('silent', 'test')] as const),
  );
  const events = new EventsService(database, queueOf('deliverEvents'));
  const outcomes = new OperationOutcomes(
    database,
    events,
    queueOf('reconcile'),
    queueOf('advanceOperation'),
  );
  const sender = new OperationSender(database, accounts, bank, outcomes);
  const secretBox = secretBoxOf();
  const requirements = new ApprovalRequirements(events, secretBox);
  const duplicates = new PossibleDuplicates(settings);
  const storage = new OperationStorage(
    ...([database, accounts, duplicates, new PaymentControls(), requirements] as const),
  );
  const operations = new OperationsService(
    ...([database, secretBox, outcomes, sender, storage, queueOf('advanceOperation')] as const),
  );
  const records = new TransferRecords(events, bank);
  const bankTime = Object.assign(new BankTime(database), { now: clock.now });
  const lookups = new PixLookupsService(
    ...([database, accounts, bank, bankTime, secretBox, settings] as const),
  );
  const transfers = new TransfersService(database, operations, bank, lookups, records);
  const batches = new TransferBatches(database, operations, records);
  transfers.onModuleInit();
  batches.onModuleInit();
  const statusChecks = new TransferStatusChecks(
    database,
    accounts,
    bank,
    records,
    queueOf('checkTransferStatuses'),
  );
  return { bank, connections, lookups, records, transfers, batches, statusChecks };
}

/** Decodes a body as a controller does. */
function inputOf<R extends Route>(route: R, body: unknown, idempotencyKey: string | null) {
  const decoded = z.decode(route.body, parseJson(JSON.stringify(body)) as never);
  return { params: {}, query: {}, body: decoded as z.output<R['body']>, idempotencyKey };
}

export async function transfersSetup(bankBaseUrl: string) {
  const service = await serviceDatabase();
  const { database, accountId } = service;
  const clock = new BankClock();
  const { bank, connections, lookups, ...services } = wire(service, bankBaseUrl, clock);
  const { profile } = bank;
  const newKeyHeader = () => randomUUID();
  return {
    ...service,
    ...services,
    clock,
    newKeyHeader,
    views: new TransferViews(database),
    /** Changes the bank profile. */
    setProfile: (changes: Partial<BankService['profile']>) =>
      Object.assign(bank, { profile: { ...profile, ...changes } }),
    lookUp: async (account = accountId, key = 'maria@pessoa-dois.example') =>
      (await lookups.lookUp(account, inputOf(lookUpPixKey, { key }, null))).reply,
    sendByKey: (transfer: PixKeyTransfer, key = newKeyHeader()) =>
      services.transfers.createByKey(accountId, transfer, key, preferences),
    send: (body: unknown, key = newKeyHeader(), account = accountId, allowDuplicate = true) =>
      services.transfers.create(account, inputOf(createTransfer, body, key), {
        ...preferences,
        allowDuplicate,
      }),
    sendBatch: (body: unknown, key = newKeyHeader(), allowDuplicate = true) =>
      services.batches.create(accountId, inputOf(createTransferBatch, body, key), {
        ...preferences,
        allowDuplicate,
      }),
    ...readersOf(service),
    /** Resets the clock, the profile and all tables but the account's. */
    reset: async () => {
      clock.aheadMs = 0;
      Object.assign(bank, { profile });
      await deleteAllRows(database.pool, { except: ['bank_account'] });
    },
    stop: async () => {
      connections.onApplicationShutdown();
      await service.drop();
    },
  };
}

function readersOf({ database, accountId }: ServiceDatabase) {
  const run = (sql: string, ...values: unknown[]) => database.pool.query(sql, values);
  return {
    run,
    operation: async (id: string) =>
      (await database.prisma.operation.findUniqueOrThrow({
        where: { accountId_id: { accountId, id } },
      })) as never,
    /** The references of a transfer's expected payment, by kind. */
    referencesOfTransfer: async (id: string) => {
      const { rows } = await run(
        `SELECT r.kind, r.value FROM expected_payment_reference r
         JOIN transfer t
           ON t.account_id = r.account_id AND t.expected_payment_id = r.expected_payment_id
         WHERE t.id = $1`,
        id,
      );
      return Object.fromEntries(rows.map(({ kind, value }) => [kind, value]));
    },
    /** The types of the recorded events, in order, each with the transfer that it is about. */
    events: async () => {
      const rows = await database.prisma.event.findMany({ orderBy: { id: 'asc' } });
      return rows.map(({ type, data }) => {
        const { transferId } = JSON.parse(data) as { transferId: string };
        return { type, transferId };
      });
    },
  };
}

export type TransfersSetup = Awaited<ReturnType<typeof transfersSetup>>;
