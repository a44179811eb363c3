// A database that was set back to an earlier time, in front of a bank that was not, in each preset
// of the bank. The service runs on a copy that lacks the last operations, its clients repeat all
// their requests, and the bank moves each amount once.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { Database } from '../../../src/platform/postgres/database.service.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import {
  recordRestore,
  releaseRestored,
  reportRestores,
  type RecordedRestore,
  type RestoreReport,
} from '../../../src/outbound/operations/restores.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementClosing } from '../../../src/statement/lines/statement-closing.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import {
  sandboxUnderTest,
  type SandboxUnderTest,
  type TestResponse,
} from '../../contract/bank-under-test.js';
import { slip } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  knownBeneficiaries,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { presets, type Preset } from '../../../src/sandbox/presets/presets.js';
import { noon } from '../../support/bills.js';
import { advanceAllOperations } from '../../support/journal.js';
import { copyOf, testDatabase, type TestDatabase } from '../../support/postgres.js';
import {
  adminKey,
  serviceProcess,
  type ServiceProcess,
} from '../../support/service-application.js';
import { until } from '../../support/until.js';

const bound = { visibilityBoundMs: 1_000 };
const transfers = '/baas/api/v2/transfers';
const asynchronously = { Prefer: 'respond-async' };

interface Request {
  path: string;
  body: Record<string, unknown>;
  key: string;
  method: string;
}

const request = (path: string, body: unknown, method = 'POST') =>
  ({ path, body, key: randomUUID(), method }) as Request;

const requested = ['manual', 'internal', 'withoutId', 'byKey', 'batch', 'bill', 'refund'];
/** Those whose debits show an id that the client has. */
const identified: Record<Preset, readonly string[]> = {
  contract: ['byKey'],
  published: ['byKey'],
  complete: ['internal', 'byKey', 'batch'],
};

