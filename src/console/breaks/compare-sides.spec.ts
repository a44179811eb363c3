import { describe, expect, it } from '@jest/globals';
import { unknownCounterparty } from '../../access/counterparties/resolution.js';
import type { LineSide, PaymentSide } from '../../reconciliation/breaks/break-sides.service.js';
import { compareSides } from './compare-sides.js';

const line: LineSide = {
  nsu: 7n,
  isCredit: true,
  kind: 'CREDIT_PIX',
  amountCents: 10_000n,
  // 23:30 on 9 March in São Paulo.
  occurredAt: new Date('2026-03-10T02:30:00Z'),
  notes: null,
  counterparty: { ...unknownCounterparty, name: 'JOAO DA SILVA', taxId: '52998224725' },
  references: [
    { kind: 'nsu', value: '7' },
    { kind: 'end_to_end_id', value: 'E123' },
  ],
};
const payment: PaymentSide = {
  expectedPaymentId: '01900000-0000-7000-8000-000000000001',
  isCredit: true,
  kind: 'create_charge',
  amountCents: 10_000n,
  paidCents: 0n,
  dueDate: '2026-03-09',
  createdAt: new Date('2026-03-01T12:00:00Z'),
  withdrawnAt: null,
  counterparty: { ...unknownCounterparty, name: 'João  da Silva', taxId: '52998224725' },
  references: [{ kind: 'correlation_id', value: 'order-1001' }],
};
const marks = (one: LineSide, other: PaymentSide, owed: bigint | null = 10_000n) =>
  Object.fromEntries(
    compareSides(one, other, { owed, day: other.dueDate ?? '2026-03-09' }).map(
      ({ field, mark }) => [field, mark],
    ),
  );

describe('a line and an expected payment', () => {
  it('agree in what is the same, whatever accents and spaces the bank writes', () => {
    expect(marks(line, payment)).toEqual({
      amount: 'same',
      day: 'same',
      direction: 'same',
      name: 'same',
      taxId: 'same',
      references: 'unknown',
    });
  });

  it('differ in amount by what the line has more than is owed', () => {
    const [amount] = compareSides(line, payment, { owed: 12_500n, day: '2026-03-09' });
    expect(amount).toMatchObject({ mark: 'differs', differenceCents: -2_500n });
    expect(marks(line, payment, null).amount).toBe('unknown');
  });

  it('are near some days before and after the due day, and differ beyond', () => {
    const days = (dueDate: string) => marks(line, { ...payment, dueDate }).day;
    expect([days('2026-03-19'), days('2026-02-27')]).toEqual(['near', 'near']);
    expect([days('2026-03-20'), days('2026-02-26')]).toEqual(['differs', 'differs']);
  });

  it('do not differ by what is masked or not known', () => {
    const masked = { ...line.counterparty, taxId: '***.982.247-**', name: null };
    expect(marks({ ...line, counterparty: masked }, payment)).toMatchObject({
      taxId: 'unknown',
      name: 'unknown',
    });
  });

  it('share an id that the line carries, or that the payer wrote into the notes', () => {
    const shared = [...line.references, payment.references[0]!];
    expect(marks({ ...line, references: shared }, payment).references).toBe('same');
    const noted = compareSides({ ...line, notes: 'ref order-1001' }, payment, {
      owed: null,
      day: '2026-03-09',
    }).at(-1);
    expect(noted).toMatchObject({ mark: 'same', line: ['order-1001', '7', 'E123'] });
    const short = [{ kind: 'correlation_id', value: 'ref' }] as const;
    expect(
      marks({ ...line, notes: 'ref x' }, { ...payment, references: [...short] }).references,
    ).toBe('unknown');
  });

  it('differ in direction', () => {
    expect(marks({ ...line, isCredit: false }, payment).direction).toBe('differs');
  });
});
