import { LosslessNumber } from 'lossless-json';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { forgeBody } from './forgery.js';

const correlationId = '0197a5c2-3b4d-7e8f-9a0b-1c2d3e4f5a6b';
const endToEndId = 'E1234567820260515123AbCdEfGhIjK9';
const truth = {
  eventType: 'PIX_RECEIVED',
  nsu: new LosslessNumber('9007199254740993'),
  correlationId,
  endToEndId,
  referenceId: endToEndId,
  amount: new LosslessNumber('10.10'),
  walletNumber: 112,
  createdAt: '2026-05-15T12:36:48.000Z',
  proof: { endToEndId, amount: new LosslessNumber('10.10'), key: null, payer: { name: 'Ana' } },
};
const forged = forgeBody(truth) as typeof truth;

it('has the shape of the genuine body', () => {
  const shape = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, one]) => [name, shape(one)])
      : typeof value;
  const read = (body: object) => parseJson(stringifyJson(body));
  expect(shape(read(forged))).toEqual(shape(read(truth)));
});

it('changes every amount to the same value', () => {
  expect(forged.amount.value).toBe('1244.66');
  expect(forged.proof.amount).toEqual(forged.amount);
});

it('replaces every id, equal ids by equal ones', () => {
  expect(forged.correlationId).toMatch(/^0197a5c2-3b4d-7e8f-9a0b-1c2d\d{8}$/);
  expect(forged.correlationId).not.toBe(correlationId);
  expect(forged.endToEndId).toMatch(/^E1234567820260515123AbCd\d{8}$/);
  expect(forged.referenceId).toBe(forged.endToEndId);
  expect(forged.proof.endToEndId).toBe(forged.endToEndId);
  expect(forged.nsu.value).toBe('9007199255740993');
});

it('changes no field that is not an id, and not the genuine body', () => {
  const { eventType, walletNumber, createdAt } = forged;
  expect({ eventType, walletNumber, createdAt }).toEqual({
    eventType: 'PIX_RECEIVED',
    walletNumber: 112,
    createdAt: truth.createdAt,
  });
  expect(forged.proof.payer).toEqual({ name: 'Ana' });
  expect(truth.correlationId).toBe(correlationId);
});

it('replaces ids of any length', () => {
  for (const id of ['', '7', 'a b', 'x'.repeat(100)]) {
    const { externalId } = forgeBody({ externalId: id }) as { externalId: string };
    expect(externalId).not.toBe(id);
  }
});
