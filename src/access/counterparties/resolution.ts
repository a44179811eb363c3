// Resolves who paid a line, or was paid by it, from what several sources say. The fields of one
// party never come from two sources of which one may mean another person.
import { isMasked, unknownParty, type PaymentParty } from './party.js';

/** From the strongest to the weakest. */
export const counterpartySources = [
  'line',
  'webhook',
  'look_up',
  'charge',
  'transfer',
  'declared',
] as const;
export type CounterpartySource = (typeof counterpartySources)[number];

export interface Counterparty extends PaymentParty {
  /** What the payer wrote. */
  message: string | null;
  /** What the name, or else the tax id or the account, comes from. Null if nothing is known. */
  source: CounterpartySource | null;
}

export type SourcedParty = Counterparty & { source: CounterpartySource };

export const unknownCounterparty: Counterparty = { ...unknownParty, message: null, source: null };

/**
 * The first source that has a name or a tax id, completed from others that mean the same person.
 * Without such a source, the first one that has an account. A source with another tax id or account
 * than an earlier one is left out.
 */
export function resolveCounterparty(sources: readonly SourcedParty[]): Counterparty {
  const consistent: SourcedParty[] = [];
  for (const source of sources)
    if (!consistent.some((earlier) => contradict(earlier, source))) consistent.push(source);
  const base =
    consistent.find(({ name, taxId }) => name !== null || taxId !== null) ?? consistent[0];
  if (!base) return unknownCounterparty;
  return consistent
    .filter((other) => other !== base)
    .reduce(
      (known, other) => (meanSamePerson(known, other) ? completed(known, other) : known),
      base,
    );
}

function completed<Known extends Counterparty>(known: Known, other: SourcedParty): Known {
  const hasFullTaxId = known.taxId !== null && !isMasked(known.taxId);
  const hasAccount = known.account !== null || known.branch !== null || known.ispb !== null;
  const { ispb, branch, account } = hasAccount ? known : other;
  return {
    ...known,
    name: known.name ?? other.name,
    taxId: hasFullTaxId ? known.taxId : (fullOf(other.taxId) ?? known.taxId ?? other.taxId),
    ...{ ispb, branch, account },
    message: known.message ?? other.message,
  };
}

function fullOf(taxId: string | null): string | null {
  return taxId !== null && !isMasked(taxId) ? taxId : null;
}

type Comparison = 'same' | 'different' | 'unknown';

function contradict(one: PaymentParty, other: PaymentParty): boolean {
  return [compareTaxIds(one, other), compareAccounts(one, other)].includes('different');
}

function meanSamePerson(one: PaymentParty, other: PaymentParty): boolean {
  return [
    compareTaxIds(one, other),
    compareAccounts(one, other),
    compareNames(one, other),
  ].includes('same');
}

const sharedCharacters = 3;

/** A tax id with hidden characters is compared by those that both sources show. */
function compareTaxIds({ taxId: one }: PaymentParty, { taxId: other }: PaymentParty): Comparison {
  if (one === null || other === null) return 'unknown';
  const [a, b] = [one, other].map((taxId) => taxId.replace(/[.\-/]/g, '')) as [string, string];
  if (a.length !== b.length) return 'different';
  const shown = [...a]
    .map((character, at) => [character, b[at]])
    .filter((pair) => !pair.includes('*'));
  if (shown.some(([x, y]) => x !== y)) return 'different';
  return shown.length >= sharedCharacters ? 'same' : 'unknown';
}

function compareAccounts(one: PaymentParty, other: PaymentParty): Comparison {
  if (one.account === null || other.account === null) return 'unknown';
  if (comparable(one.account) !== comparable(other.account)) return 'different';
  // Two banks may have an account of one number.
  if (one.ispb === null || other.ispb === null) return 'unknown';
  return comparable(one.ispb) === comparable(other.ispb) ? 'same' : 'different';
}

function comparable(number: string): string {
  return number
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replace(/^0+/, '');
}

/** Two spellings of a name say nothing: banks cut and abbreviate names. */
function compareNames({ name: one }: PaymentParty, { name: other }: PaymentParty): Comparison {
  if (one === null || other === null) return 'unknown';
  return plainName(one) === plainName(other) ? 'same' : 'unknown';
}

function plainName(name: string): string {
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase();
  return letters.replace(/\s+/g, ' ').trim();
}
