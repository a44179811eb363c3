// The filters of the list of breaks, as they stand in the address of the list, of each break that
// was opened from it, and of bulk actions.
import type { RouteInput } from '../../bank-contract/route.js';
import { listBreaks } from '../../reconciliation/breaks/breaks.schema.js';
import { readFilters } from '../list-query.js';
import { typedNumber } from '../typed-amount.js';

type BreakQuery = RouteInput<typeof listBreaks>['query'];

export interface BreakList {
  filters: Omit<BreakQuery, 'limit' | 'cursor'>;
  /** The names of filters whose value is not valid. */
  wrong: string[];
  /** The filters as an address has them. */
  address: URLSearchParams;
  /** With the page, and with the break that is chosen in it. */
  place: URLSearchParams;
}

const names = [
  'state',
  'kind',
  'severity',
  'assignee',
  'minAmount',
  'maxAmount',
  'openedFrom',
  'openedTo',
  'sort',
  'order',
  'nsu',
  'expectedPaymentId',
] as const;
const amounts: readonly string[] = ['minAmount', 'maxAmount'];

/**
 * Open breaks that are not put off, the most severe first, where the address says nothing of it;
 * `state=` stands for every state, and `snoozed=` for all.
 */
export function readBreakList(query: URLSearchParams): BreakList {
  const address = new URLSearchParams({ state: query.get('state') ?? 'open' });
  for (const name of names) {
    const value = query.get(name)?.trim() ?? '';
    if (name !== 'state' && value !== '')
      address.set(name, amounts.includes(name) ? String(typedNumber(value)) : value);
  }
  const isOfSubject = address.has('nsu') || address.has('expectedPaymentId');
  const isWork = address.get('state') === 'open' && !isOfSubject;
  const snoozed = query.get('snoozed')?.trim();
  if (snoozed !== undefined) address.set('snoozed', snoozed);
  const asked = new URLSearchParams(address);
  if (snoozed === undefined && isWork) asked.set('snoozed', 'false');
  if (isWork && !asked.has('sort')) asked.set('sort', 'severity');
  const { filters, wrong } = readFilters(listBreaks.query, asked);
  const { limit: _limit, cursor: _cursor, ...own } = filters;
  const place = new URLSearchParams(address);
  for (const name of ['cursor', 'break']) {
    const value = query.get(name) ?? '';
    if (value !== '') place.set(name, value);
  }
  return { filters: own, wrong, address, place };
}

/** The page of the list with this break chosen in it. */
export function addressOfChosen({ place }: BreakList, id: string): URLSearchParams {
  const chosen = new URLSearchParams(place);
  chosen.set('break', id);
  return chosen;
}
