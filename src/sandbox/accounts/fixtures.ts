import { buildBankSlip } from '../../brazil/bank-slip.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { PixKeyKind } from '../../brazil/pix-key.js';
import { buildUtilityBill } from '../../brazil/utility-bill.js';
import type { SandboxAccount } from './party.js';

/** Seed data of a new sandbox bank: enough to try every chapter of the contract. */
export interface FixtureAccount extends Omit<SandboxAccount, 'id'> {
  openingBalanceCents: bigint;
  dictKeys: { kind: PixKeyKind; key: string }[];
}

export const secondAccountKey = 'sandbox-dev-key-2';

export const fixtureAccounts: [FixtureAccount, FixtureAccount] = [
  {
    branch: '0001',
    number: '1000001',
    holderName: 'Empresa Um Comércio Ltda',
    holderDocument: '11222333000181',
    holderType: 'LEGAL',
    street: 'Avenida Paulista, 1000',
    city: 'São Paulo',
    state: 'SP',
    zipCode: '01310100',
    email: 'financeiro@empresa-um.example',
    openingBalanceCents: 10_000_000n,
    dictKeys: [
      { kind: 'CNPJ', key: '11222333000181' },
      { kind: 'EMAIL', key: 'financeiro@empresa-um.example' },
      { kind: 'PHONE', key: '+5511987650001' },
      { kind: 'EVP', key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000001' },
    ],
  },
  {
    branch: '0001',
    number: '1000002',
    holderName: 'Maria Aparecida da Silva',
    holderDocument: '12345678909',
    holderType: 'NATURAL',
    street: 'Rua XV de Novembro, 200',
    city: 'Curitiba',
    state: 'PR',
    zipCode: '80020310',
    email: 'maria@pessoa-dois.example',
    openingBalanceCents: 500_000n,
    dictKeys: [
      { kind: 'CPF', key: '12345678909' },
      { kind: 'EMAIL', key: 'maria@pessoa-dois.example' },
      { kind: 'PHONE', key: '+5541987650002' },
      { kind: 'EVP', key: '6e6f2d5c-1a0b-4c3d-8e5f-000000000002' },
    ],
  },
];

/** The bank's internal accounts: the second leg of money that enters or leaves the bank. */
export const internalAccounts = [
  { number: 'capital', holderName: 'Opening balances of customers' },
  { number: 'spi', holderName: 'Pix to and from other institutions' },
  { number: 'clearing', holderName: 'Bank slips paid at other institutions' },
  { number: 'other', holderName: 'Everything else: TED, fees' },
] as const;

export type InternalAccount = (typeof internalAccounts)[number]['number'];

const billStatuses = [
  'PENDING_PAYMENT',
  'PAID',
  'BLOCKED_PAYMENT',
  'PAYMENT_DEADLINE_EXCEEDED',
] as const;
export type BillStatus = (typeof billStatuses)[number];

export interface FixtureBill {
  barCode: string;
  digitableLine: string;
  type: 'BANKSLIP' | 'TAXES';
  status: BillStatus;
  amountCents: bigint;
  dueDate: PlainDate;
  isAllowPartialPayment: boolean;
  minimumPaymentCents: bigint;
  maximumPaymentCents: bigint;
}

/** A bill of each type in each status, and one slip that allows partial payment. */
export function fixtureBills(today: PlainDate): FixtureBill[] {
  const bills: FixtureBill[] = [];
  for (const [index, status] of billStatuses.entries()) {
    const isLate = status === 'PAYMENT_DEADLINE_EXCEEDED';
    const dueDate = addDays(today, isLate ? -60 : 10 + index);
    bills.push(fullAmountBill('BANKSLIP', status, BigInt(15_050 + index * 1_000), dueDate, index));
    bills.push(fullAmountBill('TAXES', status, BigInt(8_025 + index * 500), dueDate, index));
  }
  const partial = fullAmountBill('BANKSLIP', 'PENDING_PAYMENT', 20_000n, addDays(today, 20), 9);
  bills.push({ ...partial, isAllowPartialPayment: true, minimumPaymentCents: 5_000n });
  return bills;
}

function fullAmountBill(
  type: FixtureBill['type'],
  status: BillStatus,
  amountCents: bigint,
  dueDate: PlainDate,
  serial: number,
): FixtureBill {
  return {
    ...(type === 'BANKSLIP'
      ? slipCodes(amountCents, dueDate, serial)
      : taxCodes(amountCents, serial)),
    type,
    status,
    amountCents,
    dueDate,
    isAllowPartialPayment: false,
    minimumPaymentCents: amountCents,
    maximumPaymentCents: amountCents,
  };
}

function slipCodes(amountCents: bigint, dueDate: PlainDate, serial: number) {
  const freeField = `3381260${String(serial).padStart(18, '0')}`;
  return buildBankSlip({ bankCode: '237', amountCents, dueDate, freeField });
}

function taxCodes(amountCents: bigint, serial: number) {
  return buildUtilityBill({
    segment: serial % 2 === 0 ? 'GOVERNMENT' : 'ENERGY',
    valueKind: 'REAIS',
    modulus: serial % 2 === 0 ? 10 : 11,
    value: amountCents,
    companyCode: '0179',
    freeField: String(serial).padStart(25, '0'),
  });
}
