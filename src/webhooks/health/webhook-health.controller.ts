import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles } from '../../platform/http/contract-route.js';
import { isNsu, readPage, toList } from '../../platform/http/listing.js';
import type { LineTypeHealth, UnnotifiedLineRow } from './notification-counts.queries.js';
import { getWebhookHealth, listUnnotifiedTransactions } from './health.schema.js';
import { WebhookHealth } from './webhook-health.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class WebhookHealthController {
  constructor(private readonly health: WebhookHealth) {}

  @Handles(getWebhookHealth)
  async measure(@FromCaller() { accountId, query }: CallerInput<typeof getWebhookHealth>) {
    const measured = await this.health.measure(accountId, query);
    const { from, until: to, types, events, syncIntervalMs } = measured;
    return {
      ...{ from, to },
      ...describeFigures(types.find(({ type }) => type === null) ?? emptyFigures),
      transactions: types.flatMap((row) =>
        row.type === null ? [] : [{ type: row.type, ...describeFigures(row) }],
      ),
      events,
      syncIntervalMs,
    };
  }

  @Handles(listUnnotifiedTransactions)
  async listUnnotified(
    @FromCaller() { accountId, query }: CallerInput<typeof listUnnotifiedTransactions>,
  ) {
    const page = readPage(query, isNsu);
    const rows = await this.health.listUnnotifiedLines(accountId, query, {
      beforeNsu: page.after === null ? null : BigInt(page.after),
      limit: page.limit + 1,
    });
    return toList(rows, page, ({ nsu }) => nsu.toString(), describeLine);
  }
}

type Figures = Omit<LineTypeHealth, 'type'>;

const emptyFigures: Figures = {
  ...{ expected: 0, notified: 0, lost: 0, waiting: 0 },
  ...{ p50: null, p99: null, max: null },
};

function describeFigures({ p50, p99, max, ...counts }: Figures) {
  const { expected, lost } = counts;
  const lossRate = expected === 0 ? null : Math.round((lost / expected) * 1e4) / 1e4;
  return { ...counts, lossRate, lag: { p50, p99, max } };
}

function describeLine({ typeName, isCredit, amountCents, ...line }: UnnotifiedLineRow) {
  return { ...line, amount: amountCents, type: { name: typeName, isCredit } };
}
