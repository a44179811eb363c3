// Ranks the candidates for a break, with reasons. The ranking is a suggestion to a person and
// matches nothing.
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';

/** What a candidate has in common with the line or expected payment of the break. */
export interface Similarity {
  /** The line's nsu, or the expected payment's id. Orders candidates with equal points. */
  key: string;
  /** The candidate's amount; null if the payer chooses it. */
  amountCents: bigint | null;
  /** The amount of the break's line or expected payment; null if the payer chooses it. */
  wantedCents: bigint | null;
  isSameDocument: boolean;
  isSameReference: boolean;
  /** The due dates or days of both. */
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
/** The usual order of fine and interest on a late slip. */
const nearPercent = 10n;
const nearDays = 10;
const maxCandidates = 10;

/** Those that share an id or a document have so many places, however far their amounts are. */
const placesOfKnown = 5;

/**
 * The ten nearest, with 0 to 100 points each: those that share an id, then by amount, by date, and
 * those with the same document before others. Close days alone do not make a candidate.
 */
export function rankCandidates<Found extends Similarity>(
  found: readonly Found[],
): { found: Found; score: number; reasons: CandidateReason[] }[] {
  const ranked = found
    .map((one) => {
      const reasons = reasonsOf(one);
      const score = reasons.reduce((sum, reason) => sum + points[reason], 0);
      return { found: one, score: Math.min(score, 100), reasons };
    })
    .filter(({ reasons }) =>
      reasons.some((reason) => !isDateReason(reason) && reason !== 'any_amount'),
    )
    .sort((one, other) => byNearness(one.found, other.found));
  const known = ranked.filter(({ found: one }) => one.isSameReference || one.isSameDocument);
  const first = new Set([...known.slice(0, placesOfKnown), ...ranked]);
  const kept = [...first].slice(0, maxCandidates);
  return ranked.filter((one) => kept.includes(one));
}

function byNearness(one: Similarity, other: Similarity): number {
  return (
    Number(other.isSameReference) - Number(one.isSameReference) ||
    Number(amountApart(one) - amountApart(other)) ||
    daysApart(one) - daysApart(other) ||
    Number(other.isSameDocument) - Number(one.isSameDocument) ||
    byKey(one, other)
  );
}

const daysApart = ({ days }: Similarity) => Math.abs(daysBetween(...days));

/** Where the payer chooses the amount, any other is nearer. */
function amountApart({ amountCents, wantedCents }: Similarity): bigint {
  if (amountCents === null || wantedCents === null) return 2n ** 62n;
  return amountCents < wantedCents ? wantedCents - amountCents : amountCents - wantedCents;
}

function reasonsOf(one: Similarity): CandidateReason[] {
  const { amountCents, wantedCents, isSameDocument, isSameReference } = one;
  const reasons: CandidateReason[] = [];
  if (isSameReference) reasons.push('shared_reference');
  if (isSameDocument) reasons.push('same_document');
  if (amountCents === null || wantedCents === null) reasons.push('any_amount');
  else if (amountCents === wantedCents) reasons.push('same_amount');
  else if (isNear(amountCents, wantedCents)) reasons.push('near_amount');
  const apart = daysApart(one);
  if (apart === 0) reasons.push('same_day');
  else if (apart <= nearDays) reasons.push('near_date');
  return reasons;
}

function isNear(one: bigint, other: bigint): boolean {
  const apart = one < other ? other - one : one - other;
  return apart * 100n <= (one < other ? other : one) * nearPercent;
}

function isDateReason(reason: CandidateReason): boolean {
  return reason === 'same_day' || reason === 'near_date';
}

function byKey({ key: one }: Similarity, { key: other }: Similarity): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const tokenText = /[\p{L}\p{N}][\p{L}\p{N}._-]{4,98}[\p{L}\p{N}]/gu;
const maxTokens = 50;

/** Possible ids in texts: words of six or more characters with a digit. */
export function idsIn(texts: readonly (string | null)[]): string[] {
  const words = texts.flatMap((text) => text?.match(tokenText) ?? []);
  return [...new Set(words.filter((word) => /\d/.test(word)))].slice(0, maxTokens);
}