describe.each(presets)('a database that was set back while the bank went on (%s)', (preset) => {
  const hasExternalIds = preset === 'complete';
  let sandbox: SandboxUnderTest;
  let former: TestDatabase;
  let restored: TestDatabase;
  let service: ServiceProcess;
  let accountId: number;
  /** The requests whose operations the restored database lacks. */
  const lost: Record<string, Request> = {};
  let issuedCharge: Request;
  /** Stored before the restore point. One was sent after it, the other never. */
  let sentLater: Request;
  let neverSent: Request;
  /** A file with one row, which was uploaded before the restore point and sent after it. */
  let uploadId: string;
  let recorded: RecordedRestore[];
  /** The movements of the account at the bank when the service was stopped. */
  let moved: string[];

  const start = async (database: TestDatabase) => {
    const bankUrl = await sandbox.application.getUrl();
    service = await serviceProcess(database, bankUrl, {
      BANK_VISIBILITY_BOUND_MS: String(bound.visibilityBoundMs),
    });
  };
  const send = ({ method, path, body, key }: Request, headers: Record<string, string> = {}) =>
    service.call(method, path, { body, headers: { IdempotencyKey: key, ...headers } });
  const accept = async (one: Request, headers: Record<string, string> = {}) => {
    const { status, text } = await send(one, headers);
    expect([one.path, status, text]).toEqual([one.path, headers.Prefer ? 202 : 200, text]);
    return one;
  };
  const lookUp = async (): Promise<string> => {
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    const body = { key: knownBeneficiaries.dictKey };
    return (await service.call('POST', path, { body })).body.endToEndId;
  };
  const atBank = async (path: string, body: object) => {
    const response = await sandbox.call('POST', path, { body });
    expect([path, response.status, response.text]).toEqual([path, 200, response.text]);
    return response.body;
  };
  const listMoved = async (): Promise<string[]> => {
    const { body } = await sandbox.call('GET', '/sandbox/ledger?account=1000001');
    expect(body.audit).toEqual({ clean: true, problems: [] });
    return body.movements.map(
      ({ nsu, amount, type }: Record<string, string>) => `${nsu} ${type} ${amount}`,
    );
  };
  const get = <T>(type: abstract new (...args: never[]) => T): T =>
    service.application.get<T>(type as never, { strict: false });
  const reconcile = () => get(ReconciliationService).reconcile({ accountId });
  const sync = async () => {
    await get(StatementSync).sync(accountId);
    await reconcile();
  };
  const advance = async () => {
    await advanceAllOperations(service.database, accountId, get(OperationRecovery));
    await reconcile();
  };
  const release = () =>
    service.call('PUT', '/v1/accounts/main/mode', {
      body: { mode: 'live', actor: 'Ana', reason: 'the statement was compared' },
      apiKey: adminKey,
    });
  const report = async (): Promise<RestoreReport> =>
    (await reportRestores(service.database, bound))[0]!;
  const codeOf = ({ status, body }: TestResponse) => [status, body?.code ?? null];
  const statesOf = async ({ key }: Request): Promise<string[]> => {
    const { body } = await service.call('GET', `/v1/operations?idempotencyKey=${key}`);
    return body.data.map(({ state }: { state: string }) => state);
  };

  const issueRow = async () => {
    await get(BulkService).issueNextRows({ accountId, uploadId });
    return service.database.prisma.bulkRow.findFirstOrThrow({ where: { accountId, uploadId } });
  };

  const beforeTheRestorePoint = async () => {
    const { nsu } = await atBank('/sandbox/pix/received', { amount: 10 });
    await sync();
    await accept(request(transfers, manualTransfer()));
    await sync();
    sentLater = await accept(request(transfers, manualTransfer({ amount: 7.31 })), asynchronously);
    neverSent = await accept(request(transfers, manualTransfer({ amount: 7.32 })), asynchronously);
    const upload = await service.call('POST', '/v1/transfers/bulk', {
      body: JSON.stringify(internalTransfer({ amount: 0.33 })),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    uploadId = upload.body.id;
    return { receivedNsu: nsu as number };
  };
  const afterTheRestorePoint = async ({ receivedNsu }: { receivedNsu: number }) => {
    const { id } = await service.database.prisma.operation.findFirstOrThrow({
      where: { idempotencyKey: sentLater.key },
    });
    await former.pool.query(`UPDATE operation SET next_action_at = now() WHERE id = $1`, [id]);
    await get(OperationRecovery).advance({ accountId, operationId: id });
    expect(await statesOf(sentLater)).toEqual(['succeeded']);
    const fields = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 };
    const { barCode } = await atBank('/sandbox/bills', fields);
    const refundPath = `/baas/api/v1/transactions/${receivedNsu}/refund?filterBy=NSU`;
    const requests = {
      manual: request(transfers, manualTransfer()),
      internal: request(transfers, internalTransfer()),
      withoutId: request(transfers, internalTransfer({ amount: 0.9, externalId: undefined })),
      byKey: request(transfers, keyTransfer(await lookUp())),
      batch: request('/baas/v1/transfers/batch', [batchItem(), batchItem({ amount: 0.2 })]),
      bill: request('/baas/api/v1/bill-payments', { barCode, amount: 80 }),
      refund: request(refundPath, { amount: 3 }, 'PUT'),
    };
    for (const [name, one] of Object.entries(requests)) lost[name] = await accept(one);
    expect(await issueRow()).toMatchObject({ state: 'accepted' });
    issuedCharge = await accept(request('/baas/v1/charges', slip({ type: 'BANKSLIP_PIX' })));
    const { correlationId } = issuedCharge.body;
    await atBank('/sandbox/pix/received', { correlationId });
  };

  beforeAll(async () => {
    sandbox = await sandboxUnderTest(preset);
    await atBank('/sandbox/clock', { now: noon });
    former = await testDatabase('service');
    await start(former);
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    const facts = await beforeTheRestorePoint();
    await service.stop();
    restored = await copyOf(former);
    await start(former);
    await afterTheRestorePoint(facts);
    await service.stop();
    moved = await listMoved();
    recorded = await recordRestore(new Database(restored.pool), 'Ana');
    await start(restored);
  }, 60_000);
  afterAll(async () => {
    await service.stop();
    await former.drop();
    await restored.drop();
    await sandbox.stop();
  });

  it('stops every live account, and looks for the operations that were in progress', async () => {
    expect(recorded).toEqual([{ slug: 'main', formerMode: 'live', unfinished: 2 }]);
    for (const one of Object.values(lost))
      expect([one.path, ...codeOf(await send(one))]).toEqual([one.path, 503, 'account_stopped']);
    expect([await statesOf(sentLater), await statesOf(neverSent)]).toEqual([
      ['unknown'],
      ['unknown'],
    ]);
  });

  it('is not released before the statement is closed over everything that may be lost', async () => {
    await sync();
    expect(codeOf(await release())).toEqual([409, 'restore_not_checked']);
    const early = await report();
    expect(early.obstacle).toMatch(/not closed yet/);
    await expect(
      releaseRestored(service.database, early, { actor: 'Ana', isUnproven: false }),
    ).rejects.toMatchObject({ code: 'conflict' });

    await until('the statement is closed over what may be lost', async () => {
      await get(StatementClosing).close({ accountId });
      await reconcile();
      return (await report()).isClosed;
    });
    expect(await report()).toMatchObject({ obstacle: null, unreadableLines: 0n });
  });

  it('lists the debits that no stored operation explains, each in a break', async () => {
    const { lostDebits } = await report();
    expect(lostDebits.map(({ amountCents }) => Number(amountCents)).sort((a, b) => a - b)).toEqual(
      [10, 20, 33, 75, 90, 125, 250, 300, 8_000].sort((a, b) => a - b),
    );
    expect(new Set(lostDebits.map(({ breakState }) => breakState))).toEqual(new Set(['open']));
    const { body } = await service.call('GET', '/v1/summary');
    expect(body.transactions.pending).toBe(0);
  });

  it('finds an operation that was sent after the restore point on the statement', async () => {
    await advance();
    expect(await statesOf(sentLater)).toEqual(['succeeded']);
  });

  it('does not send what was in progress again, and proves that it was not executed', async () => {
    expect((await release()).status).toBe(200);
    // The proof needs a little more of the statement than the release.
    await until('its absence is proven', async () => {
      await get(StatementClosing).close({ accountId });
      await advance();
      return (await statesOf(neverSent))[0] !== 'unknown';
    });
    expect(await statesOf(neverSent)).toEqual(['not_executed']);
    expect(await listMoved()).toEqual(moved);
  });

  it.each(requested.filter((name) => !identified[preset].includes(name)))(
    'refuses a repeated request (%s) under the same key and under a new one',
    async (name) => {
      for (const key of [lost[name]!.key, randomUUID()]) {
        const response = await send({ ...lost[name]!, key });
        expect([name, ...codeOf(response)]).toEqual([name, 409, 'possible_duplicate']);
        const location = response.headers.get('location') ?? '';
        const { body } = await service.call('GET', location);
        expect(body.data).toMatchObject([{ type: { isCredit: false } }]);
      }
      expect(await listMoved()).toEqual(moved);
    },
  );

  it('refuses a transfer that is requested again after a new look-up of its key', async () => {
    const again = request(transfers, keyTransfer(await lookUp()));
    expect(codeOf(await send(again))).toEqual([409, 'possible_duplicate']);
    expect(await listMoved()).toEqual(moved);
  });

  it.each(identified[preset])(
    'answers a repeated request (%s) whose debit shows its id with the lost operation',
    async (name) => {
      const first = await send(lost[name]!);
      expect([name, first.status]).toEqual([name, 202]);
      await reconcile();
      await advance();
      expect([name, await statesOf(lost[name]!)]).toEqual([name, ['succeeded']]);
      const again = await send(lost[name]!);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const another = await send({ ...lost[name]!, key: randomUUID() });
      expect([409, 422]).toContain(another.status);
      expect(await listMoved()).toEqual(moved);
    },
  );

  it('refuses a scheduled transfer, whose lost one would show no debit yet', async () => {
    const scheduled = manualTransfer({ amount: 9.99, transferAt: '2037-11-24T15:00:00Z' });
    const response = await send(request(transfers, scheduled));
    expect([...codeOf(response), response.headers.get('location')]).toEqual([
      ...[409, 'possible_duplicate', null],
    ]);
  });

  it('does not send the row of an uploaded file again', async () => {
    const { state, errors } = await issueRow();
    expect([state, JSON.parse(errors ?? '{}').code]).toEqual(
      hasExternalIds ? ['accepted', undefined] : ['rejected', 'possible_duplicate'],
    );
    expect(await listMoved()).toEqual(moved);
  });

  it('settles a lost charge when its request is repeated', async () => {
    expect((await send(issuedCharge)).status).toBe(200);
    await sync();
    const { body } = await service.call(
      'GET',
      `/v1/charges/${String(issuedCharge.body.correlationId)}`,
    );
    expect(body.settlement).toBe('settled');
    expect(await listMoved()).toEqual(moved);
  });

  it('refuses the repetition also after a person has accepted the break', async () => {
    const { body } = await service.call('GET', '/v1/breaks?state=open&kind=unexpected');
    for (const { id } of body.data) {
      const action = { action: 'accept', reason: 'paid before the restore' };
      const path = `/v1/breaks/${id}/actions`;
      const accepted = await service.call('POST', path, { body: action });
      expect([accepted.status, accepted.text]).toEqual([200, accepted.text]);
    }
    expect(codeOf(await send(lost.manual!))).toEqual([409, 'possible_duplicate']);
  });

  it('sends other requests, and a repetition that the client insists on', async () => {
    await accept(request(transfers, manualTransfer({ amount: 2.51 })));
    await accept(request(transfers, internalTransfer({ amount: hasExternalIds ? 0.75 : 0.76 })));
    await accept(lost.manual!, { 'Concilia-Allow-Duplicate': 'true' });
    expect(await listMoved()).toHaveLength(moved.length + 3);
  });

  it('hands out no position of an event again', async () => {
    const last = 'SELECT max(position)::int AS last FROM event';
    const first = `SELECT min(position)::int AS first FROM event
      WHERE created_at >= (SELECT max(restored_at) FROM account_restore)`;
    const { rows: before } = await former.pool.query(last);
    const { rows: after } = await restored.pool.query(first);
    expect(after[0].first).toBeGreaterThan(before[0].last);
  });
});
