// The yardstick of G9: a small forwarder to the bank with a persisted key, the program of a process
// of its own. Two group commits a request on one table: the key and the bytes before the call, the
// response after it. Plain Fastify and pg, and axios as the service calls it. With
// SERVICE_DATABASE_URL it stores the rows of the service in place of its own.
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import axios, { AxiosHeaders } from 'axios';
import fastify from 'fastify';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { CallDeadline, keptConnections } from '../../src/platform/http/outgoing-calls.js';
import { OperationRows, type ForwardedAnswer, type ForwardedRequest } from './operation-rows.js';

const { BANK_URL = '', DATABASE_URL = '', SERVICE_DATABASE_URL = '', PORT = '0' } = process.env;

/** Work that shares statements: what waits while one statement runs is in the next one. */
class GroupCommit<Item> {
  private waiting: { item: Item; resolve: () => void; reject: (error: unknown) => void }[] = [];
  private isRunning = false;

  constructor(private readonly write: (items: Item[]) => Promise<unknown>) {}

  submit(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      void this.run();
    });
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }
}

interface Request extends ForwardedRequest {
  key: string;
  path: string;
}

interface GroupCommits {
  inserts: GroupCommit<Request>;
  updates: GroupCommit<ForwardedAnswer>;
}

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 4 });
const column = <Row, Value>(rows: Row[], read: (row: Row) => Value) => rows.map(read);

async function ofOneTable(): Promise<GroupCommits> {
  await pool.query(`
    CREATE TABLE IF NOT EXISTS forwarded_request (
      id uuid PRIMARY KEY, key text NOT NULL UNIQUE, path text NOT NULL, body text NOT NULL,
      status int, response text, created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      ended_at timestamptz)`);
  const inserts = new GroupCommit<Request>((rows) =>
    pool.query(
      `INSERT INTO forwarded_request (id, key, path, body)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])`,
      [
        column(rows, ({ id }) => id),
        column(rows, ({ key }) => key),
        column(rows, ({ path }) => path),
        column(rows, ({ body }) => body),
      ],
    ),
  );
  const updates = new GroupCommit<ForwardedAnswer>((rows) =>
    pool.query(
      `UPDATE forwarded_request f
       SET status = r.status, response = r.body, ended_at = clock_timestamp()
       FROM unnest($1::uuid[], $2::int[], $3::text[]) AS r(id, status, body) WHERE f.id = r.id`,
      [
        column(rows, ({ id }) => id),
        column(rows, ({ status }) => status),
        column(rows, ({ body }) => body),
      ],
    ),
  );
  return { inserts, updates };
}

async function ofService(kind: string): Promise<GroupCommits> {
  const service = new pg.Pool({ connectionString: SERVICE_DATABASE_URL, max: 1 });
  const rows = await OperationRows.read(service, pool, kind);
  await service.end();
  return {
    inserts: new GroupCommit<Request>((requests) => rows.insert(requests)),
    updates: new GroupCommit<ForwardedAnswer>((answers) => rows.complete(answers)),
  };
}

const opened = new Map<string, Promise<GroupCommits>>();

/** Of the requests of one kind. The service has stored one of each kind before. */
function groupCommitsFor(path: string): Promise<GroupCommits> {
  const kind = path.endsWith('/charges') ? 'create_charge' : 'create_transfer';
  const open = SERVICE_DATABASE_URL === '' ? ofOneTable : ofService;
  const commits = opened.get(kind) ?? open(kind);
  opened.set(kind, commits);
  return commits;
}

const sendOverHttp = axios.getAdapter('http');
const sendOptions = {
  method: 'POST',
  maxRedirects: 0,
  responseType: 'arraybuffer',
  validateStatus: () => true,
  proxy: false,
  httpAgent: new Agent({ ...keptConnections, maxSockets: 64 }),
} as const;

async function callBank(path: string, body: string, key: string) {
  const deadline = new CallDeadline(10_000);
  try {
    const headers = { 'content-type': 'application/json', idempotencykey: key };
    return await sendOverHttp({
      url: BANK_URL + path,
      data: body,
      headers: new AxiosHeaders(headers),
      signal: deadline,
      ...sendOptions,
    });
  } finally {
    deadline.clear();
  }
}

const server = fastify();
server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
  done(null, body),
);
server.post('/*', async (request, reply) => {
  const body = request.body as string;
  JSON.parse(body);
  const id = uuidv7();
  const { inserts, updates } = await groupCommitsFor(request.url);
  await inserts.submit({
    id,
    key: String(request.headers['idempotencykey']),
    path: request.url,
    body,
  });
  const response = await callBank(request.url, body, id);
  const text = (response.data as Buffer).toString();
  JSON.parse(text);
  await updates.submit({ id, status: response.status, body: text });
  return reply.status(response.status).header('content-type', 'application/json').send(text);
});
await server.listen({ port: Number(PORT), host: '127.0.0.1' });
process.send?.((server.server.address() as AddressInfo).port);
process.on('disconnect', () => process.exit(0));
