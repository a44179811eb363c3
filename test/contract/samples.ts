import { randomUUID } from 'node:crypto';
import type { TestResponse } from './bank-under-test.js';

/** The date of a day relative to today, in São Paulo (UTC−3). */
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

/**
 * A conventional slip (wallet 112). `changes` replace or add fields. An undefined field is omitted.
 */
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

/** A slip with a QR code and the fields that only such a slip can have. */
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

export const newKeyHeader = () => ({ IdempotencyKey: randomUUID() });

const sections: Record<number, string> = { 400: '6.5.1', 404: '6.5.4' };

/** Expects the contract's error body. Only a 400 has `errors`, with the JSON path of each error. */
export function expectError(response: TestResponse, status: number, path?: string): void {
  expect(response.status).toBe(status);
  expect(response.body).toMatchObject({
    type: expect.stringContaining(sections[status] ?? 'rfc7231'),
    title: expect.any(String),
    status,
    traceId: expect.stringMatching(/.+/),
  });
  if (path) expect(response.body.errors[path]).toEqual([expect.any(String)]);
  if (status === 404) expect(response.body).toMatchObject({ title: 'Not Found' });
  if (status !== 400) expect(response.body).not.toHaveProperty('errors');
}

/** A customer request as in the contract's usage. `document` is a new CPF. */
export function customer(changes: Record<string, unknown> = {}) {
  return {
    document: newCpf(),
    name: 'Joana da Silva',
    email: { value: `joana-${randomUUID()}@cliente.example`, codeVerification: '483920' },
    phone: { ddd: '11', number: '987654321', codeVerification: '728194' },
    fatherName: 'José da Silva',
    motherName: 'Maria da Silva',
    monthlyInvoicing: 4500.5,
    birthDate: '1990-05-20T00:00:00.000Z',
    educationLevel: 'UNDEFINED',
    maritalStatus: 'UNDEFINED',
    gender: 'UNINFORMED',
    address: {
      publicPlace: 'Avenida Paulista',
      number: '1000',
      zipCode: '01310-100',
      neighborhood: 'Bela Vista',
      complement: 'sala 1',
      isConfirmed: true,
      type: 'COMMERCIAL',
      cityId: 3550308,
      cityName: 'São Paulo',
    },
    password: '918273',
    securityPassword: '7391',
    ...changes,
  };
}

/** A random CPF, with punctuation. */
export function newCpf(): string {
  const digits = [...String(Math.floor(Math.random() * 1e9)).padStart(9, '0')].map(Number);
  for (const length of [9, 10]) {
    const sum = digits.reduce((total, digit, index) => total + digit * (length + 1 - index), 0);
    digits.push(((sum * 10) % 11) % 10);
  }
  const [a, b, c, d] = [0, 3, 6, 9].map((start) => digits.slice(start, start + 3).join(''));
  return `${a}.${b}.${c}-${d}`;
}
