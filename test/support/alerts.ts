// The service with a mail server and an HTTP receiver of alerts. A test evaluates rules and sends
// messages itself, at a time that it moves.
import type pg from 'pg';
import { AlertEvaluator } from '../../src/reporting/alerts/alert-evaluator.service.js';
import { AlertNotifications } from '../../src/reporting/alerts/alert-notifications.service.js';
import type { ChannelKey } from '../../src/reporting/alerts/notifications.queries.js';
import { sandboxUnderTest } from '../contract/bank-under-test.js';
import { listenHttp, type ReceivedRequest } from './http-listener.js';
import { MailReceiver } from './mail-receiver.js';
import { testDatabase } from './postgres.js';
import { serviceProcess, type ServiceProcess } from './service-application.js';

type Application = Pick<ServiceProcess, 'application'>;

export async function alertService() {
  const mail = await MailReceiver.listen();
  const environment = { SMTP_URL: mail.url, ALERT_FROM: 'alerts@concilia.example' };
  const sandbox = await sandboxUnderTest();
  const test = await testDatabase('service');
  const bankUrl = await sandbox.application.getUrl();
  const start = () => serviceProcess(test, bankUrl, environment);
  const service = await start();
  const { pool } = test;
  const { id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow();
  const receiver = await httpReceiver();
  const steps = alertSteps(service, pool);
  return {
    ...service,
    ...{ accountId, pool, mail, ...receiver },
    ...steps,
    ...settingsOf(service),
    ...breaksOf(pool, accountId),
    alerts: async (query = '') =>
      (await service.call('GET', `/v1/alerts?${query}`)).body.data as Record<string, unknown>[],
    /** Nothing of a test is left for the next one. */
    reset: async () => {
      await removeSettings(service);
      await pool.query(
        `UPDATE break SET state = 'resolved', resolution = 'automatic', resolved_at = now()
         WHERE state = 'open'`,
      );
      mail.mails.length = receiver.requests.length = receiver.responses.length = 0;
    },
    /** Another process on the same database. */
    startOther: start,
    stop: async () => {
      await service.stop();
      await test.drop();
      await sandbox.stop();
      receiver.http.close();
      await mail.close();
    },
  };
}

export type AlertService = Awaited<ReturnType<typeof alertService>>;

async function httpReceiver() {
  const requests: ReceivedRequest[] = [];
  /** The next responses; 200 after them. */
  const responses: number[] = [];
  const http = await listenHttp((request, response) => {
    requests.push(request);
    response.statusCode = responses.shift() ?? 200;
    response.end();
  });
  return { http, requests, responses };
}

function alertSteps(service: Application, pool: pg.Pool) {
  /** Rules are evaluated at once, whoever evaluated them last. */
  const evaluate = async ({ application }: Application = service) => {
    await pool.query(`UPDATE alert_rule SET evaluated_at = evaluated_at - interval '1 minute'`);
    await application.get(AlertEvaluator, { strict: false }).evaluate();
  };
  /** Sends what is due, by this process or others. */
  const send = async ({ application }: Application = service) => {
    const notifications = application.get(AlertNotifications, { strict: false });
    const { rows } = await pool.query<ChannelKey>(
      'SELECT account_id AS "accountId", id AS "channelId" FROM alert_channel',
    );
    for (const channel of rows) await notifications.sendDue(channel);
  };
  /** As the sweepers do. */
  const run = async () => {
    await evaluate();
    await send();
  };
  return { evaluate, send, run };
}

function settingsOf({ call }: Pick<ServiceProcess, 'call'>) {
  const create = async <Created>(path: string, body: object): Promise<Created> => {
    const response = await call('POST', path, { body });
    if (response.status !== 201) throw new Error(`${path}: ${response.text}`);
    return response.body as Created;
  };
  return {
    createChannel: (body: object) =>
      create<{ id: string; secret: string }>('/v1/alert-channels', { name: 'Tesouraria', ...body }),
    createRule: (body: object) =>
      create<{ id: string }>('/v1/alert-rules', { name: 'Regra', groupSeconds: 0, ...body }),
  };
}

async function removeSettings({ call }: Pick<ServiceProcess, 'call'>): Promise<void> {
  for (const path of ['/v1/alert-rules', '/v1/alert-channels'])
    for (const { id } of (await call('GET', `${path}?limit=500`)).body.data)
      await call('DELETE', `${path}/${id}`);
}

function breaksOf(pool: pg.Pool, accountId: number) {
  return {
    openBreak: async (subject: string, amountCents: number | null, kind = 'missing') => {
      const { rows } = await pool.query<{ id: string }>(
        `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
         VALUES ($1, gen_random_uuid(), $4, 'open', $2, $3, '{}') RETURNING id`,
        [accountId, subject, amountCents, kind],
      );
      return rows[0]!.id;
    },
    setBreak: (id: string, state: 'open' | 'resolved') =>
      pool.query(
        `UPDATE break
         SET state = $2::break_state, resolution = CASE $2 WHEN 'resolved' THEN 'automatic' END,
             resolved_at = CASE $2 WHEN 'resolved' THEN now() END
         WHERE id = $1`,
        [id, state],
      ),
  };
}
