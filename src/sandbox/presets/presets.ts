// What the bank shows beyond the contract, by preset. One declaration: the encoders of lines and of
// answers, and the guard of routes, read it. Nothing else depends on a preset.

import { isLineType, lineTypes, type LineType } from '../../bank-contract/line-types.js';

/** A preset is a named set of modes. It also decides which fields, types and routes are shown. */
export const presets = ['contract', 'published', 'complete'] as const;
export type Preset = (typeof presets)[number];

/** How a preset shows lines of one type; `complete` shows the bank's own name and every field. */
interface LineForm {
  typeName: string;
  /** The fields of the proof. Modes decide about `externalId` and `originalEndToEndId`. */
  proof: readonly string[];
  hasCorrelationId: boolean;
}

const proofs = {
  none: [],
  pix: ['endToEndId', 'status', 'type', 'amount', 'description', 'payer', 'beneficiary'],
  refund: [
    ...['id', 'endToEndId', 'status', 'type', 'amount', 'createdAt'],
    ...['description', 'payer', 'beneficiary'],
  ],
  /** Publicly known of the real service (real-bank.md A.8). */
  ted: ['id', 'status', 'type', 'amount', 'description', 'payer', 'beneficiary'],
} as const;

function form(
  typeName: string,
  proof: keyof typeof proofs = 'none',
  hasCorrelationId = false,
): LineForm {
  return { typeName, proof: proofs[proof], hasCorrelationId };
}

const inBoth = (shown: LineForm) => ({ contract: shown, published: shown });
/**
 * The types of slips, bills and fees are unknown: `contract` has no other names than the contract,
 * and `published` shows names that say the direction alone.
 */
const unnamedCredit = {
  contract: form('CREDIT_TRANSFER_EXTERNAL'),
  published: form('CREDIT_OTHER'),
};
const unnamedDebit = { contract: form('DEBIT_TRANSFER_EXTERNAL'), published: form('DEBIT_OTHER') };

/** How the other presets show lines of the bank's own types. */
const lineForms = {
  DEBIT_TRANSFER_INTERNAL: inBoth(form('DEBIT_TRANSFER_INTERNAL')),
  CREDIT_TRANSFER_INTERNAL: inBoth(form('CREDIT_TRANSFER_INTERNAL')),
  DEBIT_TRANSFER_EXTERNAL: {
    contract: form('DEBIT_TRANSFER_EXTERNAL'),
    published: form('DEBIT_TRANSFER_EXTERNAL', 'ted'),
  },
  CREDIT_TRANSFER_EXTERNAL: {
    contract: form('CREDIT_TRANSFER_EXTERNAL'),
    published: form('CREDIT_TRANSFER_EXTERNAL', 'ted'),
  },
  DEBIT_PIX: inBoth(form('DEBIT_PIX', 'pix')),
  CREDIT_PIX: inBoth(form('CREDIT_PIX', 'pix', true)),
  DEBIT_PIX_REFUND: inBoth(form('DEBIT_PIX_REFUND', 'refund')),
  CREDIT_PIX_REVERSAL: inBoth(form('CREDIT_PIX_REVERSAL', 'pix')),
  CREDIT_PIX_REFUND: inBoth(form('CREDIT_PIX', 'pix')),
  CREDIT_PIX_REFUND_REVERSAL: inBoth(form('CREDIT_PIX_REFUND_REVERSAL', 'pix')),
  CREDIT_BANKSLIP: unnamedCredit,
  DEBIT_BANKSLIP_REVERSAL: unnamedDebit,
  DEBIT_BILL_PAYMENT: unnamedDebit,
  CREDIT_BILL_PAYMENT_REVERSAL: unnamedCredit,
  DEBIT_FEE: unnamedDebit,
} satisfies Record<LineType, Record<'contract' | 'published', LineForm>>;

/** Credits that undo a failed Pix or refund. The mode `reversalType` names them. */
const reversalTypes: readonly string[] = [
  'CREDIT_PIX_REVERSAL',
  'CREDIT_PIX_REFUND_REVERSAL',
] satisfies LineType[];

/** Null where the line is shown whole: in `complete`, or of a type that a test chose. */
export function lineForm(typeName: string, preset: Preset): LineForm | null {
  return preset === 'complete' || !isLineType(typeName) ? null : lineForms[typeName][preset];
}

export interface TypeNaming {
  preset: Preset;
  reversalType: 'own' | 'CREDIT_PIX';
}

/** The type that the statement shows for a line of the bank's type. */
export function shownTypeName(typeName: string, { preset, reversalType }: TypeNaming): string {
  if (reversalTypes.includes(typeName)) return reversalType === 'own' ? typeName : reversalType;
  return lineForm(typeName, preset)?.typeName ?? typeName;
}

/** Whether the bank's lines may show the type. A name that a test chose is not listed. */
export function isShownTypeName(name: string, naming: TypeNaming): boolean {
  return Object.keys(lineForms).some((typeName) => shownTypeName(typeName, naming) === name);
}

const otherDescriptions: Record<string, string> = {
  CREDIT_OTHER: 'Outros créditos',
  DEBIT_OTHER: 'Outros débitos',
};

/** The description on a line. A name that a test chose is its own description. */
export function describeTransactionType(name: string): string {
  if (isLineType(name)) return lineTypes[name].name[0];
  return otherDescriptions[name] ?? name;
}

/** Parts of answers beyond the contract, with the presets that show them. */
const answerParts = {
  'batch.externalId': ['complete'],
  'batch.error': ['complete'],
  'billPayment.nsuAndTime': ['complete'],
  'charge.finalBeneficiary': ['complete'],
  'balances.blockedAndTotal': ['complete'],
  'transfer.byExternalId': ['complete'],
} as const satisfies Record<string, readonly Preset[]>;

export function isPartShown(part: keyof typeof answerParts, preset: Preset): boolean {
  return (answerParts[part] as readonly Preset[]).includes(preset);
}

/** Routes that read one charge or transfer, by the mode that serves them. */
const statusRoutes: Readonly<Record<string, 'chargeById' | 'transferById'>> = {
  getChargeAtBank: 'chargeById',
  getTransferAtBank: 'transferById',
  getTedAtBank: 'transferById',
};

type ServingModes = { preset: Preset } & Record<'chargeById' | 'transferById', 'served' | 'absent'>;

/** Routes that the contract lacks, and that are publicly known of the real service. */
export function isRouteServed(
  { name, isBeyondContract }: { name: string; isBeyondContract: boolean },
  modes: ServingModes,
): boolean {
  const mode = statusRoutes[name];
  if (mode) return modes[mode] === 'served';
  return modes.preset !== 'contract' || !isBeyondContract;
}
