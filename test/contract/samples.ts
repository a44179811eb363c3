import { randomUUID } from 'node:crypto';
import type { Answer } from './bank-under-test.js';

/** A day from today, by the São Paulo calendar, far enough from midnight for any bank's. */
export function dayFromToday(days: number): string {
  return new Date(Date.now() - 3 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10);
}

const payer = {
  name: 'João da Silva',
  document: '52998224725',
  email: 'joao@pagador.example',
  phone: { prefix: '11', number: '987654321' },
  address: {
    zipCode: '01310100',
    publicPlace: 'Avenida Paulista',
    neighborhood: 'Bela Vista',
    number: '1000',
    complement: 'sala 1',
    city: 'São Paulo',
    state: 'SP',
  },
};

/** A conventional slip (wallet 112); `changes` replace or add fields, undefined ones are left out. */
export function slip(changes: Record<string, unknown> = {}) {
  return {
    type: 'BANKSLIP',
    correlationId: randomUUID(),
    yourNumber: String(Math.floor(Math.random() * 1e9)),
    dueDate: dayFromToday(10),
    Amount: 150.75,
    payer,
    ...changes,
  };
}

/** A slip with a QR code and all that only it can carry. */
export function pixSlip(changes: Record<string, unknown> = {}) {
  return slip({
    type: 'BANKSLIP_PIX',
    discount: {
      type: 'Fixed',
      items: [
        { date: dayFromToday(-3), amount: 3 },
        { date: dayFromToday(-2), amount: 2 },
        { date: dayFromToday(-1), amount: 1 },
      ],
    },
    lateFine: { type: 'Percentage', date: dayFromToday(11), amount: 2 },
    latePayment: { type: 'Fixed', date: dayFromToday(11), amount: 0.1 },
    ...changes,
  });
}

export const finalBeneficiary = {
  name: 'Loja Sacadora Ltda',
  document: '11222333000181',
  address: payer.address,
};

export function staticQr(changes: Record<string, unknown> = {}) {
  return { type: 'PIX_STATIC', correlationId: randomUUID(), amount: 25.5, ...changes };
}

export const newKey = () => ({ IdempotencyKey: randomUUID() });

const sections: Record<number, string> = { 400: '6.5.1', 404: '6.5.4' };

/** The contract's error body; a 400 names the JSON path that is wrong, other errors have no `errors`. */
export function expectError(answer: Answer, status: number, path?: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({
    type: expect.stringContaining(sections[status] ?? 'rfc7231'),
    title: expect.any(String),
    status,
    traceId: expect.stringMatching(/.+/),
  });
  if (path) expect(answer.body.errors[path]).toEqual([expect.any(String)]);
  if (status === 404) expect(answer.body).toMatchObject({ title: 'Not Found' });
  if (status !== 400) expect(answer.body).not.toHaveProperty('errors');
}
