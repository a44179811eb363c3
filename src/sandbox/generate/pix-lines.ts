import { buildEndToEndId } from '../../brazil/end-to-end-id.js';
import { bank, type Party, partyOfAccount, partyOutside } from '../accounts/party.js';
import type { PixType } from '../pix/pix-credits.service.js';
import { companies, people, type Person } from './people.js';
import { plainReais, type LineMaking, type PlannedLine } from './planned-line.js';
import type { SeededRandom } from './seeded-random.js';

/** A Pix that came in, of which part may have been given back since. */
export interface RefundablePix {
  endToEndId: string;
  type: PixType;
  payer: Party;
  leftCents: bigint;
}

export interface ReceivedPix {
  line: PlannedLine;
  refundable: RefundablePix;
}

/** A person three times in four, else a company. */
export function anybody(random: SeededRandom): Person {
  return random.pick(random.below(4) === 0 ? companies : people);
}

export function receivedPix(
  { account, random, amountCents, at }: LineMaking,
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
  const payer = partyOutside(person);
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
  return { line, refundable: { endToEndId, type, payer, leftCents: amountCents } };
}

/** A Pix that was sent; with its row, in its last state. */
export function sentPix({ account, random, amountCents, at }: LineMaking): PlannedLine {
  const payer = partyOfAccount(account);
  const beneficiary = partyOutside(anybody(random));
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

/** Gives back `amountCents` of a Pix that came in. */
export function pixRefund(
  { account, random, amountCents, at }: LineMaking,
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
  return buildEndToEndId({ kind, ispb, at, sequence: random.letters(11) });
}
