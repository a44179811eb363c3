// What business systems want in a round, each thing under a key of its own, and what it must do to the bank's book.
import { v5 as uuidv5 } from 'uuid';
import { customer } from '../contract/samples.js';
import { byKey, known, manual } from '../contract/transfer-samples.js';
import type { Dice } from './dice.js';

export const intentKinds = [
  ...(['charge', 'static QR', 'by key', 'manual', 'internal'] as const),
  ...(['batch', 'bill', 'refund', 'customer'] as const),
];
export type IntentKind = (typeof intentKinds)[number];

export interface Request {
  method: 'POST' | 'PUT';
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

/** A debit of our account, and the ids by which the bank's book tells it, beside the key. */
export interface Movement {
  cents: number;
  type: string;
  endToEndId?: string;
  externalId?: string;
  originalEndToEndId?: string;
}

export interface Intent {
  kind: IntentKind;
  key: string;
  request: Request;
  /** What it moves out when it succeeds. */
  movements: Movement[];
  /** A charge that a payer may pay. */
  correlationId: string | null;
}

/** What has to be there before an intent can be asked for. */
export interface Ground {
  /** The endToEndId of a fresh look-up through the service. */
  lookUp(): Promise<string>;
  /** The bar code of a bill that can be paid. */
  newBill(cents: number): Promise<string>;
  /** A Pix that came in. */
  receivedPix(): { endToEndId: string };
}

const namespace = '6f2c3f0e-8d6b-4b59-9d38-3a1c5f3b7e11';
const reais = (cents: number) => cents / 100;

/** The intent at a place of a round. Amounts differ from each other, so that each movement can be told by its own. */
export async function newIntent(
  kind: IntentKind,
  seed: number,
  place: number,
  dice: Dice,
  ground: Ground,
): Promise<Intent> {
  const key = uuidv5(`${seed}/${place}`, namespace);
  const cents = 101 + place;
  const intent = (path: string, body: unknown, more: Partial<Intent> = {}): Intent => ({
    kind,
    key,
    request: { method: 'POST', path, body, headers: { IdempotencyKey: key } },
    movements: [],
    correlationId: null,
    ...more,
  });
  const transfer = (body: unknown, movement: Omit<Movement, 'cents'>) =>
    intent('/baas/api/v2/transfers', body, { movements: [{ cents, ...movement }] });
  switch (kind) {
    case 'charge':
      return intent('/baas/v1/charges', chargeBody(key, cents), { correlationId: key });
    case 'static QR': {
      const body = { type: 'PIX_STATIC', correlationId: key, amount: reais(cents) };
      return intent('/baas/api/v2/pix/qrcode/static', body, { correlationId: key });
    }
    case 'by key': {
      const endToEndId = await ground.lookUp();
      const body = byKey(endToEndId, { amount: reais(cents) });
      return transfer(body, { type: 'DEBIT_PIX', endToEndId });
    }
    case 'manual':
      return transfer(manual({ amount: reais(cents) }), { type: 'DEBIT_PIX' });
    case 'internal': {
      const externalId = dice.chance(0.5) ? key : undefined;
      const { beneficiaryAccount } = known;
      const body = { amount: reais(cents), beneficiaryAccount, externalId };
      const type = 'DEBIT_TRANSFER_INTERNAL';
      return transfer(body, { type, ...(externalId ? { externalId } : {}) });
    }
    case 'batch':
      return batch(intent, key, cents, dice.integer(1, 4));
    case 'bill': {
      const body = { amount: reais(cents), barCode: await ground.newBill(cents) };
      const movements = [{ cents, type: 'DEBIT_BILL_PAYMENT' }];
      return intent('/baas/api/v1/bill-payments', body, { movements });
    }
    case 'refund':
      return refund(intent, key, cents + dice.integer(0, 3) * 6_00, ground.receivedPix());
    case 'customer': {
      const headers = { IdempotencyKey: key, 'x-service-partner-key': 'concilia-dev-partner' };
      const request = { method: 'POST' as const, path: '/v1/customers', body: person(), headers };
      return intent('', null, { request });
    }
  }
}

/** A charge with a QR code that a payer pays by Pix. */
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

type OperationRequestOf = (path: string, body: unknown, more?: Partial<Intent>) => Intent;

function batch(intent: OperationRequestOf, key: string, cents: number, count: number): Intent {
  const movements = Array.from({ length: count }, (_, item) => ({
    cents,
    type: 'DEBIT_TRANSFER_INTERNAL',
    externalId: `${key}-${item}`,
  }));
  const body = movements.map(({ externalId }) => ({
    externalId,
    amount: reais(cents),
    beneficiaryAccountNumber: known.beneficiaryAccount,
  }));
  return intent('/baas/v1/transfers/batch', body, { movements });
}

/** A part of a Pix goes back; a large one may be more than is left of it. */
function refund(
  intent: OperationRequestOf,
  key: string,
  cents: number,
  { endToEndId }: { endToEndId: string },
): Intent {
  const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
  const body = { amount: reais(cents) };
  const headers = { IdempotencyKey: key };
  const movement = { cents, type: 'DEBIT_PIX_REFUND', originalEndToEndId: endToEndId };
  return intent(path, body, {
    request: { method: 'PUT', path, body, headers },
    movements: [movement],
  });
}

/** Secrets and an address that must stand in no log. */
export const canaries = ['604917', '58203946', '71930485', 'canario-do-caos'] as const;

function person() {
  const [password, emailCode, phoneCode, mailbox] = canaries;
  return customer({
    password,
    email: { value: `${mailbox}@cliente.example`, codeVerification: emailCode },
    phone: { ddd: '11', number: '987654321', codeVerification: phoneCode },
  });
}
