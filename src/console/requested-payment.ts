// What a waiting operation will pay, read from the request as it is stored: who receives it, and
// what the bank is asked for. Of a payment by Pix key, the account is that of the look-up.
import { parseBillCode } from '../brazil/bill-code.js';
import {
  fieldOf,
  readParty,
  readText,
  unknownParty,
  type PaymentParty,
} from '../access/counterparties/party.js';
import type { LookedUpPayee } from '../outbound/transfers/looked-up-payee.js';
import { operationKindOf } from '../bank-contract/operation-kinds.js';
import { parseJson, tolerantJson } from '../platform/json/exact-json.js';

export interface WaitingRequest {
  kind: string;
  requestBody: string | null;
  counterparty: string | null;
}

export interface RequestedPayment {
  /** Who receives the money; unknown where the request names nobody. */
  party: PaymentParty;
  /** Of a bill. */
  digitableLine: string | null;
  /** Of a refund: the nsu of the Pix that is refunded. */
  refundedNsu: bigint | null;
  /** Of a payment by Pix key: the id of the look-up, and the key, where the service made it. */
  endToEndId: string | null;
  pixKey: string | null;
  description: string | null;
  /** When the bank is asked to pay, as it was requested. */
  payAt: string | null;
}

export function readRequestedPayment(request: WaitingRequest): RequestedPayment {
  const { kind, counterparty } = request;
  const body = request.requestBody === null ? null : parseJson(request.requestBody, tolerantJson);
  const text = (name: string) => readText(fieldOf(body, name));
  // The request names the holder; the account is the one that is compared with the controls.
  const named = readParty(fieldOf(body, 'beneficiary'));
  const requested = {
    ...{ party: named, digitableLine: null, refundedNsu: null, endToEndId: null, pixKey: null },
    ...{ description: text('description'), payAt: text('payAt') },
  };
  const account = counterparty === null ? {} : accountIn(counterparty);
  switch (operationKindOf(kind)?.counterparty ?? null) {
    case 'account':
      return { ...requested, party: { ...named, ...account } };
    case 'account of a look-up':
      return { ...requested, party: { ...named, ...account }, endToEndId: text('endToEndId') };
    case 'bar code':
      return { ...requested, digitableLine: digitableLineOf(counterparty) };
    case 'refunded nsu':
      return { ...requested, refundedNsu: nsuOf(counterparty) };
    case null:
      return requested;
  }
}

/** With whom the look-up of its key names. What the request itself names comes first. */
export function withLookedUpPayee(
  payment: RequestedPayment,
  payees: ReadonlyMap<string, LookedUpPayee>,
): RequestedPayment {
  const found = payees.get(payment.endToEndId ?? '');
  if (!found) return payment;
  const { key: pixKey, ...holder } = found;
  const { name, taxId, ispb, branch, account } = payment.party;
  const party = {
    ...{ name: name ?? holder.name, taxId: taxId ?? holder.taxId, ispb: ispb ?? holder.ispb },
    ...{ branch: branch ?? holder.branch, account: account ?? holder.account },
  };
  return { ...payment, party, pixKey };
}

/** The account of a counterparty: `ispb/branch/number`, or a number within the bank. */
export function accountIn(counterparty: string): Pick<PaymentParty, 'ispb' | 'branch' | 'account'> {
  const { ispb, branch } = unknownParty;
  const [first = '', second = '', third] = counterparty.split('/');
  if (third === undefined) return { ispb, branch, account: counterparty };
  return { ispb: first.padStart(8, '0'), branch: second.padStart(4, '0'), account: third };
}

function digitableLineOf(barCode: string | null): string | null {
  const parsed = parseBillCode(barCode ?? '');
  return parsed.ok ? parsed.code.digitableLine : barCode;
}

function nsuOf(counterparty: string | null): bigint | null {
  const [, nsu] = /^nsu (\d{1,18})$/.exec(counterparty ?? '') ?? [];
  return nsu === undefined ? null : BigInt(nsu);
}
