import { buildEndToEndId } from '../../brazil/end-to-end-id.js';
import { bank, type Party, partyOfAccount, outsideParty } from '../accounts/party.js';
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

export function receivedPix(
  { account, random, amountCents, at }: LineInputs,
  {
    type,
    correlationId,
    payer: person,
  }: {
    type: PixType;
    correlationId: string | null;
    payer: Person;
  },
): ReceivedPix {
  const payer = outsideParty(person);
  const endToEndId = endToEndIdOf('E', payer.participant.ispb, at, random);
  const description = `Pix recebido de ${person.name}`;
  const line: PlannedLine = {
    id: random.uuid(),
    typeName: 'CREDIT_PIX',
    changeCents: amountCents,
    internal: 'spi',
    at,
    notes: description,
    correlationId,
    endToEndId,
    idempotencyKey: null,
    charge: null,
    transfer: null,
    proof: {
      endToEndId,
      status: 'PIX_EFFECTIVE',
      type,
      amount: plainReais(amountCents),
      description,
      payer,
      beneficiary: partyOfAccount(account),
    },
  };
  return { line, refundable: { endToEndId, type, payer, refundableCents: amountCents } };
}

/** A sent Pix, with its transfer in the final state. */
export function sentPix({ account, random, amountCents, at }: LineInputs): PlannedLine {
  const payer = partyOfAccount(account);
  const beneficiary = outsideParty(randomPerson(random));
  const endToEndId = endToEndIdOf('E', bank.ispb, at, random);
  const type = random.below(3) === 0 ? 'PIX_MANUAL' : 'PIX_KEY';
  const description = `Pix enviado para ${beneficiary.holder.name}`;
  const transferId = random.uuid();
  return {
    id: random.uuid(),
    typeName: 'DEBIT_PIX',
    changeCents: -amountCents,
    internal: 'spi',
    at,
    notes: description,
    endToEndId,
    idempotencyKey: random.uuid(),
    charge: null,
    transfer: {
      id: transferId,
      type,
      amountCents,
      description,
      endToEndId,
      payer,
      beneficiary,
    },
    proof: {
      id: transferId,
      endToEndId,
      status: 'PIX_EFFECTIVE',
      type,
      amount: plainReais(amountCents),
      createdAt: at.toISOString(),
      description,
      payer,
      beneficiary,
    },
  };
}

/** A refund of `amountCents` of a received Pix. */
export function pixRefund(
  { account, random, amountCents, at }: LineInputs,
  original: RefundablePix,
): PlannedLine {
  const payer = partyOfAccount(account);
  const beneficiary = original.payer;
  const endToEndId = endToEndIdOf('D', bank.ispb, at, random);
  const description = `Devolução de Pix para ${beneficiary.holder.name}`;
  return {
    id: random.uuid(),
    typeName: 'DEBIT_PIX_REFUND',
    changeCents: -amountCents,
    internal: 'spi',
    at,
    notes: description,
    endToEndId,
    idempotencyKey: null,
    originalEndToEndId: original.endToEndId,
    charge: null,
    transfer: null,
    proof: {
      id: random.uuid(),
      endToEndId,
      status: 'PIX_EFFECTIVE',
      type: original.type,
      amount: plainReais(amountCents),
      createdAt: at.toISOString(),
      description,
      payer,
      beneficiary,
    },
  };
}

function endToEndIdOf(kind: 'E' | 'D', ispb: string, at: Date, random: SeededRandom): string {
  return buildEndToEndId({ kind, ispb, at, sequence: random.alphanumeric(11) });
}
