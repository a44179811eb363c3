// The breaks of a month with what happened to them, and who decided.
import { Injectable } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { NamesOfActors } from '../../access/people/names-of-actors.service.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { invariant } from '../../platform/errors.js';
import { Database } from '../../platform/postgres/database.service.js';
import { FileStreams, type FileCaller } from '../exports/file-streams.service.js';
import type { ReadMonth } from '../exports/month-reports.service.js';
import { listOtherStories, listStoriesOfLines, type StoryRow } from './break-stories.queries.js';
import type { BreakWithHistory } from './bundle-tables.js';

const limit = 500;
const firstId = '00000000-0000-0000-0000-000000000000';
const words = {
  service: 'Concilia',
  policy: 'Política automática',
  person: 'Uma pessoa',
  settingsKey: 'Chave de API da configuração',
  key: (name: string) => `Chave de API ${name}`,
};

@Injectable()
export class BreakStories {
  constructor(
    private readonly database: Database,
    private readonly streams: FileStreams,
    private readonly names: NamesOfActors,
  ) {}

  async *read(caller: FileCaller, month: ReadMonth): AsyncGenerator<BreakWithHistory[]> {
    for await (const rows of this.pages(caller.accountId, month)) yield this.named(caller, rows);
  }

  private async *pages(
    accountId: number,
    { window, extent, firstDay, lastDay }: ReadMonth,
  ): AsyncGenerator<StoryRow[]> {
    const { prisma } = this.database;
    const { firstNsu, lastNsu } = extent;
    let last: StoryRow | undefined;
    if (firstNsu !== null && lastNsu !== null)
      for (;;) {
        const after = { afterNsu: last?.nsu ?? firstNsu, afterId: last?.id ?? firstId };
        const page = { ...window, ...after, lastNsu, limit };
        const rows = await this.streams.read(() => listStoriesOfLines(prisma, accountId, page));
        last = rows.at(-1);
        if (!last) break;
        yield rows;
      }
    for (;;) {
      const page = { firstDay, lastDay, afterId: last?.id ?? firstId, limit };
      const rows = await this.streams.read(() => listOtherStories(prisma, accountId, page));
      last = rows.at(-1);
      if (!last) return;
      yield rows;
    }
  }

  private async named(
    { accountId, scopes }: FileCaller,
    rows: readonly StoryRow[],
  ): Promise<BreakWithHistory[]> {
    const decided = rows.filter(({ state }) => state === 'resolved');
    const nameOf = await this.names.find(
      accountId,
      decided.map(({ resolvedBy }) => resolvedBy),
      { isVisible: seesPersonalData(scopes), words },
    );
    return rows.map(({ occurredAt, day, ...row }) => {
      const own = occurredAt ? statementDayOf(occurredAt) : day;
      invariant(own !== null, 'a break has a day');
      const resolvedBy = row.state === 'resolved' ? nameOf(row.resolvedBy) : null;
      return { ...row, day: own, resolvedBy };
    });
  }
}
