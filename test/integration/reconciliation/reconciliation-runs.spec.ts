// Reconciliation runs of an account, on demand and by schedule, with a sandbox bank. Workers and
// timers do not run: each test performs each step itself.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/postgres/database.service.js';
import { withLease } from '../../../src/platform/postgres/leases/leases.service.js';
import { RunsService } from '../../../src/reconciliation/runs/runs.service.js';
import { Schedules } from '../../../src/reconciliation/runs/schedules.service.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const noChanges = {
  newLines: 0,
  matched: 0,
  classified: 0,
  breaksOpened: 0,
  breaksResolved: 0,
  missing: 0,
  unlinked: 0,
  pending: 0,
};

describe('a reconciliation run', () => {
  let service: ServiceOnSandbox;
  let runs: RunsService;
  let schedules: Schedules;
  const path = '/v1/reconciliations';
  const schedulePath = '/v1/reconciliation-schedule';

  beforeAll(async () => {
    service = await serviceOnSandbox();
    runs = service.application.get(RunsService, { strict: false });
    schedules = service.application.get(Schedules, { strict: false });
  });
  afterAll(async () => {
    await expectDeclaredEvents(service.pool, ['reconciliation.finished', 'reconciliation.failed']);
    await service.stop();
  });
  beforeEach(() => service.pool.query('DELETE FROM reconciliation_schedule'));

  const perform = (id: string) => runs.perform({ accountId: service.accountId, runId: id });
  const read = async (id: string) => (await service.call('GET', `${path}/${id}`)).body;
  const requestRun = async () => (await service.call('POST', path)).body.id as string;
  const runNow = async () => {
    const id = await requestRun();
    await perform(id);
    return read(id);
  };
  const events = async (type: string) =>
    (await service.call('GET', `/v1/events?type=${type}`)).body.data as { data: unknown }[];
  const receive = (body: object) =>
    service.bank.call('POST', '/sandbox/pix/received', { body: { amount: 5, ...body } });

  it('syncs, matches and reports what changed, and changes nothing when repeated', async () => {
    await runNow();
    await receive({});
    const started = await service.call('POST', path);
    expect([started.status, started.headers.get('location')]).toEqual([
      202,
      `${path}/${started.body.id}`,
    ]);
    expect(started.body).toMatchObject({ state: 'running', durationMs: null, counts: noChanges });
    await perform(started.body.id);
    const run = await read(started.body.id);
    expect(run).toMatchObject({
      state: 'finished',
      trigger: 'request',
      error: null,
      counts: { ...noChanges, newLines: 1, breaksOpened: 1 },
    });
    const [event] = await events('reconciliation.finished');
    expect(event?.data).toMatchObject({ runId: run.id, counts: run.counts, window: run.window });
    const again = await runNow();
    expect(again.counts).toEqual(noChanges);
    expect(again.window.from).toBe(run.window.until);
    const { body } = await service.call('GET', `${path}?state=finished&limit=1`);
    expect(body.data).toEqual([again]);
  });

  it('is returned to every request made while it runs', async () => {
    const [first, second] = await Promise.all([requestRun(), requestRun()]);
    expect(second).toBe(first);
    await perform(first);
    expect(await requestRun()).not.toBe(first);
  });

  it('has one worker at a time, finishes once, and continues after its worker was killed', async () => {
    const id = await requestRun();
    const worker = new Database(service.pool);
    await withLease(worker, service.accountId, 'run_reconciliation', async () => {
      await perform(id);
      expect(await read(id)).toMatchObject({ state: 'running' });
    });
    const before = (await events('reconciliation.finished')).length;
    await Promise.all([perform(id), perform(id)]);
    await perform(id);
    expect(await read(id)).toMatchObject({ state: 'finished' });
    expect(await events('reconciliation.finished')).toHaveLength(before + 1);
  });

  it('includes lines that arrived after it was requested', async () => {
    await service.sync();
    const id = await requestRun();
    await receive({});
    await perform(id);
    expect(await read(id)).toMatchObject({ counts: { newLines: 1 } });
  });

  it('fails with an error text and an event when the bank does not respond', async () => {
    const fault = { endpoint: 'transactions', kind: 'error-before-effect', times: 3 };
    const { status } = await service.bank.call('POST', '/sandbox/faults', { body: fault });
    expect(status).toBe(200);
    const run = await runNow();
    expect(run).toMatchObject({
      state: 'failed',
      error: 'The bank did not respond to the statement sync.',
      window: { until: null },
    });
    const [event] = await events('reconciliation.failed');
    expect(event?.data).toMatchObject({ runId: run.id, error: run.error });
    expect(await runNow()).toMatchObject({ state: 'finished' });
  });

  describe('by its schedule', () => {
    const advance = async (duration: string) => {
      const body = { advance: duration };
      expect((await service.bank.call('POST', '/sandbox/clock', { body })).status).toBe(200);
    };
    const scheduled = async () =>
      (await service.call('GET', path)).body.data.filter(
        ({ trigger }: { trigger: string }) => trigger === 'schedule',
      ) as { id: string; state: string }[];

    it('begins each morning by default, and once for several missed mornings', async () => {
      const { body } = await service.call('GET', schedulePath);
      expect(body).toMatchObject({ cron: '0 6 * * *', timezone: 'America/Sao_Paulo' });
      expect(new Date(body.nextRunAt as string).toISOString()).toMatch(/T09:00:00.000Z$/);
      await schedules.beginDue();
      expect(await scheduled()).toEqual([]);
      await advance('P3D');
      await service.sync();
      await schedules.beginDue();
      const [run, ...others] = await scheduled();
      expect([run?.state, others]).toEqual(['running', []]);
      await perform(run?.id ?? '');
      await schedules.beginDue();
      expect(await scheduled()).toHaveLength(1);
      const next = await service.call('GET', schedulePath);
      const days = Date.parse(next.body.nextRunAt) - Date.parse(body.nextRunAt);
      expect(days / 86_400_000).toBeGreaterThanOrEqual(3);
    });

    it('follows the last schedule that was set, and never begins when cron is null', async () => {
      const put = (schedule: object) => service.call('PUT', schedulePath, { body: schedule });
      const each = await put({ cron: '30 */2 * * 1-5', timezone: 'UTC' });
      expect([each.status, each.body.cron]).toEqual([200, '30 */2 * * 1-5']);
      expect(each.body.nextRunAt).toMatch(/:30:00.000Z$/);
      expect((await put({ cron: null })).body).toMatchObject({ cron: null, nextRunAt: null });
      const before = (await scheduled()).length;
      await advance('P3D');
      await service.sync();
      await schedules.beginDue();
      expect(await scheduled()).toHaveLength(before);
    });

    it.each([
      [{ cron: '0 6 * *' }, '$.cron'],
      [{ cron: '0 0 30 2 *' }, '$.cron'],
      [{ cron: '0 6 * * *', timezone: 'Mars/Olympus' }, '$.timezone'],
      [{ cron: '0 6 * * *', timeZone: 'UTC' }, '$.timeZone'],
      [{}, '$.cron'],
    ])('is refused when %j is not a valid schedule', async (body, field) => {
      const { status, body: response } = await service.call('PUT', schedulePath, { body });
      expect([status, Object.keys(response.errors)]).toEqual([400, [field]]);
    });
  });
});
