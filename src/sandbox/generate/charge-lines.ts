import { addDays } from '../../brazil/calendar.js';
import { buildStaticBrCode } from '../../brazil/br-code.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { txidOfCorrelationId } from '../../brazil/static-txid.js';
import { issueSlip } from '../charges/issued-slip.js';
import type { Person } from './people.js';
import { anybody, receivedPix, type ReceivedPix } from './pix-lines.js';
import {
  plainReais,
  type LineMaking,
  type PlannedCharge,
  type PlannedLine,
} from './planned-line.js';

const dayMs = 86_400_000;

/** A slip, paid through the clearing. */
export function paidSlip(making: LineMaking): PlannedLine {
  const { random, amountCents, at } = making;
  const payer = anybody(random);
  const charge = plannedSlip(making, 'BANKSLIP', payer);
  const { correlationId, wallet, yourNumber, ourNumber, dueDate, barCode, digitableLine } = charge;
  const slip = { walletNumber: wallet, yourNumber, ourNumber, dueDate, barCode, digitableLine };
  return {
    id: random.uuid(),
    typeName: 'CREDIT_BANKSLIP',
    changeCents: amountCents,
    internal: 'clearing',
    at,
    notes: `Boleto pago por ${payer.name}`,
    correlationId,
    idempotencyKey: null,
    charge,
    transfer: null,
    proof: { id: random.uuid(), ...slip, amount: plainReais(amountCents), payer },
  };
}

/** A slip with a QR code, paid by it. */
export function paidPixSlip(making: LineMaking): ReceivedPix {
  const payer = anybody(making.random);
  const charge = plannedSlip(making, 'BANKSLIP_PIX', payer);
  const pix = {
    ...qrOf(making, charge.correlationId, making.amountCents),
    description: `Boleto de ${making.account.holderName}`,
  };
  return paidBy(making, { ...charge, ...pix }, payer);
}

/** A static QR code with its first payment. */
export function paidStaticQr(making: LineMaking): ReceivedPix {
  const { random, amountCents, at } = making;
  const correlationId = random.uuid();
  // A code without an amount takes payments of any amount.
  const asked = random.below(2) === 0 ? amountCents : null;
  const charge: PlannedCharge = {
    id: making.takeChargeId(),
    correlationId,
    type: 'PIX_STATIC',
    status: 'Created',
    amountCents: asked,
    wallet: null,
    ourNumber: null,
    yourNumber: null,
    dueDate: null,
    barCode: null,
    digitableLine: null,
    payer: null,
    ...qrOf(making, correlationId, asked),
    description: null,
    createdAt: issuedAt(making),
    updatedAt: at,
  };
  return paidBy(making, charge, anybody(random));
}

/** One more payment of a QR code that stands. */
export function paidAgain(making: LineMaking, correlationId: string): ReceivedPix {
  const payer = anybody(making.random);
  return receivedPix(making, { type: 'PIX_QR_CODE_STATIC', correlationId, payer });
}

function paidBy(making: LineMaking, charge: PlannedCharge, payer: Person): ReceivedPix {
  const { correlationId } = charge;
  const { line, refundable } = receivedPix(making, {
    type: 'PIX_QR_CODE_STATIC',
    correlationId,
    payer,
  });
  return { line: { ...line, charge }, refundable };
}

/** Paid up to its due date, so that what was asked is what was paid. */
function plannedSlip(
  making: LineMaking,
  type: 'BANKSLIP' | 'BANKSLIP_PIX',
  payer: Person,
): PlannedCharge {
  const { account, random, amountCents, at } = making;
  const id = making.takeChargeId();
  const correlationId = random.uuid();
  // A day later at least: midnight may be nearer in São Paulo than by the statement's cut.
  const dueDate = addDays(statementDayOf(at), 1 + random.below(10));
  const { wallet, ourNumber, barCode, digitableLine } = issueSlip(
    account,
    { Amount: amountCents, dueDate },
    id,
  );
  return {
    id,
    correlationId,
    type,
    status: 'Paid',
    amountCents,
    wallet,
    ourNumber,
    yourNumber: String(random.below(1_000_000_000)),
    dueDate,
    barCode,
    digitableLine,
    payer,
    pixKey: null,
    txid: null,
    qrCode: null,
    description: null,
    createdAt: issuedAt(making),
    updatedAt: at,
  };
}

function qrOf({ account, pixKey }: LineMaking, correlationId: string, amountCents: bigint | null) {
  const txid = txidOfCorrelationId(correlationId);
  const qrCode = buildStaticBrCode({
    pixKey,
    txid,
    merchantName: account.holderName,
    merchantCity: account.city,
    ...(amountCents === null ? {} : { amountCents }),
  });
  return { pixKey, txid, qrCode };
}

/** Up to three days before it was paid. */
function issuedAt({ random, at }: LineMaking): Date {
  return new Date(at.getTime() - random.below(3 * dayMs));
}
