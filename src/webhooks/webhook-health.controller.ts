import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import type { RouteInput } from '../contract/route.js';
import { Handles, Input } from '../platform/contract-route.js';
import { isNsu, readPage, toList } from '../platform/listing.js';
import type { LineTypeHealth, UnnotifiedLineRow } from './health.queries.js';
import { getWebhookHealth, listUnnotifiedTransactions } from './health.schema.js';
import { WebhookHealth } from './webhook-health.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class WebhookHealthController {
  constructor(private readonly health: WebhookHealth) {}

  @Handles(getWebhookHealth)
  async measure(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof getWebhookHealth>,
  ) {
    const measured = await this.health.measure(accountId, query);
    const { from, until: to, types, events, syncIntervalMs } = measured;
    return {
      ...{ from, to },
      ...describeFigures(types.find(({ type }) => type === null) ?? emptyFigures),
      transactions: types.flatMap((row) =>
        row.type === null ? [] : [{ type: row.type, ...describeFigures(row) }],
      ),
      events: events.map(({ eventType, received, copies, quarantined }) => ({
        eventType,
        received: Number(received),
        copies: Number(copies),
        quarantined: Number(quarantined),
      })),
      syncIntervalMs,
    };
  }

  @Handles(listUnnotifiedTransactions)
  async listUnnotified(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listUnnotifiedTransactions>,
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
  ...{ expected: 0n, notified: 0n, lost: 0n, waiting: 0n },
  ...{ p50: null, p99: null, max: null },
};

function describeFigures({ expected, notified, lost, waiting, p50, p99, max }: Figures) {
  const rounded = (value: number | null) => (value === null ? null : Math.round(value));
  return {
    expected: Number(expected),
    notified: Number(notified),
    lost: Number(lost),
    waiting: Number(waiting),
    lossRate: expected === 0n ? null : Math.round((Number(lost) / Number(expected)) * 1e4) / 1e4,
    lag: { p50: rounded(p50), p99: rounded(p99), max: rounded(max) },
  };
}

function describeLine({ typeName, isCredit, amountCents, ...line }: UnnotifiedLineRow) {
  return { ...line, amount: amountCents, type: { name: typeName, isCredit } };
}
