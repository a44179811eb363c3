// A bank of many accounts with a statement and webhooks, and nothing else: the program of a process
// of its own. An account is the API key that it is called with, and exists from its first call. It
// has the slug of the same name at the service. A message `{ account }` makes a payment, which is a
// line and a webhook, and is answered by `{ account, nsu, paidAt }`. `{ account, lines }` adds so
// many lines without webhooks. Any other message is answered by `{ calls }`.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveYardstick } from '../harness/yardstick-server.js';

interface Account {
  /** Oldest first. The nsu of a line is its place, counted from one. */
  lines: { at: string; text: string }[];
}

type BankSettings = Record<'port' | 'serviceUrl' | 'secret', string>;

const cents = 1_000;
const eventType = 'PIX_RECEIVED';
const accounts = new Map<string, Account>();
const webhooks = new Agent({ keepAlive: true, maxSockets: 64 });
let calls = 0;

function accountOf(name: string): Account {
  const account = accounts.get(name) ?? { lines: [] };
  accounts.set(name, account);
  return account;
}

/** Reais of a balance after so many payments. */
const reais = (payments: number) => ((payments * cents) / 100).toFixed(2);

function addLine({ lines }: Account): number {
  const nsu = lines.length + 1;
  const at = new Date().toISOString();
  const text =
    `{"id":"${randomUUID()}","nsu":${nsu},"amount":${reais(1)},"createdAt":"${at}",` +
    `"type":{"name":"CREDIT_PIX","isCredit":true},"proof":{"endToEndId":"E99999999${nsu}"},` +
    `"balance":{"balancePrevious":${reais(nsu - 1)},"currentBalance":${reais(nsu)}}}`;
  lines.push({ at, text });
  return nsu;
}

function notify(account: string, nsu: number, { serviceUrl, secret }: BankSettings): void {
  const url = `${serviceUrl}/webhooks/bank/${account}/${eventType}`;
  const headers = { 'content-type': 'application/json', 'x-webhook-key': secret };
  const outgoing = send(url, { method: 'POST', headers, agent: webhooks }, (response) =>
    response.resume(),
  );
  // A webhook may be lost.
  outgoing.on('error', () => undefined);
  outgoing.end(`{"eventType":"${eventType}","nsu":${nsu},"amount":${reais(1)}}`);
}

/** A date D as a bound means D at 03:00Z. */
const boundOf = (date: string | null) => (date === null ? null : `${date}T03:00:00.000Z`);

function statementPage({ lines }: Account, query: URLSearchParams): string {
  const [from, until] = [boundOf(query.get('startDate')), boundOf(query.get('endDate'))];
  const within = lines.filter(
    ({ at }) => (from === null || at >= from) && (until === null || at < until),
  );
  const limit = Number(query.get('limit') ?? 10);
  const end = within.length - (Number(query.get('page') ?? 1) - 1) * limit;
  const page = end <= 0 ? [] : within.slice(Math.max(0, end - limit), end).reverse();
  return `[${page.map(({ text }) => text).join()}]`;
}

function answer({ url = '', headers }: IncomingMessage): string | null {
  const { pathname, searchParams } = new URL(url, 'http://bank');
  const account = accountOf(String(headers['x-service-api-key']));
  calls += 1;
  if (pathname.endsWith('/transactions')) return statementPage(account, searchParams);
  const total = reais(account.lines.length);
  return pathname.endsWith('/balances')
    ? `{"amountAvailable":${total},"amountBlocked":0,"amountTotal":${total}}`
    : null;
}

async function serve(settings: BankSettings): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    const text = answer(request);
    response.writeHead(text === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(text ?? '{"status":404}');
  });
  server.listen(Number(settings.port), '127.0.0.1');
  await once(server, 'listening');
  process.on('message', ({ account, lines }: { account?: string; lines?: number }) => {
    if (account === undefined) {
      process.send?.({ calls });
      return;
    }
    if (lines !== undefined) {
      for (let line = 0; line < lines; line += 1) addLine(accountOf(account));
      return;
    }
    const nsu = addLine(accountOf(account));
    process.send?.({ account, nsu, paidAt: Date.now() });
    notify(account, nsu, settings);
  });
  return (server.address() as AddressInfo).port;
}

await serveYardstick(serve);
