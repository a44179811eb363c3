// A bank that accepts every charge and transfer and does nothing else: the program of a process of
// its own, started by `node --import ./bench/typescript.mjs bench/yardsticks/stub-bank.ts`. It
// counts its calls by their idempotency key, so that a bench can compare them with what was stored.
//
//   PUT /delay/{ms}   from now on, it answers after that time
//   GET /calls        {"keys": {"<idempotency key>": <number of calls>}}; they are counted anew
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

let delayMs = 0;
let calls = new Map<string, number>();
let nsu = 0;

const party = {
  ...{ number: '1', branch: '1', type: 'CURRENT' },
  holder: { document: '12345678909', name: 'Maria', type: 'NATURAL' },
  participant: { name: 'Bank', ispb: '99999999' },
};
const times = { createdAt: '2026-11-23T12:00:00Z', updatedAt: '2026-11-23T12:00:00Z' };

interface ChargeBody {
  correlationId: string;
  dueDate: string;
  payer: object;
}

/** The amount as the request has it: the text of the number, not its double. */
function amountIn(text: string): string {
  return /"[Aa]mount": *([\d.]+)/.exec(text)?.[1] ?? '0';
}

function chargeResponse(text: string): string {
  const { correlationId, dueDate, payer } = JSON.parse(text) as ChargeBody;
  const codes = { barCode: '0'.repeat(44), digitableLine: '0'.repeat(47), ourNumber: '1' };
  const rest = { correlationId, dueDate, payer, ...codes, status: 'OPENED', ...times };
  return `{"type":"BANKSLIP","amount":${amountIn(text)},${JSON.stringify(rest).slice(1)}`;
}

function transferResponse(text: string): string {
  const { beneficiary } = JSON.parse(text) as { beneficiary?: { number: string } };
  nsu += 1;
  const ids = { id: `transfer-${nsu}`, endToEndId: `E99999999${nsu}` };
  const receiver = { ...party, number: beneficiary?.number ?? party.number };
  const rest = { ...ids, status: 'PIX_PROCESSING', type: 'PIX_MANUAL', ...times };
  const parties = { payer: party, beneficiary: receiver };
  return `{"amount":${amountIn(text)},${JSON.stringify({ ...rest, ...parties }).slice(1)}`;
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  });
  response.end(text);
}

function answer({ url = '', method, headers }: IncomingMessage, text: string) {
  if (method === 'PUT' && url.startsWith('/delay/')) {
    delayMs = Number(url.slice('/delay/'.length));
    return { status: 200, body: '{}', isAtOnce: true };
  }
  if (method === 'GET' && url === '/calls') {
    const body = JSON.stringify({ keys: Object.fromEntries(calls) });
    calls = new Map();
    return { status: 200, body, isAtOnce: true };
  }
  if (method !== 'POST') return { status: 404, body: '{"status":404}', isAtOnce: true };
  const key = String(headers['idempotencykey']);
  calls.set(key, (calls.get(key) ?? 0) + 1);
  const body = url.startsWith('/baas/v1/charges') ? chargeResponse(text) : transferResponse(text);
  return { status: 200, body, isAtOnce: false };
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { status, body, isAtOnce } = answer(request, Buffer.concat(chunks).toString());
    const send = () => respond(response, status, body);
    if (isAtOnce || delayMs === 0) send();
    else setTimeout(send, delayMs);
  });
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit(0));
