/** More lines than any account will have, and than PostgreSQL counts. */
const beyond = 2n ** 62n;

/** How many rows stand before a page, whatever page was asked for. */
export function pageOffset(page: number, limit: number): bigint {
  const offset = BigInt(page - 1) * BigInt(limit);
  return offset < beyond ? offset : beyond;
}
