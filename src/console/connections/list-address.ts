// The filters and the place of a list, as its address has them. What is no place begins the list.
import { isDeliveryPlace, listDeliveries } from '../../events/events.schema.js';
import type { RouteInput } from '../../bank-contract/route.js';
import type { Page } from '../../platform/http/listing.js';
import { readFilters, type ReadFilters } from '../list-query.js';

export function readCursor(
  query: URLSearchParams,
  isKey: (text: string) => boolean,
  limit: number,
): Page {
  const after = Buffer.from(query.get('cursor') ?? '', 'base64url').toString('utf8');
  return { limit, after: isKey(after) ? after : null };
}

type DeliveryQuery = RouteInput<typeof listDeliveries>['query'];

export function readDeliveryPage(
  query: URLSearchParams,
  limit: number,
): ReadFilters<DeliveryQuery> & { page: Page } {
  const filtersOnly = new URLSearchParams(query);
  for (const name of ['limit', 'cursor']) filtersOnly.delete(name);
  return {
    ...readFilters(listDeliveries.query, filtersOnly),
    page: readCursor(query, isDeliveryPlace, limit),
  };
}
