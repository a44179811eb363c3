// Stores a statement line as a sync would, with whatever the bank might send.
import { parseJson } from '../../src/platform/json/exact-json.js';
import { parseStatementLine } from '../../src/statement/lines/statement-line.js';
import { insertStatementLines } from '../../src/statement/lines/statement.queries.js';
import type { ServiceApplication } from './service-application.js';

export function storeRawLine(
  { database }: Pick<ServiceApplication, 'database'>,
  accountId: number,
  nsu: number,
  fields: object,
  isCredit = true,
): Promise<void> {
  const raw = {
    ...{ id: `line-${nsu}`, nsu, amount: 1, createdAt: '2026-03-10T15:00:00Z' },
    type: { name: isCredit ? 'CREDIT_PIX' : 'DEBIT_PIX', isCredit },
    balance: { balancePrevious: 0, currentBalance: 0 },
    ...fields,
  };
  const parsed = parseStatementLine(parseJson(JSON.stringify(raw)));
  if (!parsed.ok) throw new Error(parsed.reason);
  return database.transaction(async (tx) => {
    await insertStatementLines(tx, accountId, [parsed.line]);
  });
}
