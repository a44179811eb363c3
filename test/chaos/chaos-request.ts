// The requests of business systems in a round. Each has its own idempotency key and states which
// movements it must cause at the bank.
import { v5 as uuidv5 } from 'uuid';
import { customer } from '../contract/samples.js';
import { keyTransfer, knownBeneficiaries, manualTransfer } from '../contract/transfer-samples.js';
import type { Dice } from './dice.js';

export const chaosRequestKinds = [
  ...(['charge', 'static QR', 'by key', 'manual', 'internal'] as const),
  ...(['batch', 'bill', 'refund', 'customer'] as const),
];
export type ChaosRequestKind = (typeof chaosRequestKinds)[number];

export interface ChaosHttpRequest {
  method: 'POST' | 'PUT' | 'PATCH';
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

/**
 * A debit of the service's bank account, and the ids that identify it in the bank's ledger, besides
 * the idempotency key.
 */
export interface ExpectedMovement {
  cents: number;
  type: string;
  endToEndId?: string;
  externalId?: string;
  originalEndToEndId?: string;
}

export interface ChaosRequest {
  kind: ChaosRequestKind;
  /** The idempotency key. */
  key: string;
  http: ChaosHttpRequest;
  /** The debits that the request causes when it succeeds. */
  movements: ExpectedMovement[];
  /** The correlationId of a charge that a payer can pay, or null. */
  correlationId: string | null;
}

/** What some requests need before they can be built. */
export interface RequestInputs {
  /** Looks a Pix key up through the service. Returns the endToEndId of the lookup. */
  lookUpKey(): Promise<string>;
  /** Creates a bill that can be paid. Returns its bar code. */
  createBill(cents: number): Promise<string>;
  /** The endToEndId of a received Pix. */
  pickReceivedPix(): string;
}

const namespace = '6f2c3f0e-8d6b-4b59-9d38-3a1c5f3b7e11';
const reais = (cents: number) => cents / 100;

/**
 * Builds the request at an index of a round. All amounts of a round differ, so that an amount can
 * identify a movement.
 */
export async function newChaosRequest(
  kind: ChaosRequestKind,
  seed: number,
  index: number,
  dice: Dice,
  inputs: RequestInputs,
): Promise<ChaosRequest> {
  const key = uuidv5(`${seed}/${index}`, namespace);
  const cents = 101 + index;
  const build: RequestBuilder = (path, body, more = {}) => ({
    kind,
    key,
    http: { method: 'POST', path, body, headers: { IdempotencyKey: key } },
    movements: [],
    correlationId: null,
    ...more,
  });
  const transfer = (body: unknown, movement: Omit<ExpectedMovement, 'cents'>) =>
    build('/baas/api/v2/transfers', body, { movements: [{ cents, ...movement }] });
  switch (kind) {
    case 'charge':
      return build('/baas/v1/charges', chargeBody(key, cents), { correlationId: key });
    case 'static QR': {
      const body = { type: 'PIX_STATIC', correlationId: key, amount: reais(cents) };
      return build('/baas/api/v2/pix/qrcode/static', body, { correlationId: key });
    }
    case 'by key': {
      const endToEndId = await inputs.lookUpKey();
      const body = keyTransfer(endToEndId, { amount: reais(cents) });
      return transfer(body, { type: 'DEBIT_PIX', endToEndId });
    }
    case 'manual':
      return transfer(manualTransfer({ amount: reais(cents) }), { type: 'DEBIT_PIX' });
    case 'internal': {
      const externalId = dice.chance(0.5) ? key : undefined;
      const { beneficiaryAccount } = knownBeneficiaries;
      const body = { amount: reais(cents), beneficiaryAccount, externalId };
      const type = 'DEBIT_TRANSFER_INTERNAL';
      return transfer(body, { type, ...(externalId ? { externalId } : {}) });
    }
    case 'batch':
      return transferBatch(build, key, cents, dice.integer(1, 4));
    case 'bill': {
      const body = { amount: reais(cents), barCode: await inputs.createBill(cents) };
      const movements = [{ cents, type: 'DEBIT_BILL_PAYMENT' }];
      return build('/baas/api/v1/bill-payments', body, { movements });
    }
    case 'refund':
      return partialRefund(build, key, cents + dice.integer(0, 3) * 6_00, inputs.pickReceivedPix());
    case 'customer': {
      const headers = { IdempotencyKey: key, 'x-service-partner-key': 'concilia-dev-partner' };
      const http = { method: 'POST' as const, path: '/v1/customers', body: newCustomer(), headers };
      return build('', null, { http });
    }
  }
}

/** A charge with a QR code, which a payer pays by Pix. */
export function chargeBody(correlationId: string, cents: number) {
  return {
    type: 'BANKSLIP_PIX',
    correlationId,
    yourNumber: '1',
    dueDate: '2030-12-31',
    Amount: reais(cents),
    payer: { name: 'Maria da Silva', document: '12345678909' },
  };
}

type RequestBuilder = (path: string, body: unknown, more?: Partial<ChaosRequest>) => ChaosRequest;

function transferBatch(
  build: RequestBuilder,
  key: string,
  cents: number,
  count: number,
): ChaosRequest {
  const movements = Array.from({ length: count }, (_, item) => ({
    cents,
    type: 'DEBIT_TRANSFER_INTERNAL',
    externalId: `${key}-${item}`,
  }));
  const body = movements.map(({ externalId }) => ({
    externalId,
    amount: reais(cents),
    beneficiaryAccountNumber: knownBeneficiaries.beneficiaryAccount,
  }));
  return build('/baas/v1/transfers/batch', body, { movements });
}

/** Refunds a part of a Pix. A large part may exceed what is left of the Pix. */
function partialRefund(
  build: RequestBuilder,
  key: string,
  cents: number,
  endToEndId: string,
): ChaosRequest {
  const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
  const body = { amount: reais(cents) };
  const headers = { IdempotencyKey: key };
  const movement = { cents, type: 'DEBIT_PIX_REFUND', originalEndToEndId: endToEndId };
  return build(path, body, {
    http: { method: 'PUT', path, body, headers },
    movements: [movement],
  });
}

/** A password, two codes and an e-mail address that must appear in no log and no table. */
export const canaries = ['604917', '58203946', '71930485', 'canario-do-caos'] as const;

function newCustomer() {
  const [password, emailCode, phoneCode, mailbox] = canaries;
  return customer({
    password,
    email: { value: `${mailbox}@cliente.example`, codeVerification: emailCode },
    phone: { ddd: '11', number: '987654321', codeVerification: phoneCode },
  });
}
