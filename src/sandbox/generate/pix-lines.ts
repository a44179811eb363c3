import { buildEndToEndId } from '../../brazil/end-to-end-id.js';
import { bank, type Party, partyOfAccount, outsideParty } from '../accounts/party.js';
import type { LineType } from '../../bank-contract/line-types.js';
import type { PixType } from '../pix/pix-credits.service.js';
import { companies, people, type Person } from './people.js';
import { plainReais, type LineInputs, type PlannedLine } from './planned-line.js';
import type { SeededRandom } from './seeded-random.js';

/** A received Pix, of which part may have been refunded since. */
export interface RefundablePix {
  endToEndId: string;
  type: PixType;
  payer: Party;
  refundableCents: bigint;
}

export interface ReceivedPix {
  line: PlannedLine;
  refundable: RefundablePix;
}

/** A person three times in four, otherwise a company. */
export function randomPerson(random: SeededRandom): Person {
  return random.pick(random.below(4) === 0 ? companies : people);
}

/** The parts in which the lines of Pix differ. */
interface PixParts {
  typeName: LineType;
  isCredit: boolean;
  type: PixType;
  endToEndId: string;
  description: string;
  payer: Party;
  beneficiary: Party;
}

function pixLine({ random, amountCents, at }: LineInputs, pix: PixParts): PlannedLine {
  const { typeName, isCredit, type, endToEndId, description, payer, beneficiary } = pix;
  return {
    id: random.uuid(),
    typeName,
    changeCents: isCredit ? amountCents : -amountCents,
    internal: 'spi',
    at,
    notes: description,
    endToEndId,
    proof: {
      ...{ endToEndId, status: 'PIX_EFFECTIVE', type, amount: plainReais(amountCents) },
      ...(isCredit ? {} : { createdAt: at.toISOString() }),
      ...{ description, payer, beneficiary },
    },
  };
}

export function receivedPix(
  inputs: LineInputs,
  pix: { type: PixType; correlationId: string | null; payer: Person },
): ReceivedPix {
  const { account, random, amountCents, at } = inputs;
  const { type, correlationId } = pix;
  const payer = outsideParty(pix.payer);
  const endToEndId = endToEndIdOf('E', payer.participant.ispb, at, random);
  const line = pixLine(inputs, {
    typeName: 'CREDIT_PIX',
    isCredit: true,
    ...{ type, endToEndId, payer },
    description: `Pix recebido de ${pix.payer.name}`,
    beneficiary: partyOfAccount(account),
  });
  const refundable = { endToEndId, type, payer, refundableCents: amountCents };
  return { line: { ...line, correlationId }, refundable };
}

/** A sent Pix, with its transfer in the final state. */
export function sentPix(inputs: LineInputs): PlannedLine {
  const { account, random, amountCents, at } = inputs;
  const beneficiary = outsideParty(randomPerson(random));
  const pix = {
    endToEndId: endToEndIdOf('E', bank.ispb, at, random),
    type: random.below(3) === 0 ? 'PIX_MANUAL' : 'PIX_KEY',
    description: `Pix enviado para ${beneficiary.holder.name}`,
    payer: partyOfAccount(account),
    beneficiary,
  } as const;
  const id = random.uuid();
  const line = pixLine(inputs, { typeName: 'DEBIT_PIX', isCredit: false, ...pix });
  return {
    ...line,
    proof: { id, ...line.proof },
    idempotencyKey: random.uuid(),
    transfer: { id, amountCents, ...pix },
  };
}

/** A refund of `amountCents` of a received Pix. */
export function pixRefund(inputs: LineInputs, original: RefundablePix): PlannedLine {
  const { account, random, at } = inputs;
  const line = pixLine(inputs, {
    typeName: 'DEBIT_PIX_REFUND',
    isCredit: false,
    type: original.type,
    endToEndId: endToEndIdOf('D', bank.ispb, at, random),
    description: `Devolução de Pix para ${original.payer.holder.name}`,
    payer: partyOfAccount(account),
    beneficiary: original.payer,
  });
  return {
    ...line,
    originalEndToEndId: original.endToEndId,
    proof: { id: random.uuid(), ...line.proof },
  };
}

function endToEndIdOf(kind: 'E' | 'D', ispb: string, at: Date, random: SeededRandom): string {
  return buildEndToEndId({ kind, ispb, at, sequence: random.alphanumeric(11) });
}
