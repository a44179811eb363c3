// Which of the things that a break could be about it most likely is, and why. A suggestion to a person: nothing is matched
// by it.
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';

/** What was found to be alike between the break's side and another. */
export interface Likeness {
  /** The line's nsu, or the expected payment's id: the last word between equals. */
  key: string;
  /** What the other asks for or brings; null where its payer chooses. */
  amountCents: bigint | null;
  /** What the break's side asks for or brings; null where its payer chooses. */
  wantedCents: bigint | null;
  isSameDocument: boolean;
  isSameReference: boolean;
  /** Due dates or days of the two. */
  days: readonly [PlainDate, PlainDate];
}

export const candidateReasons = [
  'shared_reference',
  'same_document',
  'same_amount',
  'near_amount',
  'any_amount',
  'same_day',
  'near_date',
] as const;
export type CandidateReason = (typeof candidateReasons)[number];

const points: Record<CandidateReason, number> = {
  shared_reference: 45,
  same_document: 30,
  same_amount: 25,
  near_amount: 10,
  any_amount: 5,
  same_day: 10,
  near_date: 5,
};
/** What fine and interest of a late slip commonly come to. */
const nearPercent = 10n;
const nearDays = 10;
const most = 10;

/** Of so many of a hundred points, at most the ten best. Days alone make nobody a candidate. */
export function rankCandidates<Found extends Likeness>(
  found: readonly Found[],
): { found: Found; score: number; reasons: CandidateReason[] }[] {
  return found
    .map((one) => {
      const reasons = reasonsOf(one);
      const score = reasons.reduce((sum, reason) => sum + points[reason], 0);
      return { found: one, score: Math.min(score, 100), reasons };
    })
    .filter(({ reasons }) => reasons.some((reason) => !isOfDays(reason) && reason !== 'any_amount'))
    .sort((one, other) => other.score - one.score || byKey(one.found, other.found))
    .slice(0, most);
}

function reasonsOf({
  amountCents,
  wantedCents,
  isSameDocument,
  isSameReference,
  days,
}: Likeness): CandidateReason[] {
  const reasons: CandidateReason[] = [];
  if (isSameReference) reasons.push('shared_reference');
  if (isSameDocument) reasons.push('same_document');
  if (amountCents === null || wantedCents === null) reasons.push('any_amount');
  else if (amountCents === wantedCents) reasons.push('same_amount');
  else if (isNear(amountCents, wantedCents)) reasons.push('near_amount');
  const apart = Math.abs(daysBetween(...days));
  if (apart === 0) reasons.push('same_day');
  else if (apart <= nearDays) reasons.push('near_date');
  return reasons;
}

function isNear(one: bigint, other: bigint): boolean {
  const apart = one < other ? other - one : one - other;
  return apart * 100n <= (one < other ? other : one) * nearPercent;
}

function isOfDays(reason: CandidateReason): boolean {
  return reason === 'same_day' || reason === 'near_date';
}

function byKey({ key: one }: Likeness, { key: other }: Likeness): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const tokenText = /[\p{L}\p{N}][\p{L}\p{N}._-]{4,98}[\p{L}\p{N}]/gu;
const mostTokens = 50;

/** What in a text may be an id: words of six characters or more that hold a digit. */
export function idsIn(texts: readonly (string | null)[]): string[] {
  const words = texts.flatMap((text) => text?.match(tokenText) ?? []);
  return [...new Set(words.filter((word) => /\d/.test(word)))].slice(0, mostTokens);
}
