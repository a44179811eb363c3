import { addDays } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { emptyCharge, slipOf, staticQrOf } from '../charges/charge-parts.js';
import { issueSlip } from '../charges/issued-slip.js';
import type { Person } from './people.js';
import { randomPerson, receivedPix, type ReceivedPix } from './pix-lines.js';
import {
  plainReais,
  type LineInputs,
  type PlannedCharge,
  type PlannedLine,
} from './planned-line.js';

const dayMs = 86_400_000;

/** A slip that is paid through the clearing. */
export function paidSlip(inputs: LineInputs): PlannedLine {
  const { random, amountCents, at } = inputs;
  const payer = randomPerson(random);
  const charge = plannedSlip(inputs, 'BANKSLIP', payer);
  return {
    id: random.uuid(),
    typeName: 'CREDIT_BANKSLIP',
    changeCents: amountCents,
    internal: 'clearing',
    at,
    notes: `Boleto pago por ${payer.name}`,
    correlationId: charge.correlationId,
    charge,
    proof: { id: random.uuid(), ...slipOf(charge), amount: plainReais(amountCents), payer },
  };
}

/** A slip with a QR code that is paid by Pix. */
export function paidPixSlip(inputs: LineInputs): ReceivedPix {
  const payer = randomPerson(inputs.random);
  const charge = plannedSlip(inputs, 'BANKSLIP_PIX', payer);
  const pix = {
    ...staticQrOf(inputs.account, inputs.pixKey, charge),
    description: `Boleto de ${inputs.account.holderName}`,
  };
  return paidBy(inputs, { ...charge, ...pix }, payer);
}

/** A static QR code with its first payment. */
export function paidStaticQr(inputs: LineInputs): ReceivedPix {
  const { account, pixKey, random, at } = inputs;
  const correlationId = random.uuid();
  // A code without an amount accepts payments of any amount.
  const amountCents = random.below(2) === 0 ? inputs.amountCents : null;
  const charge: PlannedCharge = {
    ...emptyCharge,
    id: inputs.nextChargeId(),
    correlationId,
    type: 'PIX_STATIC',
    status: 'Created',
    amountCents,
    ...staticQrOf(account, pixKey, { correlationId, amountCents }),
    createdAt: issuedAt(inputs),
    updatedAt: at,
  };
  return paidBy(inputs, charge, randomPerson(random));
}

/** A further payment of an earlier static QR code. */
export function repeatedQrPayment(inputs: LineInputs, correlationId: string): ReceivedPix {
  return qrPayment(inputs, correlationId, randomPerson(inputs.random));
}

function qrPayment(inputs: LineInputs, correlationId: string, payer: Person): ReceivedPix {
  return receivedPix(inputs, { type: 'PIX_QR_CODE_STATIC', correlationId, payer });
}

function paidBy(inputs: LineInputs, charge: PlannedCharge, payer: Person): ReceivedPix {
  const { line, refundable } = qrPayment(inputs, charge.correlationId, payer);
  return { line: { ...line, charge }, refundable };
}

/** A slip that is paid by its due date, so that the paid amount is the slip's amount. */
function plannedSlip(
  inputs: LineInputs,
  type: 'BANKSLIP' | 'BANKSLIP_PIX',
  payer: Person,
): PlannedCharge {
  const { account, random, amountCents, at } = inputs;
  const id = inputs.nextChargeId();
  const correlationId = random.uuid();
  // At least a day later: midnight in São Paulo may come before the end of the statement's day.
  const dueDate = addDays(statementDayOf(at), 1 + random.below(10));
  return {
    ...emptyCharge,
    ...issueSlip(account, { Amount: amountCents, dueDate }, id),
    id,
    correlationId,
    type,
    status: 'Paid',
    amountCents,
    yourNumber: String(random.below(1_000_000_000)),
    dueDate,
    payer,
    createdAt: issuedAt(inputs),
    updatedAt: at,
  };
}

/** A time up to three days before the payment. */
function issuedAt({ random, at }: LineInputs): Date {
  return new Date(at.getTime() - random.below(3 * dayMs));
}
