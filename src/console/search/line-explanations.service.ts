// Reads why lines are explained as they are: three statements for all lines of a page.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { groupBy } from '../../platform/grouping.js';
import { namedMatches, type ExplainedLine } from './explanation.js';
import {
  listClassificationsOfLines,
  listMatchesOfLines,
  listNoticesOfLines,
} from './explanations.queries.js';

type DecidedLine = Pick<ExplainedLine, 'state' | 'breakKind'> & { nsu: bigint };

@Injectable()
export class LineExplanations {
  constructor(private readonly database: Database) {}

  async read(
    accountId: number,
    lines: readonly DecidedLine[],
  ): Promise<(line: DecidedLine) => ExplainedLine> {
    const nsus = lines.map(({ nsu }) => nsu);
    const { prisma } = this.database;
    const [matches, classifications, notices] = await Promise.all([
      listMatchesOfLines(prisma, accountId, nsus, namedMatches + 1),
      listClassificationsOfLines(prisma, accountId, nsus),
      listNoticesOfLines(prisma, accountId, nsus),
    ]);
    const matchesOf = groupBy(matches, ({ nsu }) => nsu);
    const classificationOf = new Map(classifications.map((one) => [one.nsu, one]));
    const noticeOf = new Map(notices.map((one) => [one.nsu, one]));
    return ({ nsu, state, breakKind }) => ({
      ...{ state, breakKind },
      matches: matchesOf.get(nsu) ?? [],
      classification: classificationOf.get(nsu) ?? null,
      notice: noticeOf.get(nsu) ?? null,
    });
  }
}
