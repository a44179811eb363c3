// A bank that accepts every charge and does nothing else, in a process of its own. It answers each
// after `delayMs`, and counts the calls by their idempotency key: `GET /calls` returns
// {"<idempotency key>": <number of calls>}.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { serveYardstick } from '../harness/yardstick-server.js';

const calls = new Map<string, number>();
const rest = {
  ...{ barCode: '0'.repeat(44), digitableLine: '0'.repeat(47), ourNumber: '1', status: 'OPENED' },
  ...{ createdAt: '2026-11-23T12:00:00Z', updatedAt: '2026-11-23T12:00:00Z' },
};

interface ChargeBody {
  correlationId: string;
  dueDate: string;
  payer: object;
}

function chargeResponse(request: string): string {
  const { correlationId, dueDate, payer } = JSON.parse(request) as ChargeBody;
  // The text of the number, not its double.
  const amount = /"[Aa]mount": *([\d.]+)/.exec(request)?.[1] ?? '0';
  const fields = JSON.stringify({ correlationId, dueDate, payer, ...rest });
  return `{"type":"BANKSLIP","amount":${amount},${fields.slice(1)}`;
}

await serveYardstick(async ({ delayMs = '' }) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const answer = async (): Promise<string> => {
      if (request.method === 'GET') return JSON.stringify(Object.fromEntries(calls));
      const key = String(request.headers['idempotencykey']);
      calls.set(key, (calls.get(key) ?? 0) + 1);
      const body = chargeResponse(await text(request));
      await sleep(Number(delayMs));
      return body;
    };
    void answer().then((body) => {
      const length = Buffer.byteLength(body);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
      response.end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
});
