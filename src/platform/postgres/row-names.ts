// The one mapping of the database's names to those of TypeScript: SQL reads `amount_cents`, and its
// rows have `amountCents`.

/** Rows with camel-case names. Names without an underscore stay. */
export function camelCaseRows<Row extends object>(rows: readonly object[]): Row[] {
  const [first] = rows;
  if (!first) return [];
  const names = Object.keys(first).map((name) => [name, camelCase(name)] as const);
  if (names.every(([name, camel]) => name === camel)) return rows as Row[];
  return rows.map((row) => {
    const named: Record<string, unknown> = {};
    for (const [name, camel] of names) named[camel] = (row as Record<string, unknown>)[name];
    return named as Row;
  });
}

const known = new Map<string, string>();

/** `amountCents` for `amount_cents`. */
export function camelCase(name: string): string {
  let camel = known.get(name);
  if (camel === undefined) {
    camel = name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    known.set(name, camel);
  }
  return camel;
}
