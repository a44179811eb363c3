import { parseBankSlip } from '../../brazil/bank-slip.js';
import { parseBrCode } from '../../brazil/br-code.js';
import { parseEndToEndId } from '../../brazil/end-to-end-id.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { maxBalanceCents } from '../ledger/movement.js';
import { companies, people } from './people.js';
import { LinePlan, type LinePlanStart } from './line-plan.js';
import type { PlannedLine } from './planned-line.js';

const account = {
  id: 5,
  branch: '0001',
  number: '1000001',
  holderName: 'Empresa Um Comércio Ltda',
  holderDocument: '11222333000181',
  holderType: 'LEGAL',
  street: '',
  city: 'São Paulo',
  state: 'SP',
  zipCode: '',
  email: '',
} as const;

function planned(count: number, changes: Partial<LinePlanStart> = {}): PlannedLine[] {
  let chargeId = 0n;
  const plan = new LinePlan({
    seed: '1',
    account,
    pixKey: '6e6f2d5c-1a0b-4c3d-8e5f-000000000001',
    balanceCents: 10_000_000n,
    blockedCents: 0n,
    nextChargeId: () => (chargeId += 1n),
    timeOf: (position) => new Date(Date.UTC(2026, 0, 1) + position * 1_000),
    ...changes,
  });
  return Array.from({ length: count }, (_, position) => plan.next(position));
}

const byType = (lines: PlannedLine[], typeName: string) =>
  lines.filter((line) => line.typeName === typeName);

/** The balance after each line. */
function balances(lines: PlannedLine[], opening: bigint): bigint[] {
  let balance = opening;
  return lines.map((line) => (balance += line.changeCents));
}

it('plans the same lines from the same seed, and other lines from another seed', () => {
  expect(planned(500)).toEqual(planned(500));
  const other = new Set(planned(500, { seed: '2' }).map(({ id }) => id));
  expect(planned(500).filter(({ id }) => other.has(id))).toEqual([]);
});

it('creates every id once, in ascending order of time', () => {
  const lines = planned(5_000);
  const ids = lines.flatMap((line) => [
    line.id,
    ...(line.charge ? [line.charge.correlationId, line.charge.barCode] : []),
    ...(line.transfer ? [line.transfer.id] : []),
    ...(line.endToEndId ? [line.endToEndId] : []),
  ]);
  const present = ids.filter((id) => id !== null);
  expect(new Set(present).size).toBe(present.length);
  const times = lines.map(({ at }) => at.getTime());
  expect(times).toEqual([...times].sort((one, other) => one - other));
});

it('plans all types in their shares, mostly with small amounts', () => {
  const lines = planned(10_000);
  const shares = Object.fromEntries(
    [...new Set(lines.map(({ typeName }) => typeName))].map((name) => [
      name,
      Math.round(byType(lines, name).length / 100),
    ]),
  );
  expect(Object.keys(shares).sort()).toEqual([
    'CREDIT_BANKSLIP',
    'CREDIT_PIX',
    'DEBIT_BILL_PAYMENT',
    'DEBIT_FEE',
    'DEBIT_PIX',
    'DEBIT_PIX_REFUND',
  ]);
  expect(shares.CREDIT_PIX).toBeGreaterThan(40);
  expect(shares.DEBIT_PIX_REFUND).toBeGreaterThan(1);
  const amounts = byType(lines, 'CREDIT_BANKSLIP').map(({ changeCents }) => Number(changeCents));
  const median = amounts.sort((one, other) => one - other)[amounts.length >> 1]!;
  const mean = amounts.reduce((sum, cents) => sum + cents, 0) / amounts.length;
  expect(mean).toBeGreaterThan(1.4 * median);
});

it('issues charges whose codes carry the paid amount', () => {
  for (const { changeCents, charge, at } of planned(1_000)) {
    if (!charge) continue;
    if (charge.barCode) {
      const parsed = parseBankSlip(charge.barCode, '2026-01-01');
      expect(parsed).toMatchObject({
        ok: true,
        slip: { amountCents: changeCents, dueDate: charge.dueDate, bankCode: '999' },
      });
    }
    if (charge.qrCode)
      expect(parseBrCode(charge.qrCode)).toMatchObject({
        ok: true,
        brCode: { amountCents: charge.amountCents, txid: charge.txid },
      });
    expect(charge.createdAt.getTime()).toBeLessThanOrEqual(at.getTime());
  }
});

it('pays some static QR codes several times, and a fixed amount always in full', () => {
  const lines = planned(5_000);
  const codes = new Map(
    lines.flatMap(({ charge }) =>
      charge?.type === 'PIX_STATIC' ? [[charge.correlationId, charge]] : [],
    ),
  );
  let mostPayments = 0;
  for (const [correlationId, charge] of codes) {
    const payments = lines.filter((line) => line.correlationId === correlationId);
    mostPayments = Math.max(mostPayments, payments.length);
    if (charge.amountCents !== null)
      expect(new Set(payments.map(({ changeCents }) => changeCents))).toEqual(
        new Set([charge.amountCents]),
      );
  }
  expect(mostPayments).toBeGreaterThan(2);
});

it('refunds earlier received Pix, never more than was received', () => {
  const received = new Map<string, bigint>();
  let refunds = 0;
  for (const line of planned(10_000)) {
    if (line.typeName === 'CREDIT_PIX') received.set(line.endToEndId!, line.changeCents);
    if (line.typeName !== 'DEBIT_PIX_REFUND') continue;
    refunds += 1;
    const left = received.get(line.originalEndToEndId!)! + line.changeCents;
    expect(left).toBeGreaterThanOrEqual(0n);
    received.set(line.originalEndToEndId!, left);
    expect(parseEndToEndId(line.endToEndId!)?.kind).toBe('D');
  }
  expect(refunds).toBeGreaterThan(100);
});

it.each([
  ['an empty account', 0n, 0n],
  ['an account whose balance is blocked', 5_000_000n, 5_000_000n],
  ['an account at its balance limit', maxBalanceCents, 0n],
  ['an account one cent below its limit', maxBalanceCents - 1n, 0n],
])('leaves the balance of %s within its bounds', (_, balanceCents, blockedCents) => {
  const after = balances(planned(2_000, { balanceCents, blockedCents }), balanceCents);
  expect(after.every((cents) => cents >= blockedCents && cents <= maxBalanceCents)).toBe(true);
});

it('refuses an account that can be neither debited nor credited', () => {
  const stuck = { balanceCents: maxBalanceCents, blockedCents: maxBalanceCents };
  expect(() => planned(1, stuck)).toThrow(RangeError);
});

it('has people and companies with valid documents', () => {
  expect(people.map(({ document }) => parseTaxId(document)?.kind)).toEqual(
    people.map(() => 'NATURAL'),
  );
  expect(companies.map(({ document }) => parseTaxId(document)?.kind)).toEqual(
    companies.map(() => 'LEGAL'),
  );
});
