// Responses of a faulty or hostile bank, or of a proxy in front of it.
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export const chargeJson = JSON.stringify({
  type: 'BANKSLIP',
  amount: 10.5,
  ourNumber: '1',
  correlationId: 'order-1',
  dueDate: '2030-12-31',
  barCode: '0',
  digitableLine: '0',
  payer: {},
  status: 'Pending',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
});
export const megabyte = 1_048_576;

export const respondWith =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Sends a body without end, a byte at a time. */
export const endlessTrickle: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** Sends a body without end, a megabyte at a time. */
export const endlessFlood: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(megabyte, ' ');
  const sendMore = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', sendMore);
  sendMore();
};
