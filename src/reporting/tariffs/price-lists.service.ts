// The price lists of accounts: what was agreed with the bank. A version is stored once; another one
// with the same first day takes its place.
import { Injectable } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { lockReconciliation } from '../../reconciliation/apply/decision-writer.queries.js';
import { findFirstLineFrom, listPriceLists } from '../../reconciliation/load/fees.queries.js';
import { recordFeeTask } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { getPriceList, PriceListBody } from './tariffs.schema.js';

@Injectable()
export class PriceLists {
  constructor(private readonly database: Database) {}

  async get(accountId: number): Promise<RouteOutput<typeof getPriceList>> {
    const lists = await listPriceLists(this.database.prisma, accountId);
    return {
      versions: lists.map(({ createdAt: at, tariffs, ...list }) => ({
        ...list,
        at,
        tariffs: tariffs.map(({ priceCents: price, tiers, ...tariff }) => ({
          ...tariff,
          price,
          tiers: tiers.map((tier) => ({ from: tier.from, price: tier.priceCents })),
        })),
      })),
    };
  }

  async change(accountId: number, { validFrom, tariffs, reason }: PriceListBody, actor: string) {
    await this.database.transaction(async (tx) => {
      // Versions follow one another, and no fee is checked while one is stored.
      await lockReconciliation(tx, accountId);
      const last = await tx.priceList.aggregate({ where: { accountId }, _max: { version: true } });
      const version = (last._max.version ?? 0) + 1;
      await tx.priceList.create({ data: { accountId, version, validFrom, actor, reason } });
      await tx.tariff.createMany({
        data: tariffs.map(({ price: priceCents, tiers, text = null, ...tariff }) => ({
          ...{ accountId, version, priceCents, text, ...tariff },
          tierFrom: tiers.map(({ from }) => from),
          tierCents: tiers.map(({ price }) => price),
        })),
      });
      const first = await findFirstLineFrom(tx, accountId, validFrom);
      if (first !== null) await recordFeeTask(tx, accountId, first);
    });
    return this.get(accountId);
  }
}
